"""Comparing systems, and planning a run."""
