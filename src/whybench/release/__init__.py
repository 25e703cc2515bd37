"""Frozen benchmarks as data: a recipe, and the rows, hashes and bounds that were made from it."""
