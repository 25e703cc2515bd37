"""Suites as gymnasium environments. Importing this module registers their ids."""

try:
    import gymnasium  # noqa: F401
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "gymnasium is not installed. Install the extra `gym`: pip install 'whybench[gym]'",
        name=error.name,
    ) from None

from whybench.interfaces.gym import sharing  # noqa: F401 - registers how texts are shared
from whybench.interfaces.gym.environment import EpisodeEnv
from whybench.interfaces.gym.registration import environment_id, register_suites

__all__ = ["IDS", "EpisodeEnv", "environment_id"]

IDS = register_suites()
"""The ids of all suites of the installed families."""
