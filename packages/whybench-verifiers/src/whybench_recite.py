"""The taskset of ReCITE, under the name by which `verifiers` finds it."""

from whybench_verifiers import WhyBenchEnv, WhyBenchHarness
from whybench_verifiers.taskset import ReciteTaskset

__all__ = ["ReciteTaskset", "WhyBenchEnv", "WhyBenchHarness"]
