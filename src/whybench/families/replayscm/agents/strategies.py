"""Reference agents: floors without reasoning, a classical baseline, and the exact agent."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from whybench.causal.canonical import Json
from whybench.causal.graph import members
from whybench.causal.seeds import Stream
from whybench.episode.action import Action
from whybench.episode.episode import Moves
from whybench.episode.observation import Observation
from whybench.episode.trace import Step
from whybench.families.replayscm.agents.experiment import next_setting
from whybench.families.replayscm.agents.structured import structured
from whybench.families.replayscm.alternative import candidate_of, contrast
from whybench.families.replayscm.proof.certify import right_answer
from whybench.families.replayscm.proof.evidence import Evidence, evidence_for
from whybench.families.replayscm.proof.fit import INPUTS, formulas, options, smallest, smallest_ones
from whybench.families.replayscm.world.replay import simulated
from whybench.families.replayscm.world.world import (
    ANSWERS,
    Rows,
    Scm,
    Table,
    View,
    World,
    descendants,
    scm_of,
)

Given = Sequence[Step] | None


@dataclass(frozen=True, slots=True)
class AgentState:
    """What an agent knows at the start: the view, and its budget of experiments in a laboratory."""

    view: View
    budget: int


Strategy = Callable[[AgentState, Stream, Given], Moves]


def submission(view: View, texts: Sequence[str], roots: int) -> Action:
    """Return the final action that submits mechanisms, or what they say of the asked cell."""
    if view.asked is not None:
        kept = tuple("" if roots >> v & 1 else text for v, text in enumerate(texts))
        return said("yes" if simulated(candidate_of(kept), view.asked) else "no")
    return Action.of("submit", answer=json.dumps(_answer(view, texts, roots)))


def said(answer: str) -> Action:
    """Return the final action that answers a question about a cell."""
    return Action.of("submit", answer=json.dumps({"answer": answer}))


def _answer(view: View, texts: Sequence[str], roots: int) -> dict[str, Json]:
    mechanisms = {view.names[v]: text for v, text in enumerate(texts) if not roots >> v & 1}
    if view.disclosure == "roots":
        return {"roots": [view.names[v] for v in members(roots)], "mechanisms": mechanisms}
    return {"mechanisms": mechanisms}


# What experiments showed.


def seen_table(view: View, observation: Observation) -> Table:
    """Return the world that an observation shows."""
    data = observation.data
    rows = [int(text[::-1], 2) for text in data["rows"]]
    return Table.of(view.n, data["targets"], data["mode"], rows)


def informed(view: View, given: Given) -> View:
    """Return the view with the worlds of given experiments."""
    seen = [seen_table(view, step.observation) for step in given or ()]
    return replace(view, train=(*view.train, *seen))


def reach(view: View) -> Evidence:
    """Return the evidence in the class with at most as many parents as the formula catalogue."""
    return evidence_for(view.told.at_most(INPUTS), Rows.of(view.n, view.train))


# The exact agent.


def exact(state: AgentState, stream: Stream, given: Given = None) -> Moves:
    """Experiment until one SCM is left, then submit the smallest that fits."""
    view = informed(state.view, given)
    if view.asked is not None:
        yield said(right_answer(view))
        return
    if view.task == "alternative":
        yield alternative_to(view)
        return
    left = state.budget if given is None else 0
    while left and reach(view).count > 1:
        shown = yield Action.of("experiment", setting=json.dumps(next_setting(view, stream)))
        view = replace(view, train=(*view.train, seen_table(view, shown)))
        left -= 1
    yield handed_in(view)


def handed_in(view: View) -> Action:
    """Return the smallest SCM that fits, as an answer."""
    found = smallest_that_fits(view)
    return submission(view, formulas(found), found.roots)


def smallest_that_fits(view: View) -> Scm:
    """Return the smallest SCM that fits all worlds of a view."""
    found = smallest(reach(view))
    if found is None:  # some mechanism needs more parents than the catalogue has
        found = smallest(evidence_for(view.told, Rows.of(view.n, view.train)))
    if found is None:
        raise ValueError("No SCM of the class fits the worlds shown, so the problem has a bug.")
    return found


def alternative_to(view: View) -> Action:
    """Return the alternative that is easiest to separate from the reference, with an experiment."""
    reference = scm_of(view.reference)
    base = candidate_of(view.reference)
    best: tuple[tuple[float, float], tuple[str, ...]] | None = None
    for other in islice(_others(view, reference), 60):
        texts = formulas(other)
        seen = contrast(view.n, base, candidate_of(texts))
        experiment = seen.best()
        worth = (seen.pair_rate(*experiment), seen.cell_rate(*experiment))
        if best is None or worth > best[0]:
            best = worth, texts
    if best is None:
        return submission(view, view.reference, reference.roots)
    return separated(view, best[1])


def _others(view: View, reference: Scm) -> Iterator[Scm]:
    """Yield SCMs that fit and differ from the reference; those that change one variable first."""
    evidence = reach(view)
    parents = reference.parents
    for v in members(reference.own):
        below = descendants(parents, v)
        there = view.told.every & ~below & ~(1 << v)
        for option in options(evidence, v, there, 4)[:8]:
            if option.truth != reference.tables[v]:
                tables = [*reference.tables[:v], option.truth, *reference.tables[v + 1 :]]
                yield Scm(view.n, reference.roots, tuple(tables))
    for scm in islice(smallest_ones(evidence, 12, 20_000), 12):
        if scm != reference:
            yield scm


def separated(view: View, texts: tuple[str, ...]) -> Action:
    """Return the answer for an alternative: its best experiment with its first witness."""
    n, names = view.n, view.names
    reference, alternative = candidate_of(view.reference), candidate_of(texts)
    seen = contrast(n, reference, alternative)
    v, value = seen.best()
    differing = 0
    for rows in seen.differences:
        differing |= rows
    differing &= seen.on.rows(v, value)
    row = (differing & -differing).bit_length() - 1 if differing else 0
    at = row % seen.on.width
    answer = {
        "alternative": _answer(view, texts, reference.roots),
        "experiment": {"type": "hard_do", "assignments": {names[v]: value}},
        "witness": {
            "rootAssignment": {names[root]: at >> i & 1 for i, root in enumerate(seen.on.roots)},
            "differences": [
                {
                    "variable": names[u],
                    "reference": seen.first[u] >> row & 1,
                    "alternative": seen.second[u] >> row & 1,
                }
                for u, rows in enumerate(seen.differences)
                if rows >> row & 1
            ],
        },
    }
    return Action.of("submit", answer=json.dumps(answer))


# Others.


def structure_dsl(state: AgentState, stream: Stream, given: Given = None) -> Moves:
    """Let a structure learner propose parents; submit the first SCM that fits."""
    view = informed(state.view, given)
    found = structured(reach(view), stream)
    if found is None:
        yield _copies(view)
    elif view.task == "alternative":
        yield separated(view, formulas(found))
    else:
        yield submission(view, formulas(found), found.roots)


def null(state: AgentState, _: Stream, given: Given = None) -> Moves:
    """Say that every variable copies the first root."""
    del given
    yield _copies(state.view)


def _copies(view: View) -> Action:
    """Return a trivial legal answer: every variable copies the first root."""
    roots = view.told.roots
    if roots is None:
        roots = sum(1 << v for v in view.display[: view.told.root_count])
    first = view.names[next(members(roots))]
    return _plain_answer(view, [first] * view.n, roots)


def random(state: AgentState, stream: Stream, given: Given = None) -> Moves:
    """Submit random formulas of two admissible variables, or a random answer to a question."""
    del given
    view = state.view
    if view.asked is not None:
        yield said(stream.choice(ANSWERS))
        return
    roots = view.told.roots
    if roots is None:
        roots = sum(1 << v for v in stream.sample(range(view.n), view.told.root_count))
    texts = [""] * view.n
    there = list(members(roots))
    own = list(members(view.told.every & ~roots))
    for v in sorted(own, key=view.order.index) if view.order else stream.shuffled(own):
        allowed = [u for u in there if view.told.admissible[v] >> u & 1]
        first, second = (view.names[stream.choice(allowed)] for _ in range(2))
        texts[v] = f"({stream.choice(('and', 'or', 'xor', 'iff'))} {first} {second})"
        there.append(v)
    yield _plain_answer(view, texts, roots)


def _plain_answer(view: View, texts: Sequence[str], roots: int) -> Action:
    if view.asked is not None:
        return submission(view, texts, roots)
    answer: Json = _answer(view, texts, roots)
    if view.task == "alternative":
        names = [view.names[v] for v in members(roots)]
        answer = {
            "alternative": answer,
            "experiment": {"type": "hard_do", "assignments": {names[0]: 1}},
            "witness": {"rootAssignment": dict.fromkeys(names, 0), "differences": []},
        }
    return Action.of("submit", answer=json.dumps(answer))


STRATEGIES: dict[str, Strategy] = {
    "null": null,
    "random": random,
    "structure_dsl": structure_dsl,
    "exact": exact,
}


def oracle(world: World) -> Moves:
    """Submit the truth; only for tests and ceilings."""
    view = world.view
    if view.asked is not None:
        yield said(right_answer(view))
    elif view.task == "alternative" and scm_of(world.formulas) == scm_of(view.reference):
        yield alternative_to(view)
    elif view.task == "alternative":
        yield separated(view, world.formulas)
    else:
        yield submission(view, world.formulas, world.gold.roots)
