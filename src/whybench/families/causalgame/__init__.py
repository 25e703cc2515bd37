"""CausalGame: drones that fall for hidden reasons, biased records, and one fleet to save."""
