"""Asking a model until code accepts its reply.

A model is no more than a function from a prompt to a reply. Each reply is read by a function that
refuses it with a reason; the model is asked again with that reason, a few times, and then the step
stops. Replies are kept in a cache as they come, so that a run that was killed asks nothing twice;
one with half a character, which no file can keep, is refused like any other.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Generic, TypeVar

from whybench import CANARY
from whybench.episode.prompts.extraction import Found, json_objects
from whybench.episode.prompts.template import PromptTemplate, read_template
from whybench.episode.prompts.untrusted_text import delimiter
from whybench.families.recite.extras.preparing.content_cache import ContentCache, is_writable

Ask = Callable[[str], Awaitable[str]]
"""A model: a prompt in, its reply out. It may raise `RefusedError` for a reply of no use."""

REPLY = "reply"

HALF = "it has half a character (a lone surrogate): send whole characters only"

T = TypeVar("T")


class RefusedError(ValueError):
    """A reply breaks a rule; the message tells the model which, and how to mend it."""


class StepError(RuntimeError):
    """A step cannot be done; the message says why, and what a person can do."""


@dataclass(frozen=True, slots=True)
class Settled(Generic[T]):
    """What an accepted reply says, and why those before it were refused."""

    value: T
    refused: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Asker:
    """A model with a memory."""

    ask: Ask
    name: str
    """Of the model: another model's replies are others."""
    tries: int
    cache: ContentCache | None = None
    """Where replies are kept; None: nowhere."""

    async def settle(self, step: str, prompt: str, read: Callable[[str], T]) -> Settled[T]:
        """Ask until `read` takes the reply; replies that led to nothing are forgotten."""
        refused: list[str] = []
        prompts: list[str] = []
        while len(refused) < self.tries:
            prompts.append(_again(prompt, refused))
            try:
                return Settled(read(await self._reply(prompts[-1])), tuple(refused))
            except RefusedError as reason:
                refused.append(str(reason))
        for asked in prompts:
            if self.cache is not None:
                self.cache.drop(REPLY, self._key(asked))
        raise StepError(
            f"{step}: {self.name} gave {self.tries} replies that break the rules; the last one: "
            f"{refused[-1]}. Run again to ask again, or use another model"
        )

    async def _reply(self, prompt: str) -> str:
        kept = None if self.cache is None else self.cache.get(REPLY, self._key(prompt))
        if kept is not None:
            return str(kept["reply"])
        reply = await self.ask(prompt)
        if not is_writable(reply):
            raise RefusedError(HALF)
        if self.cache is not None:
            self.cache.put(REPLY, self._key(prompt), {"model": self.name, "reply": reply})
        return reply

    def _key(self, prompt: str) -> list[str]:
        return [self.name, prompt]


def _again(prompt: str, refused: list[str]) -> str:
    """Return the prompt, with why the last reply was refused; each try asks in other words."""
    if not refused:
        return prompt
    return f"{prompt}\n\n{texts().say('again', count=len(refused), reason=refused[-1])}"


def answered(reply: str, key: str) -> Found | None:
    """Return the last object of a reply that has a key; refuse one that no file can keep.

    JSON can say half a character in plain letters, so that the reply itself can be written.
    """
    found = next((one for one in json_objects(reply) if key in one.value), None)
    if found is not None and not is_writable(found.value):
        raise RefusedError(HALF)
    return found


def said(passage: str, paper: str, **words: object) -> str:
    """Return a prompt on a paper, which stands between marks that it cannot hold itself.

    Its lines are shown as they are, for they are to be copied letter by letter: what it may talk a
    model into is bounded by what code accepts.
    """
    around = delimiter("recite", "preparing", passage, paper, what="PAPER")
    return texts().say(
        passage, canary=CANARY, open=around.open, close=around.close, paper=paper, **words
    )


def template(passage: str) -> str:
    """Return a passage as it is written, for the key of a step."""
    return texts().passages[passage]


@cache
def texts() -> PromptTemplate:
    """Return the prompts."""
    folder = files(__package__ or "")
    return read_template("prompts", lambda name: (folder / f"{name}.md").read_text("utf-8"))
