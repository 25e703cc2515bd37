"""A family of WhyBench: `whybench list wiring`."""
