"""What the family offers beyond the game, loaded when asked for."""
