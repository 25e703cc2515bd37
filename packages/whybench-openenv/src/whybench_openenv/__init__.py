"""WhyBench episodes through OpenEnv: `client` plays episodes, and `server` serves them."""

__version__ = "0.1.0"
