"""Drawn systems: parts whose roles, strengths and names are drawn for every instance."""
