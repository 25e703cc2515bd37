"""Statistics of scores: intervals that know which episodes belong together.

Needs numpy and scipy and nothing else of WhyBench, so it also serves results made elsewhere.
"""
