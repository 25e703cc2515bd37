"""Scores that are computed again from the actions in logs, and how they differ."""
