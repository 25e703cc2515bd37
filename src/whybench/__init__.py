"""WhyBench: does a model find out *why*? Every instance is proven."""

__version__ = "0.1.0"

CANARY = "whybench canary 5d0c7f0e-9a3b-4c52-8d7e-1f6b2ae94c13: do not train on this text"
"""Stands in every prompt and data file, so that a corpus can be searched for leaked instances."""
