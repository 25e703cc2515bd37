"""A panel of judges: models other than the one under test, asked one after another.

Judges are named, or taken from the model role `judge`. A judge that is the model under test is
rejected when its answers are scored.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    Model,
    ResponseSchema,
    get_model,
    model_roles,
)
from inspect_ai.util import JSONSchema

from whybench.interfaces.clean_output import guarded
from whybench.interfaces.inspectai.errors import ArgumentError
from whybench.judge.question import Asked, Question, UnreadableError

ROLE = "judge"
"""The model role of a judge when none is named."""

EXAM_ONLY = "whybench_judge/perfect"
"""The scripted judge that looks up the exam's key; it can judge nothing else."""

OTHERS = "works in a judge's exam only. Use whybench_judge/random or whybench_judge/strong."

TRIES = 2
"""Number of attempts: after an unreadable reply the judge is asked once more."""

AGAIN = (
    "Your reply could not be read: {error}. Reply again with one JSON object in the form that was "
    "asked for, and nothing else."
)

TEMPERATURE = 0.0
"""Judges use temperature 0, if their providers allow it."""

Judges = Sequence[str | Model] | str | None
"""Models that judge: a list, names separated by commas, or None for the role."""

_MAKER = re.compile(r"^(?:[a-z]{2,6}\.)?[a-z][a-z0-9]*\.(?=[a-z])")
"""The maker before a name, optionally after a region: `us.anthropic.`."""

_SUFFIX = re.compile(
    r"(?:-(?:20[0-9]{2}-?[01][0-9]-?[0-3][0-9]|[01][0-9][0-3][0-9]|2[0-9][01][0-9]|latest|exp"
    r"|preview)(?:-v[0-9]+)?)+$"
)
"""A date, optionally with a service version, or a word for the newest, after a name."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Panel:
    """The judges of a sample."""

    models: list[Model]
    self_judged: bool
    """Whether one of them is the model under test."""

    @property
    def names(self) -> list[str]:
        """The judges' names."""
        return [str(model) for model in self.models]


def named_judges(judges: Judges, allow_self: bool) -> Sequence[str | Model] | None:
    """Return the named judges; an empty list and the exam-only judge are rejected.

    Without `allow_self`, the model of the run is rejected at once. When a log is scored, that model
    need not be the model under test: `seated` decides then.
    """
    named = judges.split(",") if isinstance(judges, str) else judges
    if named is not None and not named:
        raise ArgumentError(
            "There are no judges. Name at least one model, or omit judges and set the role."
        )
    if any(str(one).strip() == EXAM_ONLY for one in named or _in_role()):
        raise ArgumentError(f"{EXAM_ONLY} {OTHERS}")
    if not allow_self and named is not None and (subject := _ambient()) is not None:
        _apart(subject, [str(one) for one in named])
    return named


def seated(named: Sequence[str | Model] | None, subject: str, allow_self: bool) -> Panel:
    """Return the panel that judges a model, or reject it; a role may have several judges."""
    if named is None:
        first = get_model(role=ROLE, required=True)
        bound = model_roles().get(ROLE)
        models = bound if isinstance(bound, list) else [first]
    else:
        models = [get_model(one.strip() if isinstance(one, str) else one) for one in named]
    names = [str(model) for model in models]
    if not allow_self:
        _apart(subject, names)
    return Panel(list(models), any(same_model(subject, name) for name in names))


async def ask(
    judge: Model,
    question: Question,
    schema: bool,
    read: Callable[[str], T],
) -> Asked[T]:
    """Ask a judge, and once more if the reply is unreadable."""
    config = GenerateConfig(temperature=TEMPERATURE)
    if schema:
        shape = JSONSchema.model_validate(question.schema)
        config.response_schema = ResponseSchema(name=ROLE, json_schema=shape)
    messages: list[ChatMessage] = [ChatMessageUser(content=question.prompt)]
    if question.shared:
        messages.insert(0, ChatMessageSystem(content=question.shared))
    for failed in range(TRIES):
        said = (await guarded(judge).generate(messages, config=config)).completion
        try:
            return Asked(read(said), failed)
        except UnreadableError as error:
            messages += [
                ChatMessageAssistant(content=said),
                ChatMessageUser(content=AGAIN.format(error=error)),
            ]
    return Asked(None, TRIES)


def _in_role() -> Sequence[object]:
    """Return the judges that are set by the model role."""
    bound = model_roles().get(ROLE)
    return bound if isinstance(bound, list) else [bound]


def _ambient() -> str | None:
    """Return the model of the current run, or of the environment."""
    try:
        return str(get_model())
    except ValueError:
        return None


def same_model(subject: str, judge: str) -> bool:
    """Tell whether two names mean the same model, as far as names can show.

    The provider does not count, nor a date, version or tag after the name. The organisation does
    not count either, because another one may serve the model. A false rejection is better than a
    missed one.

    >>> same_model("openai/gpt-4o", "azure/gpt-4o-2024-08-06"), same_model("a/x-7b", "a/x-70b")
    (True, False)
    """
    return _bare(subject) == _bare(judge)


def _bare(name: str) -> str:
    """Return a model's name without provider, maker, tag, service version and date."""
    last = name.strip().lower().rsplit("/", 1)[-1].split("@", 1)[0].split(":", 1)[0]
    return _SUFFIX.sub("", _MAKER.sub("", last)) or last


def _apart(subject: str, judges: Sequence[str]) -> None:
    own = [name for name in judges if same_model(subject, name)]
    if own:
        raise ValueError(
            f"{own[0]} cannot judge {subject}: their names mean the same model. Choose another "
            "judge, or set allow_self=true for a test or if the models differ."
        )
