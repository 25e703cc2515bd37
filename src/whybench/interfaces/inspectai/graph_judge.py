"""The judge of graphs: other models compare an answer's graph with the gold graph and the text.

`inspect score LOG --scorer whybench/graph_judge -S judges=openai/gpt-x,google/gemini-y`, or the
model role `judge`. A judge that is the subject itself is refused.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from inspect_ai.model import Model
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
from inspect_ai.solver import TaskState

from whybench.episode.question import Question
from whybench.episode.score import CONTEXT_EXCEEDED
from whybench.families.recite.judging.case import Case, Pair, case_of
from whybench.families.recite.judging.labels import PASSES, Entry, PassName
from whybench.families.recite.judging.prompt import questions, retry
from whybench.families.recite.judging.reading import read_entries
from whybench.families.recite.judging.verdict import Given, Verdict, mean_values, verdict
from whybench.interfaces.inspectai.panel import Asked, ask, means, named_judges, seated
from whybench.interfaces.inspectai.record import EPISODE, EXCEEDED, crashed, from_store, located

MAIN = ("f1", "precision", "recall")
"""Figures with an interval."""

GraphSource = Callable[[TaskState], Case | None]
"""Finds the graphs of a sample; None: there is nothing to score, as when its solver crashed."""


def stored_case(state: TaskState) -> Case | None:
    """Play the stored episode again and let the family say which edges were handed in.

    A family whose graphs can be judged has `answered_edges(instance, trace)`: the pairs of names,
    or None if there is no answer, which scores 0; unless the document was too long for the model,
    where the family leaves such samples out.
    """
    family, instance = located(state.metadata)
    stored = state.store.get(EPISODE)
    if stored is None or crashed(stored):
        return None
    edges_of: Callable[..., Sequence[Pair] | None] | None = getattr(family, "answered_edges", None)
    if edges_of is None:
        raise ValueError(f"{family.name} has no graphs to judge: score another family's log")
    edges = edges_of(instance, from_store(family, instance, stored))
    if edges is None and state.store.get(EXCEEDED) and CONTEXT_EXCEEDED in family.excluded:
        return None
    return case_of(family.world(instance), edges, instance.id)


@metric
def graph_judgements() -> Metric:
    """Mean of every figure, with a clustered 95 % interval of those in `MAIN`; never raises."""

    def compute(scores: list[SampleScore]) -> Value:
        return means(scores, MAIN)

    return compute


@scorer(metrics=[graph_judgements()])
def graph_judge(
    judges: Sequence[str | Model] | str | None = None,
    schema: bool = True,
    reasons: bool = True,
    allow_self: bool = False,
    source: GraphSource = stored_case,
) -> Scorer:
    """Judge graphs in four passes; figures are means over the judges.

    An answer that is missing scores 0 without a judge being asked, and `judged_missing` is 1; so
    does one of more than 600 nodes and edges, or four times those of the gold graph if that is
    more, and `judged_too_large` is 1. Edges that read like an earlier one to a judge are left out,
    and `judged_repeated` counts them. A pass that stays unreadable leaves the figures that need it
    unscored (NaN), and `incomplete` counts such passes.

    Args:
        judges: Models that judge (a list, or names with commas); the role `judge` if left out.
        schema: Constrain replies by a JSON schema.
        reasons: Ask for a few words on each element, before its labels.
        allow_self: Let a model judge its own answers, to try the plumbing; labelled `self_judged`.
        source: Where a sample's graphs are found.

    """
    named = named_judges(judges, allow_self=True)  # whose answers are judged, a sample says

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001
        panel = seated(named, str(state.model), allow_self)
        case = source(state)
        if case is None:
            return Score.unscored(reason="scoring_failed", explanation="there is nothing to judge")
        verdicts: list[Verdict] = []
        labels = []
        unreadable = 0
        for one in panel.models:
            given, failed = await _asked(one, case, schema, reasons)
            labels.append(_logged(given))
            verdicts.append(verdict(case, given))
            unreadable += failed
        return Score(
            value=mean_values(verdicts)
            | {"judge_unreadable": unreadable, "judges": len(panel.models)},
            answer=_outcome(case),
            metadata={
                "judges": panel.names,
                "self_judged": panel.self_judged,
                "verdicts": [dataclasses.asdict(one) for one in verdicts],
                "labels": labels,
            },
        )

    return score


def _outcome(case: Case) -> str:
    if case.too_large:
        return "too_large"
    return "judged" if case.answered else "missing"


async def _asked(judge: Model, case: Case, schema: bool, reasons: bool) -> tuple[Given, int]:
    """Ask a judge all there is to ask; return its labels, and how many replies were unreadable.

    One question after the other, so that the first lets the provider keep the document.
    """
    passes = {name: await judged_pass(judge, case, name, schema, reasons) for name in PASSES}
    unreadable = sum(told.unreadable for told in passes.values())
    return {name: told.answer for name, told in passes.items()}, unreadable


async def judged_pass(
    judge: Model,
    case: Case,
    name: PassName,
    schema: bool,
    reasons: bool,
    before: Callable[[Sequence[int], Question], None] = lambda numbers, question: None,  # noqa: ARG005
) -> Asked[dict[int, Entry]]:
    """Ask a judge about every element of a pass; if one reply stays unreadable the pass is."""
    entries: dict[int, Entry] = {}
    unreadable = 0
    for numbers, question in questions(case, name, reasons):
        before(numbers, question)
        told = await ask(judge, question, schema, _reader(name, numbers, question), retry)
        unreadable += told.unreadable
        if told.answer is None:
            return Asked(None, unreadable)
        entries |= told.answer
    return Asked(entries, unreadable)


def _reader(
    name: PassName, numbers: Sequence[int], question: Question
) -> Callable[[str], dict[int, Entry]]:
    return lambda text: dict(read_entries(name, numbers, question.word, text))


def _logged(given: Given) -> dict[str, dict[str, Entry] | None]:
    """Return a judge's labels for a log, where keys are texts."""
    return {
        name: None if said is None else {str(number): entry for number, entry in said.items()}
        for name, said in given.items()
    }
