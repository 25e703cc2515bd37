"""What `inspect` finds by the entry point `inspect_ai`."""

from whybench.interfaces.inspectai.metrics import figures
from whybench.interfaces.inspectai.provider import Scripted
from whybench.interfaces.inspectai.scorer import episode_score
from whybench.interfaces.inspectai.solver import play_episode
from whybench.interfaces.inspectai.tasks import causallink, replayscm, replayscm_lab

__all__ = [
    "Scripted",
    "causallink",
    "episode_score",
    "figures",
    "play_episode",
    "replayscm",
    "replayscm_lab",
]
