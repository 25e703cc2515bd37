"""Statistics of scores, with intervals that account for clusters of episodes.

The package needs numpy and scipy and nothing else of WhyBench, so you can use it for other results.
"""
