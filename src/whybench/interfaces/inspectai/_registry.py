"""What `inspect` finds by the entry point `inspect_ai`."""

from whybench.interfaces.inspectai.metrics import figures
from whybench.interfaces.inspectai.pairing import verify_gain
from whybench.interfaces.inspectai.provider import Scripted
from whybench.interfaces.inspectai.scorer import episode_score
from whybench.interfaces.inspectai.solver import play_episode
from whybench.interfaces.inspectai.tasks import (
    causalab,
    causalab_verify,
    causallink,
    replayscm,
    replayscm_lab,
)

__all__ = [
    "Scripted",
    "causalab",
    "causalab_verify",
    "causallink",
    "episode_score",
    "figures",
    "play_episode",
    "replayscm",
    "replayscm_lab",
    "verify_gain",
]
