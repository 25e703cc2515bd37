"""Settings of all tests."""

from hypothesis import settings

# A shared machine may stop for half a second: time is measured by benchmarks, not by examples.
settings.register_profile("whybench", deadline=None, derandomize=True)
settings.load_profile("whybench")
