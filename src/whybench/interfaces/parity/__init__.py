"""Test parity: the same calls give the same trace and score through every interface."""
