"""Judges that are no models: a perfect one, one that guesses, one that is always pleased.

They show what the exam can tell apart: floors and ceiling of its figures.
"""

from __future__ import annotations

from collections.abc import Callable

from whybench.core.seeds import Stream
from whybench.families.recite.judging.exam import Paper
from whybench.families.recite.judging.labels import PASSES, Entry, Field, PassName, fields
from whybench.families.recite.judging.verdict import Given

Chooses = Callable[[Field, tuple[str, ...]], str]
"""Gives a label for a field, knowing the right labels: none where the key is silent."""


def perfect(field: Field, right: tuple[str, ...]) -> str:
    """Give the right label; where the key is silent, the middle one."""
    return right[0] if right else field.labels[len(field.labels) // 2]


def always_strong(field: Field, right: tuple[str, ...]) -> str:  # noqa: ARG001
    """Give the best label whatever is judged."""
    return field.labels[0]


def guessing(stream: Stream) -> Chooses:
    """Give any label that is allowed."""
    return lambda field, right: stream.choice(field.labels)  # noqa: ARG005


def judged_by(chooses: Chooses, paper: Paper) -> Given:
    """Return a scripted judge's labels of a whole paper."""
    return {name: entries_by(chooses, paper, name) for name in PASSES}


def entries_by(chooses: Chooses, paper: Paper, name: PassName) -> dict[int, Entry]:
    """Return a scripted judge's labels of a pass."""
    return {
        number: {field.name: chooses(field, rights.get(field.name, ())) for field in fields(name)}
        for number, rights in paper.key[name].items()
    }
