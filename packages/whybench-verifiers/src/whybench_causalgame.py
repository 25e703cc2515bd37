"""The taskset of CausalGame, under the name by which `verifiers` finds it."""

from whybench_verifiers import WhyBenchEnv, WhyBenchHarness
from whybench_verifiers.taskset import CausalGameTaskset

__all__ = ["CausalGameTaskset", "WhyBenchEnv", "WhyBenchHarness"]
