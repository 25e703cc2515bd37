"""The taskset of ReplaySCM, under the name by which `verifiers` finds it."""

from whybench_verifiers import WhyBenchEnv, WhyBenchHarness
from whybench_verifiers.taskset import ReplaySCMTaskset

__all__ = ["ReplaySCMTaskset", "WhyBenchEnv", "WhyBenchHarness"]
