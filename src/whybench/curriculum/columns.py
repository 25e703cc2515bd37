"""The columns of difficulty. Every instance has them, and they are computed when they are read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from whybench.causal.canonical import Json
from whybench.episode.certificate import Certificate
from whybench.episode.family import Family
from whybench.episode.instance import Instance
from whybench.episode.registry import families

How = Literal["proven", "measured", "estimated"]
"""`proven`: by the certificate. `measured`: counted in the text or the episode. `estimated`: by a
rule that is close to the figure."""

Text = Callable[[Family[Any], Instance], str]

KEPT = 1024
"""Number of instances whose certificate and texts are cached."""

TOKENIZER = "whybench-pieces-1"
"""Names the rule by which `tokens_in` counts. Another rule gets another name."""

_PIECE = re.compile(r"[^\W\d_]{1,8}|\d| (?=\d)|[^\w\s]{1,2}|_|\n+")


@dataclass(frozen=True, slots=True)
class Column:
    """One figure of every instance."""

    meaning: str
    """What the figure says, for documentation."""
    how: How
    """How it is found. A proven figure of an instance without a proof is only estimated."""
    value: Callable[[Family[Any], Instance], float | None]
    """Return the figure; None if it has no meaning for the instance."""


def tokens_in(text: str) -> int:
    """Return the estimated number of tokens of a text. No tokenizer has to be installed.

    The rule counts words in pieces of at most eight letters, single digits, the space before a
    digit, marks in pairs, and line breaks. `docs/difficulty.md` compares it with a tokenizer.

    >>> tokens_in("Hold the circle, then press 12.")
    10
    """
    return sum(1 for _ in _PIECE.finditer(text))


def figure(instance: Instance, column: str) -> float | None:
    """Return one figure of an instance.

    Args:
        instance: The instance.
        column: The name of a column.

    Returns:
        The figure; None if it has no meaning for the instance.

    """
    return COLUMNS[column].value(families()[instance.family], instance)


def difficulty(instance: Instance) -> dict[str, Json]:
    """Return all columns of an instance, each with its figure and how it was found.

    Examples:
        >>> import whybench as wb
        >>> found = wb.difficulty(wb.load_suite("causallink/advanced")[0])
        >>> found["bits"]
        {'value': 12.0, 'how': 'proven'}

    Args:
        instance: The instance.

    Returns:
        Column → `value` and `how`: `proven`, `measured` or `estimated`.

    """
    family = families()[instance.family]
    proven = _certificate(family, instance).status == "proven"
    return {
        name: {
            "value": column.value(family, instance),
            "how": "estimated" if column.how == "proven" and not proven else column.how,
        }
        for name, column in COLUMNS.items()
    }


@lru_cache(maxsize=KEPT)
def _certificate(family: Family[Any], instance: Instance) -> Certificate:
    return family.certify(instance)


@lru_cache(maxsize=KEPT)
def _prompt(family: Family[Any], instance: Instance) -> str:
    return family.open(instance).instructions(family.template_for(instance.profile))


@lru_cache(maxsize=KEPT)
def _played(family: Family[Any], instance: Instance) -> str:
    """Return the calls and observations of the exact agent's episode."""
    episode, told = family.open(instance), list[str]()
    for action in family.exact_run(instance).actions:
        told.append(json.dumps(action.to_json(), ensure_ascii=False))
        told.append(episode.describe(episode.step(action), family.template_for(instance.profile)))
    return "\n".join(told)


def _length(measure: Callable[[str], int], *texts: Text) -> Callable[..., float]:
    return lambda family, instance: sum(measure(text(family, instance)) for text in texts)


def _proven(name: str) -> Callable[[Family[Any], Instance], float | None]:
    return lambda family, instance: getattr(_certificate(family, instance), name)


def _exact_steps(family: Family[Any], instance: Instance) -> float:
    return family.exact_experiments(instance)


def _size(family: Family[Any], instance: Instance) -> float | None:
    found = family.covariates(instance).get(family.size_covariate)
    return float(found) if isinstance(found, int | float) else None


COLUMNS: Mapping[str, Column] = {
    "bits": Column(
        "bits that are open before the first experiment",
        "proven",
        lambda family, instance: family.bits_at_start(instance),
    ),
    "fewest": Column(
        "fewest experiments that force the answer on this hidden system",
        "proven",
        _proven("fewest"),
    ),
    "worst_case": Column(
        "experiments of the best plan in the worst case, or a proven upper bound",
        "proven",
        _proven("worst_case"),
    ),
    "exact_steps": Column("experiments of the exact agent", "measured", _exact_steps),
    "size": Column("number of variables of the hidden system", "measured", _size),
    "prompt_characters": Column(
        "characters of the instructions",
        "measured",
        _length(len, _prompt),
    ),
    "prompt_tokens": Column(
        f"tokens of the instructions, by the rule {TOKENIZER}",
        "estimated",
        _length(tokens_in, _prompt),
    ),
    "characters": Column(
        "characters of the exact agent's episode: instructions, calls and observations",
        "measured",
        _length(len, _prompt, _played),
    ),
    "tokens": Column(
        f"tokens of the exact agent's episode, by the rule {TOKENIZER}",
        "estimated",
        _length(tokens_in, _prompt, _played),
    ),
}
