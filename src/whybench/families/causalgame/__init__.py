"""CausalGame: biased records, small deployments, one design for a fleet, and a report."""

from whybench.families.causalgame.family import CausalGame

FAMILY = CausalGame()
