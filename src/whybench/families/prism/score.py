"""Score an episode: the answer, the probability, and what the answer rests on."""

from __future__ import annotations

import math
from fractions import Fraction

from whybench.causal.canonical import Record
from whybench.episode.episode import ANSWERED
from whybench.episode.score import ERROR_MODES, UNFINISHED, Score, claims, formats, proof
from whybench.families.prism.justification import justified, needed
from whybench.families.prism.proof import closure
from whybench.families.prism.rules import PrismEpisode
from whybench.families.prism.submission import Submission
from whybench.families.prism.world.world import ANSWERS

PROOF = ("understood", "lucky", "premature", "contradicted")

CLIP = 0.01
"""Probabilities are clipped to this distance from 0 and 1 before they are scored."""


def score(episode: PrismEpisode) -> Score:
    """Score an episode in its current state."""
    world, trace, said = episode.world, episode.trace, episode.submission
    outcome = trace.outcome or UNFINISHED
    if outcome != ANSWERED:
        said = None
    answer = None if said is None else said.answer
    right = float(answer == world.answer)
    rows = [trial.row for trial in episode.seen]
    valid = justified(world, rows, said) if said is not None and episode.justify else None
    rests = None if said is None else label(episode, said, valid)
    marks = {name: None if said and rests is None else float(rests == name) for name in PROOF}
    fetched = len(episode.seen) / max(1, len(world.trials)) if episode.mode == "fetched" else None
    values: dict[str, float | None] = {
        "accuracy": right,
        **{f"accuracy_{one}": right if world.answer == one else None for one in ANSWERS},
        **claims(answer, world.answer),
        **marks,
        "justified": None if valid is None else float(valid),
        "needed": needed(world, rows, said) if valid and said is not None else None,
        **regrets(said, _posterior(episode)),
        "fetched": fetched,
        **{mode: float(outcome == mode) for mode in ERROR_MODES},
        "errors": float(any(step.observation.is_error for step in trace.steps)),
        **formats(trace),
    }
    probability = None if said is None else said.probability
    labels = Record.of(
        answer=answer, gold=world.answer, kind=world.question.kind, proof=rests,
        probability=probability, posterior=float(_posterior(episode)),
    )  # fmt: skip
    return Score(outcome, Record(values.items()), labels)


def label(episode: PrismEpisode, said: Submission, valid: bool | None) -> str | None:
    """Return what an answer rests on; None for a right answer of which no justification was asked.

    In a laboratory, the trials seen leave some answers open. Otherwise all trials are seen, and a
    right answer is understood if its justification is valid. A wrong claim about an open question
    is premature: a system that fits gives this answer. So an over-claim is never lucky.
    """
    world = episode.world
    if world.lab is not None:
        left = closure.labels(world, [trial.row for trial in episode.seen])
        return proof(said.answer, world.answer, left)
    if said.answer == world.answer:
        return None if valid is None else "understood" if valid else "lucky"
    return "premature" if world.answer == "cannot" else "contradicted"


def _posterior(episode: PrismEpisode) -> Fraction:
    """Return the exact probability of yes, given what the agent could see."""
    world = episode.world
    if world.lab is None:
        return world.posterior
    return closure.posterior(world, [trial.row for trial in episode.seen])


def regrets(said: Submission | None, posterior: Fraction) -> dict[str, float | None]:
    """Return how far a stated probability is from the exact one: squared, and as divergence.

    The divergence is in bits, and the exact probability is not clipped.
    """
    stated = None if said is None else said.probability
    if said is None or stated is None:
        return {
            "stated": None if said is None else 0.0, "brier_regret": None, "log_regret": None,
        }  # fmt: skip
    p, best = min(max(stated, CLIP), 1 - CLIP), float(posterior)
    terms = ((best, p), (1 - best, 1 - p))
    divergence = sum(a * math.log2(a / b) for a, b in terms if a)
    return {"stated": 1.0, "brier_regret": (stated - best) ** 2, "log_regret": divergence}
