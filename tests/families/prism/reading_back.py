"""Read a prompt back into trials and question, from its words and its template alone.

Tests read thousands of prompts of every surface: what is read must be what the instance holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from whybench.families.prism.prompts.surface import SWITCH, template_named
from whybench.families.prism.world.world import KINDS, Question, Trial

MANNERS = ("set", "held", "free")

SHAPES = {"x": r"(?:the )?\w+", "y": r"(?:the )?\w+", "number": r"\d+", "most": r"\d+"}
"""Placeholder → what stands in its place; any text for the others."""


class ReadingError(ValueError):
    """Raised for a text that is not a prompt of the template."""


@dataclass(frozen=True)
class Reading:
    """What a prompt says; variables are numbered as they are listed."""

    names: tuple[str, ...]
    inputs: tuple[int, ...]
    trials: tuple[Mapping[str, Mapping[int, int]], ...]
    """For each trial, `set`, `held` and `free`: variable → value."""
    question: Mapping[str, Any]


def read_back(text: str, template: str) -> Reading:
    """Read the instructions of an episode whose trials are given.

    Raises:
        ReadingError: The text is not a prompt of this template, or can be read in two ways.

    """
    return _Reader(text, template).reading()


@cache
def _pattern(passage: str) -> re.Pattern[str]:
    """Return a passage as a pattern: placeholders become groups, a second one must be equal."""
    parts = re.split(r"\$([a-z]+)", passage)
    found = re.escape(parts[0])
    for place in range(1, len(parts), 2):
        name = parts[place]
        again = name in parts[1:place:2]
        found += f"(?P={name})" if again else f"(?P<{name}>{SHAPES.get(name, '.*?')})"
        found += re.escape(parts[place + 1])
    return re.compile(found, re.DOTALL)


class _Reader:
    def __init__(self, text: str, template: str) -> None:
        self._say = template_named(template).passages
        told = _pattern(self._say["things"].removesuffix(".") + ".\n\n").search(text)
        if told is None:
            raise ReadingError("there are no names")
        self._text = text[told.end() :]
        self.names = tuple(told["names"].split(", "))
        self._number = {name.casefold(): v for v, name in enumerate(self.names)}
        self.inputs = tuple(self.variable(name) for name in told["inputs"].split(", "))
        marks = told.groupdict().get("marks") or ""
        pairs = (pair.rsplit(" ", 1) for pair in marks.split(", ") if marks)
        self._marks = {self.variable(name): int(mark) for name, mark in pairs}
        phrases = [
            (phrase, manner, value)
            for manner in MANNERS
            for value, switch in enumerate(SWITCH)
            for phrase in dict.fromkeys(self._say[f"{manner}_{switch}"].split("|"))
        ]
        self._phrases = {_plain(phrase): (manner, value) for phrase, manner, value in phrases}
        said = "|".join(re.escape(p).replace("\\#", r"\d+") for p, _, _ in _longest(phrases))
        end = r"(?:[.;,]? (?:and )?|\.?$)"
        self._clause = re.compile(rf"(?P<names>[^.;]*?) (?P<phrase>{said}){end}")

    def reading(self) -> Reading:
        body, _, asked = self._text.partition(_start(self._say["ask"]))
        question = self.question(asked.partition("\n\n")[0])
        return Reading(self.names, self.inputs, tuple(self.trials(body)), question)

    def variable(self, name: str) -> int:
        """Return the number of a name, with or without its article."""
        bare = name.strip().casefold().removeprefix(_start(self._say["name"]))
        if bare not in self._number:
            raise ReadingError(f"{name!r} is not a name")
        return self._number[bare]

    # Clauses.

    def clauses(self, text: str) -> dict[str, dict[int, int]]:
        """Read clauses that fill a whole text."""
        for aside in self._say.get("asides", "").splitlines():
            text = text.replace(aside, "").replace("  ", " ")
        found: dict[str, dict[int, int]] = {manner: {} for manner in MANNERS}
        place, text = 0, text.strip()
        while place < len(text):
            clause = self._clause.match(text, place)
            if clause is None:
                raise ReadingError(f"no clause: {text[place:][:60]!r}")
            names = re.split(r", and |, | and ", clause["names"])
            self._note(found, [self.variable(name) for name in names], clause["phrase"])
            place = clause.end()
        return found

    def _note(self, found: dict[str, dict[int, int]], vs: Iterable[int], phrase: str) -> None:
        manner, value = self._phrases[re.sub(r"\d+", "#", phrase) if self._marks else phrase]
        for v in vs:
            if self._marks and "#" in re.sub(r"\d+", "#", phrase):
                value = int(int(re.findall(r"\d+", phrase)[0]) >= self._marks[v])
            place = manner if manner == "held" else "set" if v in self.inputs else "free"
            if manner != "held" and manner != place and self._say["set_on"] != self._say["free_on"]:
                raise ReadingError(f"{self.names[v]} is said to be {phrase!r}")
            if v in found[place]:
                raise ReadingError(f"{self.names[v]} is named twice")
            found[place][v] = value

    # Trials.

    def trials(self, body: str) -> Iterable[Mapping[str, Mapping[int, int]]]:
        """Read the trials, which must be numbered 1, 2 and so on."""
        table = "$row" in self._say["trial"]
        passage = self._say["trial"].replace("$inputs. $rest", "$row")
        heads = {self._say["trials"], self._say["header"].replace("$names", " ".join(self.names))}
        number = 0
        for line in (line for line in body.strip().split("\n") if line):
            found = _pattern(passage).fullmatch(line)
            if found is None:
                if line not in heads:
                    raise ReadingError(f"no trial: {line!r}")
                continue
            number += 1
            if int(found["number"]) != number:
                raise ReadingError(f"trial {number} is missing")
            yield self._cells(found["row"]) if table else self.clauses(found["row"])

    def _cells(self, row: str) -> dict[str, dict[int, int]]:
        found: dict[str, dict[int, int]] = {manner: {} for manner in MANNERS}
        for v, cell in enumerate(re.findall(r"[01][*]?", row)):
            manner = "held" if cell.endswith("*") else "set" if v in self.inputs else "free"
            found[manner][v] = int(cell.removesuffix("*"))
        return found

    # Questions.

    def question(self, text: str) -> Mapping[str, Any]:
        """Read a question; exactly one kind must fit."""
        found = []
        for kind in KINDS:
            words = _pattern(self._say[f"kind_{kind}"]).fullmatch(text)
            if words is not None:
                try:
                    found.append({"kind": kind} | self._fields(words.groupdict()))
                except ReadingError:
                    continue
        if len(found) != 1:
            raise ReadingError(f"{len(found)} ways to read {text!r}")
        return found[0]

    def _fields(self, words: Mapping[str, str]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, text in words.items():
            if name in ("x", "y"):
                found[name] = self.variable(text)
            elif name in ("ask", "choice", "would"):
                found |= self._asked(name, text)
            elif name == "inputs":
                found[name] = self.clauses(text)["set"]
            elif name == "held":
                found[name] = {} if text == self._say["none_held"] else self.clauses(text)["held"]
            elif name == "noted":
                read = self.clauses(text)
                found[name] = read["set"] | read["free"]
            elif name == "holdable":
                found[name] = {self.variable(one) for one in text.split(", ")}
            elif name == "had":
                found["held_at"] = [self._say["had_off"], self._say["had_on"]].index(text)
            elif name in ("most", "number"):
                found[name] = int(text)
            elif name != "every" or text.strip() not in ("", self._say["every"]):
                raise ReadingError(f"what is {text!r}?")
        return found

    def _asked(self, name: str, text: str) -> dict[str, Any]:
        """Read which value of which variable is asked for."""
        for value, switch in enumerate(SWITCH):
            words = _pattern(self._say[f"{name}_{switch}"]).fullmatch(text)
            if words is not None:
                return {"y": self.variable(words["y"]), "value": value}
        raise ReadingError(f"what does {text!r} ask?")


def _start(passage: str) -> str:
    return passage.partition("$")[0]


def _plain(phrase: str) -> str:
    return phrase.replace("$reading", "#")


def _longest(phrases: Iterable[tuple[str, str, int]]) -> list[tuple[str, str, int]]:
    said = {_plain(phrase): (_plain(phrase), manner, value) for phrase, manner, value in phrases}
    return sorted(said.values(), key=lambda one: -len(one[0]))


def as_read(
    order: tuple[int, ...], roots: int, trials: tuple[Trial, ...], asked: Question
) -> tuple[tuple[Mapping[str, Mapping[int, int]], ...], Mapping[str, Any]]:
    """Return trials and question in the form of a `Reading`, with variables as they are listed."""
    at = {v: place for place, v in enumerate(order)}

    def placed(values: Iterable[tuple[int, int]]) -> dict[int, int]:
        return {at[v]: x for v, x in values}

    shown = []
    for trial in trials:
        held = dict(trial.held)
        free = [(v, x) for v, x in enumerate(trial.values) if v >= roots and v not in held]
        parts = {"set": enumerate(trial.inputs), "held": held.items(), "free": free}
        shown.append({manner: placed(part) for manner, part in parts.items()})
    question: dict[str, Any] = {"kind": asked.kind, "y": at[asked.y]}
    if asked.kind in ("direct", "ancestor"):
        return tuple(shown), question | {"x": at[asked.x or 0]}
    question["value"] = asked.value
    if asked.kind in ("do", "goal"):
        question["inputs"] = placed(enumerate(asked.inputs))
    if asked.kind == "do":
        question["held"] = placed(asked.held)
    elif asked.kind == "goal":
        question |= {"holdable": {at[v] for v in asked.holdable}, "most": asked.most}
    else:
        question["noted"] = placed(asked.noted)
    if asked.kind in ("case", "had"):
        question |= {"x": at[asked.x or 0], "held_at": asked.held[0][1]}
    if asked.kind == "had":
        del question["noted"]
        question["number"] = (asked.trial or 0) + 1
    return tuple(shown), question
