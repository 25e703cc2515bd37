"""The taskset of CausalLink, under the name by which `verifiers` finds it."""

from whybench_verifiers import WhyBenchEnv, WhyBenchHarness
from whybench_verifiers.taskset import CausalLinkTaskset

__all__ = ["CausalLinkTaskset", "WhyBenchEnv", "WhyBenchHarness"]
