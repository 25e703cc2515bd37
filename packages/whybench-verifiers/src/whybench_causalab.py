"""The taskset of CausaLab, under the name by which `verifiers` finds it."""

from whybench_verifiers import WhyBenchEnv, WhyBenchHarness
from whybench_verifiers.taskset import CausaLabTaskset

__all__ = ["CausaLabTaskset", "WhyBenchEnv", "WhyBenchHarness"]
