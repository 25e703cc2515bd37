"""The score of an episode: components by name, and how the episode ended."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal, NamedTuple

from whybench.causal.canonical import EMPTY, Json, Record, freeze, thaw
from whybench.episode.action import MALFORMED
from whybench.episode.episode import (
    ANSWERED,
    INVALID_ACTION,
    INVALID_ANSWER,
    INVALID_FORMAT,
    TIMEOUT,
)
from whybench.episode.trace import Trace

UNFINISHED = "unfinished"
"""The outcome of an open episode: the agent gave up, or a limit of an engine stopped it."""

CONTEXT_EXCEEDED = "context_exceeded"
"""The outcome of an episode whose first prompt exceeds the context of the model."""

ERROR_MODES = (INVALID_FORMAT, INVALID_ACTION, INVALID_ANSWER, TIMEOUT, UNFINISHED)
"""The ways in which an episode can end without an answer. A trace is enough to tell them apart."""

CUT_OFF, REFUSED, NO_REPLY = "cut_off", "refused", "empty"
ONLY_THINKING, UNREAD_CALL = "only_thinking", "unread_call"
"""Outcomes that an engine finds in the last reply of a model, where the trace has an error mode."""


class Mode(NamedTuple):
    """One way in which an episode ends without an answer."""

    reason: str
    """Why it ended, in one sentence."""
    advice: str = ""
    """What to change before the next run."""
    unusable: bool = False
    """Whether the reply of the model could not be used, so that nothing was measured."""


MODES = {
    INVALID_FORMAT: Mode(
        "The last reply could not be read.",
        "Use the other protocol, or constrain replies by a schema.",
        unusable=True,
    ),
    INVALID_ACTION: Mode("The last request was not allowed."),
    INVALID_ANSWER: Mode("The last answer was not a valid one."),
    TIMEOUT: Mode("The budget was used up without an answer."),
    UNFINISHED: Mode("The episode was left open."),
    CONTEXT_EXCEEDED: Mode(
        "The first prompt did not fit into the model's context.",
        "Use a model with a longer context, or a suite with shorter prompts.",
        unusable=True,
    ),
    CUT_OFF: Mode(
        "The last reply was cut off by a limit on tokens.",
        "Raise max_tokens, or use a model with a longer context.",
        unusable=True,
    ),
    REFUSED: Mode(
        "The model or its provider refused to reply.",
        "Use another model, or another template or theme.",
        unusable=True,
    ),
    NO_REPLY: Mode(
        "The last reply was empty.",
        "Check the provider's settings and the chat template of the model.",
        unusable=True,
    ),
    ONLY_THINKING: Mode(
        "The last reply had reasoning but no text and no call.",
        "Raise max_tokens, or lower the reasoning effort.",
        unusable=True,
    ),
    UNREAD_CALL: Mode(
        "The last reply had tool calls that could not be read as one call.",
        "Use the other protocol.",
        unusable=True,
    ),
}
"""Every outcome but `answered`, the limits of engines, and the outcomes of single families."""

CALL_IN_TEXT = "call_in_text"
"""The label that counts the tool calls which a model wrote as text; absent if there are none."""

CLEANED = "cleaned"
"""The label that counts the actions whose reply was changed so that it can be kept."""

CLAIMS = ("over_claim", "under_claim", "wrong_claim")
"""Metrics of suites in which `cannot` is an answer; see `claims`."""

Role = Literal["main", "side", "detail"]

Kind = Literal["rate", "share", "amount", "number"]

RANGES: dict[Kind, tuple[float, float]] = {
    "rate": (0.0, 1.0),
    "share": (0.0, 1.0),
    "amount": (0.0, math.inf),
    "number": (-math.inf, math.inf),
}
"""The range of a metric's values, which also bounds its mean and its interval."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One component of the score of a family.

    Examples:
        >>> import whybench as wb
        >>> wb.installed_families()["causallink"].metrics[0].kind
        'rate'

    """

    name: str
    """The name."""
    meaning: str
    """What the metric measures, in one phrase."""
    kind: Kind = "rate"
    """`rate`: every value is 0 or 1. `share`: from 0 to 1. `amount`: from 0 on. `number`: any."""
    role: Role = "main"
    """`main`: shown with its interval. `side`: shown as a mean. `detail`: left out at a glance."""

    @property
    def rate(self) -> bool:
        """Whether every value is 0 or 1."""
        return self.kind == "rate"

    @property
    def range(self) -> tuple[float, float]:
        """The smallest and the largest possible value."""
        return RANGES[self.kind]


@cache
def declared_metrics(package: str) -> tuple[Metric, ...]:
    """Return the metrics that `family.toml` in a family's package declares, in their order.

    >>> declared_metrics("whybench.families.causallink")[0].name
    'accuracy'
    """
    text = (files(package) / "family.toml").read_text("utf-8")
    return tuple(Metric(**one) for one in tomllib.loads(text)["metrics"])


@dataclass(frozen=True, slots=True)
class Score:
    """The score of one episode.

    Examples:
        >>> import whybench as wb
        >>> score = next(wb.solve(wb.load_suite("causallink/core"), "exact")).score
        >>> score.outcome, score.values["accuracy"]
        ('answered', 1.0)

    """

    outcome: str
    """`answered`, or the error mode in which the episode ended; see `MODES`."""
    values: Record
    """Metric name → value. None means that the metric does not apply, never zero."""
    labels: Record = EMPTY
    """Categories in words, such as the verdict on the evidence."""

    @property
    def reason(self) -> str:
        """Why the episode ended without an answer, in one sentence; empty if it was answered."""
        return mode_of(self.outcome).reason

    def to_json(self) -> dict[str, Json]:
        """Return the score as JSON data.

        Returns:
            The data, which `from_json` reads.

        """
        return {"outcome": self.outcome, "values": thaw(self.values), "labels": thaw(self.labels)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Score:
        """Rebuild a score from `to_json`.

        Args:
            data: JSON data of a score.

        Returns:
            The score.

        """
        return cls(data["outcome"], freeze(data["values"]), freeze(data["labels"]))


def mode_of(outcome: str) -> Mode:
    """Return why an episode ended so, and what to do about it, for any outcome.

    >>> mode_of("token_limit").reason
    'The token limit of the run was reached.'
    >>> mode_of("answered").reason
    ''
    """
    if outcome == ANSWERED:
        return Mode("")
    if outcome.endswith("_limit"):
        named = outcome.removesuffix("_limit")
        return Mode(f"The {named} limit of the run was reached.", f"Raise the {named} limit.")
    words = outcome.replace("_", " ")
    return MODES.get(outcome) or Mode(f"The episode ended without a full answer: {words}.")


def unusable(outcome: str) -> bool:
    """Return whether an episode ended because a reply could not be used, whatever it meant.

    Requests and answers that were read but rejected are not among them: they were used.

    >>> [name for name in ("answered", "cut_off", "invalid_action", "timeout") if unusable(name)]
    ['cut_off']
    """
    return mode_of(outcome).unusable


def claims(said: str | None, gold: str) -> dict[str, float | None]:
    """Return which kind of wrong claim an answer is, where `cannot` is an answer.

    `over_claim` is defined if the right answer is `cannot`: yes or no was claimed. The other two
    are defined if it is yes or no: `cannot` was claimed, or the opposite.

    >>> claims("yes", "cannot")
    {'over_claim': 1.0, 'under_claim': None, 'wrong_claim': None}
    >>> claims("yes", "no")
    {'over_claim': None, 'under_claim': 0.0, 'wrong_claim': 1.0}
    """
    claimed = said in ("yes", "no")
    if gold == "cannot":
        return {"over_claim": float(claimed), "under_claim": None, "wrong_claim": None}
    wrong = claimed and said != gold
    return {"over_claim": None, "under_claim": float(said == "cannot"), "wrong_claim": float(wrong)}


def proof(said: str, gold: str, left: frozenset[str]) -> str:
    """Return what an answer rests on, given the answers that the evidence leaves open.

    >>> proof("no", "yes", frozenset({"yes", "no"}))
    'premature'
    """
    if said == gold:
        return "understood" if len(left) == 1 else "lucky"
    return "premature" if said in left else "contradicted"


def formats(trace: Trace) -> dict[str, float | None]:
    """Return whether every reply had the requested form, and whether it could be read."""
    forms = {
        None if step.action.name == MALFORMED else step.action.form
        for step in trace.steps[trace.given :]
    }
    if not forms:
        return {"strict_format": None, "lenient_format": None}
    return {"strict_format": float(forms == {"strict"}), "lenient_format": float(None not in forms)}
