"""The hidden system and its generator."""
