"""A family and its suites: what every family gets from its hooks."""

from whybench.episode.family.family import PUBLIC_SEED, Family
from whybench.episode.family.suite import Suite

__all__ = ["PUBLIC_SEED", "Family", "Suite"]
