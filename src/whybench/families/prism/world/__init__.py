"""The hidden system, the questions and the generator."""
