"""WhyBench episodes through OpenEnv: `client` for those who play, `server` for those who serve."""

__version__ = "0.1.0"
