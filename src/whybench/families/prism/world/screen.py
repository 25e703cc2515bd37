"""The screen: keep a triple as often as its mirror image, as a cheap guesser sees it.

A small model, shipped as data, gives each member of a triple the probabilities of the three
answers. The score of a triple is the log likelihood of the right assignment of answers minus its
mean over all six assignments. A triple with score s is kept with a probability that makes s and −s
equally frequent, so the model gains nothing on the triples that are kept.

The model is a logistic regression for each kind of question. `scripts/prism_guessers.py` fits it.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whybench.causal.canonical import digest
from whybench.causal.seeds import Stream
from whybench.causal.version_space import Space
from whybench.families.prism.world.features import features, local_features
from whybench.families.prism.world.triples import Triple

_TEXT = (files(__package__) / "screen.json").read_text("utf-8")

MODEL = digest(_TEXT).hex()[:12]
"""The hash of the models. It is part of the content of every instance, so ids depend on it."""

Floats = NDArray[np.float64]


@cache
def _models() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(_TEXT)
    return found


def passes(stream: Stream, name: str, space: Space, triple: Triple) -> bool:
    """Tell whether a triple is kept."""
    model = _models()[name][triple.question.kind]
    members = [features(space, triple.question, rows) for rows in triple.rows.values()]
    if name == "local":
        more = [local_features(space, triple.question, rows) for rows in triple.rows.values()]
        members = [a + b for a, b in zip(members, more, strict=True)]
    found = score(np.array(members) @ np.array(model["weights"]))
    at = int(np.searchsorted(model["edges"], abs(found)))
    return stream.uniform() < float(model["keep"][at][int(found > 0)])


def score(logits: Floats) -> float:
    """Return how much better the right assignment of answers is than the mean of all six.

    The normalising terms of the probabilities cancel. The score is rounded, so that it does not
    depend on the processor.
    """
    return round(float(np.trace(logits) - logits.sum() / 3), 6)
