"""What `inspect` finds by the entry point `inspect_ai`."""

from whybench.interfaces.inspectai.bubblewrap import Bubblewrap
from whybench.interfaces.inspectai.judge import judgements, report_judge
from whybench.interfaces.inspectai.metrics import figures
from whybench.interfaces.inspectai.pairing import verify_gain
from whybench.interfaces.inspectai.provider import Scripted
from whybench.interfaces.inspectai.scorer import episode_score
from whybench.interfaces.inspectai.solver import play_episode
from whybench.interfaces.inspectai.tasks import (
    causalab,
    causalab_verify,
    causalgame,
    causallink,
    replayscm,
    replayscm_lab,
)

__all__ = [
    "Bubblewrap",
    "Scripted",
    "causalab",
    "causalab_verify",
    "causalgame",
    "causallink",
    "episode_score",
    "figures",
    "judgements",
    "play_episode",
    "replayscm",
    "replayscm_lab",
    "report_judge",
    "verify_gain",
]
