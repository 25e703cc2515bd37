"""Judging answers: four passes of labels by a model, what they are worth, and a hardened prompt."""
