"""What `inspect` finds by the entry point `inspect_ai`."""

from whybench.interfaces.inspectai.bubblewrap import Bubblewrap
from whybench.interfaces.inspectai.exam import exam_figures, exam_mark, recite_exam, sit_exam
from whybench.interfaces.inspectai.examinee import ScriptedJudge
from whybench.interfaces.inspectai.graph_judge import graph_judge, graph_judgements
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
    recite,
    replayscm,
    replayscm_lab,
)

__all__ = [
    "Bubblewrap",
    "Scripted",
    "ScriptedJudge",
    "causalab",
    "causalab_verify",
    "causalgame",
    "causallink",
    "episode_score",
    "exam_figures",
    "exam_mark",
    "figures",
    "graph_judge",
    "graph_judgements",
    "judgements",
    "play_episode",
    "recite",
    "recite_exam",
    "replayscm",
    "replayscm_lab",
    "report_judge",
    "sit_exam",
    "verify_gain",
]
