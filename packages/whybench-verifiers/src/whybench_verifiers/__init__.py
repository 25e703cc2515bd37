"""WhyBench through the library `verifiers`: tasksets, a harness, and an environment of both.

`verifiers` finds a taskset by the name of a module and its `__all__`. This module has one taskset
for every suite. The modules `whybench_causallink` and so on have one taskset per family.
"""

from whybench_verifiers.env import WhyBenchEnv, load_environment
from whybench_verifiers.harness import WhyBenchHarness
from whybench_verifiers.taskset import WhyBenchTaskset

__all__ = ["WhyBenchEnv", "WhyBenchHarness", "WhyBenchTaskset", "load_environment"]

__version__ = "0.1.0"
