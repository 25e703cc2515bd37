"""The battery: guessers that never test an idea about a rule, one of them learned."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whybench.causal.seeds import Stream
from whybench.causal.version_space import Row
from whybench.episode.family import Suite
from whybench.episode.guesser import Guesser, Player, unlearned
from whybench.families.prism.agents.sight import Sight
from whybench.families.prism.agents.strategies import judging
from whybench.families.prism.world.features import features
from whybench.families.prism.world.world import ANSWERS, Answer, World
from whybench.stats.logistic import slopes

TRAINING = 540
"""Problems of the training seed, at least; a suite goes on in blocks if it is shorter."""


def learned(suite: Suite) -> Player:
    """Fit a logistic regression on the cheap features for each kind of question."""
    worlds: list[World] = [
        suite.family.world(suite.row(number)) for number in range(max(len(suite), TRAINING))
    ]
    models = {}
    for kind in {world.question.kind for world in worlds}:
        mine = [world for world in worlds if world.question.kind == kind]
        x = np.array([features(world.space, world.question, world.rows) for world in mine])
        centre, scale = x.mean(axis=0), np.maximum(x.std(axis=0), 1e-6)
        answers = np.array([ANSWERS.index(world.answer) for world in mine])
        models[kind] = centre, scale, slopes((x - centre) / scale, answers)

    def judge(sight: Sight, rows: Sequence[Row]) -> Answer:
        centre, scale, weights = models[sight.question.kind]
        x = (np.array(features(sight.space, sight.question, rows)) - centre) / scale
        return ANSWERS[int(np.argmax(np.round(x @ weights, 9)))]

    play, unused = judging(judge), Stream("battery")
    return lambda instance: play(Sight.of(instance, suite.family.world(instance)), unused, None)


_REASONING = "reasons about rules: it is listed as a mark, not as a guess"

BATTERY = (
    Guesser("yes", "answers yes", 0, unlearned("null")),
    Guesser("no", "answers no", 0, unlearned("null_no")),
    Guesser("cannot", "answers cannot", 0, unlearned("null_cannot")),
    Guesser("majority", "says what is most frequent", 0, unlearned("majority")),
    Guesser("nearest", "says what happened in the most similar trial", 0, unlearned("nearest")),
    Guesser("learned", "logistic regression on frequencies and similarities", 0, learned),
    Guesser(
        "local", "reasons about the rule of the asked variable alone", 0, unlearned("local"),
        counts=False, reason=_REASONING,
    ),
    Guesser(
        "map", "answers from one simplest system that fits", 0, unlearned("map"),
        counts=False, reason=_REASONING,
    ),
)  # fmt: skip
