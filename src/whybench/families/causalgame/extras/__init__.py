"""What CausalGame adds to the engines that play it."""
