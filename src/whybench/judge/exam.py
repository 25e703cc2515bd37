"""A judge's exam as an Inspect task: the evaluated model is the judge.

The samples name the exam: a family that examines its judges declares `exam`, a `LabelJudge`. A
report on a judge's scores needs what `exam_in` reads from the exam's log.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import get_model
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver

from whybench import __version__
from whybench.causal.canonical import canonical_json
from whybench.episode.family import Family, Suite
from whybench.episode.registry import families
from whybench.interfaces.inspectai.record import CLUSTER, INSTANCE
from whybench.judge.judged_report import Exam, examined
from whybench.judge.label_judge import LabelJudge, Paper, Sitting
from whybench.judge.labels import Entry
from whybench.judge.marking import Report, marked

PASS = "pass"  # noqa: S105 - not a password
"""Key of the pass in a sample's metadata."""

ENTRIES = "whybench:entries"
"""Key of the judge's labels in a sample's store, as one JSON text; null if unreadable."""

ONCE = (
    "a paper is sat once: the judge is asked at temperature 0, and repeats would pass for papers; "
    "run the exam with epochs=1, and with more papers for narrower intervals"
)

Said = tuple[Mapping[str, Any], Mapping[str, Entry] | None]
"""A sample's metadata, and the labels that the judge gave in it."""


def exam_task(
    about: LabelJudge[Any], suite: Suite, papers: int, schema: bool, reasons: bool
) -> Task:
    """Return the exam on the first instances of a suite: one sample for each pass of each paper."""
    if not 1 <= papers <= len(suite):
        raise ValueError(f"papers={papers} is out of range. {suite.path} allows 1 to {len(suite)}.")
    samples = []
    for instance in (suite[k] for k in range(papers)):
        metadata = {INSTANCE: canonical_json(instance.to_json()), CLUSTER: instance.cluster}
        case = paper_at(metadata[INSTANCE]).case
        samples += [
            Sample(
                id=f"{instance.id}-{name}",
                input=about.questions(case, name, True)[0][1].prompt,
                metadata={**metadata, PASS: name},
            )
            for name in about.labels.passes
        ]
    return Task(
        dataset=MemoryDataset(samples, name=about.task),
        solver=sit_exam(schema, reasons),
        scorer=exam_mark(),
        version=f"{suite.family.version}-{__version__}",
        metadata={"suite": suite.path, "seed": suite.seed},
    )


def exam_at(coordinates: str) -> LabelJudge[Any]:
    """Return the judge that the family of an instance (as JSON) declares."""
    about: LabelJudge[Any] | None = _family(coordinates).capability("exam")
    if about is None:
        raise ValueError(f"{_family(coordinates).name} has no exam for judges.")
    return about


@lru_cache(maxsize=256)
def paper_at(coordinates: str) -> Paper[Any]:
    """Return the paper of an instance (as JSON coordinates)."""
    return exam_at(coordinates).paper(_family(coordinates).rebuilt(json.loads(coordinates)))


def _family(coordinates: str) -> Family[Any]:
    return families()[json.loads(coordinates)["family"]]


@solver
def sit_exam(schema: bool = True, reasons: bool = True) -> Solver:
    """Ask the model as a judge is asked, and store its labels."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001
        if state.epoch > 1:
            raise ValueError(ONCE)
        paper = paper_at(state.metadata[INSTANCE])
        told = await exam_at(state.metadata[INSTANCE]).ask_pass(
            get_model(), paper.case, state.metadata[PASS], schema, reasons, paper
        )
        said = told.answer
        found = None if said is None else {str(number): entry for number, entry in said.items()}
        state.store.set(ENTRIES, canonical_json(found))
        return state

    return solve


@metric
def exam_figures() -> Metric:
    """Accuracy, kappa, bias and share of the favourite label, for each kind of label.

    `accuracy_presence`, `kappa_presence`, …; `constant_presence` is 1 if the judge always gives one
    label. `unreadable` is the share of passes without labels, which no other figure counts.
    """

    def compute(scores: list[SampleScore]) -> Value:
        said = [
            (score.sample_metadata or {}, (score.score.metadata or {}).get("entries"))
            for score in scores
            if INSTANCE in (score.sample_metadata or {})
        ]
        return _figures(_marked(said)) if said else {}

    return compute


@scorer(metrics=[exam_figures()])
def exam_mark() -> Scorer:
    """Mark one pass of one paper; the metric computes the figures of the whole exam."""

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001
        stored = state.store.get(ENTRIES)
        if stored is None:
            return Score.unscored(reason="scoring_failed", explanation="the exam was broken off")
        entries = json.loads(stored)
        found = _marked([(state.metadata, entries)]).overall
        return Score(
            value={"accuracy": found.accuracy, "unreadable": float(entries is None)},
            answer="unreadable" if entries is None else "read",
            metadata={"entries": entries},
        )

    return score


def sittings(said: Iterable[Said]) -> list[Sitting]:
    """Group the samples by paper; a pass that occurs twice is rejected."""
    held: dict[str, dict[str, Mapping[int, Entry] | None]] = {}
    for metadata, entries in said:
        own = held.setdefault(metadata[INSTANCE], {})
        if metadata[PASS] in own:
            raise ValueError(ONCE)
        numbered = None if entries is None else {int(n): entry for n, entry in entries.items()}
        own[metadata[PASS]] = numbered
    return [(paper_at(coordinates), given) for coordinates, given in held.items()]


def exam_in(log: EvalLog | str) -> Exam:
    """Read a judge's exam from a log, or from its file."""
    found = read_eval_log(log) if isinstance(log, str) else log
    said = [
        (sample.metadata, json.loads(sample.store[ENTRIES]))
        for sample in found.samples or ()
        if ENTRIES in sample.store
    ]
    if not said:
        raise ValueError("The log has no exam of a judge. Run the exam's task with `inspect eval`.")
    return examined(exam_at(said[0][0][INSTANCE]), found.eval.model, sittings(said))


def _marked(said: Sequence[Said]) -> Report:
    return marked(sittings(said), exam_at(said[0][0][INSTANCE]).labels)


def _figures(report: Report) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, marks in {"": report.overall, **report.families}.items():
        end = f"_{name}" if name else ""
        found |= {
            f"accuracy{end}": marks.accuracy,
            f"kappa{end}": marks.kappa,
            f"bias{end}": marks.bias,
            f"favourite{end}": marks.constant_share,
            f"constant{end}": float(marks.constant),
        }
    unread = 0.0 if math.isnan(report.unreadable) else report.unreadable
    return found | {"unreadable": unread, "papers": float(report.papers)}
