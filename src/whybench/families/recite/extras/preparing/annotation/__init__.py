"""A paper's diagram: edge lists, their checks and their explicitness."""
