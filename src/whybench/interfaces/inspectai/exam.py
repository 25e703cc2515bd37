"""The judge's exam as a task: the model that is evaluated is the judge.

`inspect eval whybench/recite_exam --model openai/gpt-x`; a small one for a small model:
`-T papers=1 -T nodes=5 -T length=700`. What `exam_in` reads from its log is what a report of that
judge's scores asks for.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import get_model
from inspect_ai.scorer import (
    Metric,
    SampleScore,
    Score,
    Scorer,
    Target,
    Value,
    metric,
    scorer,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver

from whybench import __version__
from whybench.core.canonical import canonical_json
from whybench.core.seeds import Stream
from whybench.episode.question import Question
from whybench.families.recite import FAMILY
from whybench.families.recite.judging.alterations import settings
from whybench.families.recite.judging.exam import Paper, paper
from whybench.families.recite.judging.judged_report import Exam, examined
from whybench.families.recite.judging.labels import PASSES, Entry, PassName
from whybench.families.recite.judging.marking import Report, Sitting, marked
from whybench.families.recite.judging.prompt import questions
from whybench.interfaces.inspectai.examinee import SEAT, Seat
from whybench.interfaces.inspectai.graph_judge import judged_pass
from whybench.interfaces.inspectai.record import CLUSTER, INSTANCE

PASS = "pass"  # noqa: S105 - not a password
"""Key of the pass in a sample's metadata."""

ENTRIES = "whybench:entries"
"""Key of the judge's labels in a sample's store, as one JSON text; null: unreadable."""

LADDER = "made_ladder"
"""The suite whose documents say by their level how openly they speak."""

ONCE = (
    "a paper is sat once: the judge is asked at temperature 0, and repeats would pass for papers; "
    "run the exam with epochs=1, and with more papers for narrower intervals"
)

Said = tuple[Mapping[str, Any], Mapping[str, Entry] | None]
"""A sample's metadata, and the labels that the judge gave in it."""


@task
def recite_exam(
    suite: str = "made_short",
    papers: int = 20,
    salt: str = "exam",
    schema: bool = True,
    reasons: bool = True,
    **knobs: Any,
) -> Task:
    """Examine a judge of graphs on answers whose right labels are known.

    Args:
        suite: Whose documents: made_short, made_long or made_ladder.
        papers: How many; each makes four samples, one for each pass.
        salt: Another salt gives other documents than those that are judged.
        schema: Constrain replies by a JSON schema, as the judge is to be used.
        reasons: Ask for a few words on each element, as the judge is to be used.
        **knobs: Of the family, such as nodes, length, field, distractors, stated and implied.

    """
    openly = {} if suite == LADDER else dict(settings()["documents"])
    found = FAMILY.suite(suite, salt=salt, knobs=openly | knobs)
    if not 1 <= papers <= len(found):
        raise ValueError(f"papers={papers}: {found.path} has 1 to {len(found)}")
    samples = [
        _sample({INSTANCE: canonical_json(found[k].to_json()), CLUSTER: found[k].cluster}, name)
        for k in range(papers)
        for name in PASSES
    ]
    return Task(
        dataset=MemoryDataset(samples, name="recite_exam"),
        solver=sit_exam(schema, reasons),
        scorer=exam_mark(),
        version=f"{FAMILY.version}-{__version__}",
        metadata={"suite": found.path, "salt": salt},
    )


def paper_at(coordinates: str) -> Paper:
    """Return the paper of an instance, given by its coordinates in JSON."""
    return _paper(coordinates)


@solver
def sit_exam(schema: bool = True, reasons: bool = True) -> Solver:
    """Ask the model just as a judge is asked, and keep its labels."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001
        if state.epoch > 1:
            raise ValueError(ONCE)
        name: PassName = state.metadata[PASS]
        sat = paper_at(state.metadata[INSTANCE])

        def seat(numbers: Sequence[int], question: Question) -> None:
            SEAT.set(Seat(sat, name, numbers, question.word))

        told = await judged_pass(get_model(), sat.case, name, schema, reasons, seat)
        said = told.answer
        found = None if said is None else {str(number): entry for number, entry in said.items()}
        state.store.set(ENTRIES, canonical_json(found))
        return state

    return solve


@metric
def exam_figures() -> Metric:
    """Accuracy, kappa, bias and favourite label's share of each family, over all papers.

    `accuracy_presence`, `kappa_presence`, …; `constant_presence` is 1 when the judge gives one
    label always. `unreadable` is the share of passes without labels, which nothing else counts.
    """

    def compute(scores: list[SampleScore]) -> Value:
        said = [
            (score.sample_metadata or {}, (score.score.metadata or {}).get("entries"))
            for score in scores
            if INSTANCE in (score.sample_metadata or {})
        ]
        return _figures(marked(sittings(said)))

    return compute


@scorer(metrics=[exam_figures()])
def exam_mark() -> Scorer:
    """Mark one pass of one paper; the figures of the whole exam are the metric's."""

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001
        stored = state.store.get(ENTRIES)
        if stored is None:
            return Score.unscored(reason="scoring_failed", explanation="the exam was broken off")
        entries = json.loads(stored)
        found = marked(sittings([(state.metadata, entries)])).overall
        return Score(
            value={"accuracy": found.accuracy, "unreadable": float(entries is None)},
            answer="unreadable" if entries is None else "read",
            metadata={"entries": entries},
        )

    return score


def sittings(said: Iterable[Said]) -> list[Sitting]:
    """Put the samples of each paper together; a pass that was sat twice is refused."""
    held: dict[str, dict[PassName, Mapping[int, Entry] | None]] = {}
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
        raise ValueError("the log holds no exam: make one with `inspect eval whybench/recite_exam`")
    return examined(found.eval.model, sittings(said))


@lru_cache(maxsize=256)
def _paper(coordinates: str) -> Paper:
    instance = FAMILY.rebuilt(json.loads(coordinates))
    return paper(FAMILY.world(instance), Stream("recite", "exam", instance.id), instance.id)


def _sample(metadata: Mapping[str, Any], name: PassName) -> Sample:
    asked = questions(paper_at(metadata[INSTANCE]).case, name)
    instance = json.loads(metadata[INSTANCE])
    return Sample(
        id=f"{instance['id']}-{name}",
        input=asked[0][1].prompt,
        metadata={**metadata, PASS: name},
    )


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
