"""Score an episode on its hidden system; a pure function."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean

from whybench.causal.canonical import Json, Record
from whybench.causal.equivalence import class_size
from whybench.causal.graph import Graph
from whybench.causal.structure import edge_f1, edge_precision, edge_recall, shd
from whybench.episode.episode import ANSWERED
from whybench.episode.score import (
    CLAIMS,
    ERROR_MODES,
    UNFINISHED,
    Score,
    claims,
    declared_metrics,
)
from whybench.families.causalab.episode import LabEpisode
from whybench.families.causalab.hypothesis import NOTHING, Edge, Guess
from whybench.families.causalab.proof.ambiguity import Pairs, Verdicts, answers
from whybench.families.causalab.proof.inference_timeline import Forced, InferenceTimeline, misfit
from whybench.families.causalab.world.chance import chance_of
from whybench.families.causalab.world.world import DECIMALS, FREQUENCY, Law, View, World

WEIGHT_TOLERANCE = 0.02
"""Largest relative error of a right coefficient. The exact agent stays below it even with rounded
readings."""
RELEASED_TOLERANCE = 1e-6
"""Largest absolute error of a right coefficient under the released rules."""
SMALLEST = 0.5 * 10**-DECIMALS + 1e-9
"""The tolerance of predictions that must be exact."""
LABELS = ("understood", "lucky", "premature", "contradicted")
STRANGER = 10**6
"""A number above that of any node."""

METRICS = declared_metrics(__package__ or "")


def roots(k: int, edges: frozenset[Edge]) -> set[int]:
    """Return the direct and indirect causes of the frequency that have no causes themselves."""
    graph = Graph.from_edges(k, [e for e in edges if max(e) < k and e[0] != e[1]])
    reach, parents = graph.reach(), graph.parents()
    return {v for v in range(1, k) if reach[v] >> FREQUENCY & 1 and not parents[v]}


def set_f1(truth: set[int], claimed: set[int]) -> float:
    """Return the F1 of two sets; 1 if both are empty."""
    if not truth and not claimed:
        return 1.0
    return 2 * len(truth & claimed) / (len(truth) + len(claimed))


def weight_f1(law: Law, guess: Guess, view: View) -> float:
    """Return the F1 of coefficients in the frequency's equation."""
    true = {term.cause: term for term in law.terms[FREQUENCY]}
    linear, square = dict(guess.linear), dict(guess.square)
    hits = 0
    for cause, term in true.items():
        said = linear.get(cause)
        if view.released:
            hits += said is not None and abs(said - term.linear) <= RELEASED_TOLERANCE
            continue
        good = said is not None and _close(said, term.linear)
        if view.quadratic:
            other = square.get(cause)
            good = good and other is not None and _close(other, term.square)
        hits += good
    claimed = max(len(linear), guess.keys) if view.released else len(linear)
    if not hits:
        return 0.0
    precision, recall = hits / claimed, hits / len(true)
    return 2 * precision * recall / (precision + recall)


def _close(said: float, true: float) -> bool:
    return abs(said - true) <= WEIGHT_TOLERANCE * abs(true)


def score(episode: LabEpisode, unsettled: Pairs) -> Score:
    """Score an episode that has been replayed on its hidden system."""
    world, view = episode.world, episode.view
    trace = episode.trace
    outcome = episode.outcome or UNFINISHED
    answered = outcome == ANSWERED
    timeline = InferenceTimeline(view, trace)
    readings = timeline.readings
    guess = (episode.guess if answered else None) or NOTHING
    truth = frozenset(world.law.graph.edges())
    graph = _graph_values(truth, guess.edges, unsettled)
    could = timeline.forced(world.shown())
    right = answered and episode.right
    missed = answered and not right and not _within(world, episode.prediction or 0.0)
    inferable = could.frequency is not None and _within(world, could.frequency)
    left_open = timeline.left_open()
    known = could.complete or (bool(unsettled) and left_open.sometimes <= unsettled)
    own = episode.used - trace.given
    free = trace.evidence == "own"
    touched = sum({1 << r.target for r in readings if r.target is not None})
    size = class_size(world.law.graph, touched)
    prior = class_size(world.law.graph, sum({1 << r.target for r in view.records if r.target}))
    after = timeline.sufficed_after() if free else None
    steps = _trajectory(world, episode, timeline, unsettled)
    judged = [step["consistent"] for step in steps if step["consistent"] is not None]
    error = misfit(guess, readings) if answered else None
    unused = 1 - own / view.budget if free and view.budget else None
    wrong_graph = graph["shd"] > 0
    listed = guess.candidates
    chance = chance_of(world)
    label = _label(episode, could) if answered else None
    values: dict[str, float | None] = {
        "accuracy": float(right),
        "exact_prediction": float(
            answered
            and episode.prediction is not None
            and round(episode.prediction, DECIMALS) == world.target
        ),
        **{name: graph[name] for name in ("edge_precision", "edge_recall", "edge_f1", "shd")},
        "edge_f1_corrected": (
            None if chance is None else (graph["edge_f1"] - chance) / (1 - chance)
        ),
        "whole_graph": float(answered and not wrong_graph),
        **{name: float(name == label) for name in LABELS},
        **_verdict_values(view, left_open, guess if answered else None),
        "root_f1": set_f1(roots(view.k, truth - unsettled), roots(view.k, guess.edges - unsettled)),
        "freq_edge_f1": edge_f1(_into(truth - unsettled), _into(_compared(guess.edges, unsettled))),
        "freq_weight_f1": weight_f1(world.law, guess, view) if answered else 0.0,
        "interventions": float(own),
        "unused_budget": unused,
        "imec": float(size),
        "fit_error": error,
        "fit_error_right": error if right else None,
        "fit_error_wrong": error if answered and not right else None,
        "unused_budget_right": unused if right else None,
        "unused_budget_wrong": unused if answered and not right else None,
        "consistent": sum(judged) / len(judged) if judged else None,
        "final_consistent": float(judged[-1]) if judged and answered else None,
        "bits_per_intervention": math.log2(prior / size) / own if own and free else None,
        "sufficed_after": None if after is None else float(after),
        "stopped_early": float(not known) if free and answered else None,
        "stopped_late": float(own - after) if after is not None else None,
        "inferable": float(inferable),
        "inferable_edge_f1": edge_f1(
            truth - unsettled, (could.edges | left_open.always) - unsettled
        ),
        "bad_experiments": float(missed and not inferable),
        "bad_inference": float(missed and inferable),
        "graph_bad_experiments": float(answered and wrong_graph and not known),
        "graph_bad_inference": float(answered and wrong_graph and known),
        "without_mechanism": float(right and wrong_graph),
        "candidates": None if listed is None else float(len(listed)),
        "candidates_hit": None if listed is None else float(truth in listed),
        "sent_back": float(episode.sent_back),
        "parse_failures": float(episode.parse_failures),
        **{mode: float(mode == outcome) for mode in ERROR_MODES},
    }
    labels: dict[str, Json] = {
        "proof": label,
        "regime": world.regime,
        "trajectory": _written(view, steps),
    }
    if episode.instance.seed == "public":
        labels["truth"] = _edge_text(view, truth)
    return Score(outcome, Record(values.items()), Record(labels.items()))


def _verdict_values(
    view: View, left_open: Verdicts, guess: Guess | None
) -> dict[str, float | None]:
    """Compare the verdicts on all pairs with those that the readings force, if pairs are judged."""
    if not view.observed:
        return dict.fromkeys(("edge_verdicts", *CLAIMS))
    gold = answers(view, left_open)
    said = {} if guess is None else answers(view, Verdicts(guess.edges, guess.undetermined))
    judged = [claims(said.get(pair), word) for pair, word in gold.items()]
    right = [said.get(pair) == word for pair, word in gold.items()]
    values: dict[str, float | None] = {"edge_verdicts": fmean(right)}
    for name in CLAIMS:
        known = [value for each in judged if (value := each[name]) is not None]
        values[name] = fmean(known) if known else None
    return values


def _label(episode: LabEpisode, could: Forced) -> str:
    """Return how the prediction relates to the readings that the agent saw.

    A right one is understood if the readings force the frequency within the tolerance. A wrong one
    is premature if some law that fits the readings gives it, within the tolerance.
    """
    said, view = episode.prediction or 0.0, episode.view
    if episode.right:
        return "understood" if could.frequency is not None else "lucky"
    return "premature" if could.allows(said, view.tolerance or SMALLEST) else "contradicted"


def _within(world: World, frequency: float) -> bool:
    return abs(frequency - world.target) < (world.view.tolerance or SMALLEST)


def _into(edges: frozenset[Edge]) -> frozenset[Edge]:
    return frozenset(edge for edge in edges if edge[1] == FREQUENCY)


def _compared(claimed: frozenset[Edge], unsettled: Pairs) -> frozenset[Edge]:
    """Return the claims that count; a self-loop (release only) is an edge from an unknown node."""
    return frozenset((STRANGER + a if a == b else a, b) for a, b in claimed - unsettled)


def _graph_values(
    truth: frozenset[Edge], claimed: frozenset[Edge], unsettled: Pairs
) -> dict[str, float]:
    """Compare graphs over the pairs that experiments can decide."""
    true, said = truth - unsettled, _compared(claimed, unsettled)
    return {
        "edge_precision": edge_precision(true, said),
        "edge_recall": edge_recall(true, said),
        "edge_f1": edge_f1(true, said),
        "shd": float(shd(true, said)),
    }


def _trajectory(
    world: World, episode: LabEpisode, timeline: InferenceTimeline, unsettled: Pairs
) -> list[dict[str, Json]]:
    """Return each recorded hypothesis with its distance from the truth and the data."""
    truth = frozenset(world.law.graph.edges())
    steps: list[dict[str, Json]] = []
    for after, guess in episode.guesses:
        if guess is None:
            steps.append(
                {"after": after, "edges": None, "f1": None, "shd": None, "consistent": None}
            )
            continue
        values = _graph_values(truth, guess.edges, unsettled)
        steps.append(
            {
                "after": after,
                "edges": guess.edges,
                "f1": round(values["edge_f1"], 4),
                "shd": int(values["shd"]),
                "consistent": timeline.explained_by(guess, after),
            }
        )
    return steps


def _edge_text(view: View, edges: frozenset[Edge]) -> str:
    """Return a graph as compact text."""
    names = view.names
    return " ".join(
        ">".join(names[v] if v < len(names) else "?" for v in edge) for edge in sorted(edges)
    )


def _written(view: View, steps: Sequence[dict[str, Json]]) -> tuple[Record, ...]:
    return tuple(
        Record(
            [
                ("after", step["after"]),
                ("edges", None if step["edges"] is None else _edge_text(view, step["edges"])),
                ("f1", step["f1"]),
                ("shd", step["shd"]),
                ("consistent", step["consistent"]),
            ]
        )
        for step in steps
    )
