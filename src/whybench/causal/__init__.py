"""Causal mathematics: no I/O, no prompts, no engine."""
