"""Check the numbers in a report by rule: victory, survival rate, bar, fleet size.

A statement is right, wrong, unclear or not stated; what is not stated is never wrong. Numbers are
distinguished by the words around them (cues in `report_checks.json`), within short segments,
because a sentence often contains both rate and bar. A survival rate counts as the final one if it
is in the answer on success, or if its sentence is about the fleet, and if nothing near it is about
exploration. If cues are weak, a number can make a statement right but never wrong.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

from whybench.episode.cleaning import visible

Check = Literal["right", "wrong", "unclear", "not_stated"]
Role = Literal["survival", "threshold", "loss", "none"]

TOLERANCE = 0.005
"""Half a point, so that a rate may be rounded to a whole per cent."""

LONGEST = 20_000
"""Number of characters of an answer that are examined."""

LONGEST_SEGMENT = 200
"""Number of characters of a segment that are examined, so that hostile text cannot cost quadratic
time."""

SMALLEST_FLEET = 250
"""From this denominator on, a ratio is about the fleet; exploration has no larger batch."""


@dataclass(frozen=True, slots=True)
class Report:
    """The agent's answers in its report."""

    success: str
    """Did it work?"""
    determinants: str
    """What decides survival?"""
    failures: str
    """Why did drones fail?"""
    conclusion: str

    @property
    def answers(self) -> tuple[tuple[str, str], ...]:
        """The questions' names and the answers."""
        return tuple(asdict(self).items())


@dataclass(frozen=True, slots=True)
class Outcome:
    """How the episode really ended."""

    won: bool
    survival_rate: float
    """A fraction."""
    threshold: float
    """A fraction."""
    fleet_size: int


@dataclass(frozen=True, slots=True)
class Checks:
    """The result for each statement."""

    won: Check
    survival_rate: Check
    threshold: Check
    fleet_size: Check

    @property
    def wrong(self) -> bool:
        """Whether anything stated contradicts the truth."""
        return "wrong" in (self.won, self.survival_rate, self.threshold, self.fleet_size)


@dataclass(frozen=True, slots=True)
class _Rate:
    """A rate that is stated."""

    value: float
    role: Role
    sure: bool
    """Whether it can also make a statement wrong."""


_RATIO = (
    r"(?<![\d,])(?P<part>\d[\d,]{0,9})\s?(?:drones?\s)?(?:(?:survived|returned|came back)\s)?"
    r"(?:/|out of|of(?: the| our| all)?)\s?(?P<whole>\d[\d,]{0,9})"
)
_PERCENT = r"(?<![\d.,])(?P<percent>\d{1,3}(?:[.,]\d{1,9})?)\s?(?:%|percent\b|per cent\b|pct\b)"
_FRACTION = (
    r"(?<![\d.,])(?P<fraction>0?\.\d{1,9}|1\.0{1,9}|0,\d{1,9})(?![\d%]|\s?(?:%|percent|per cent))"
)
_NUMBER = re.compile("|".join((_RATIO, _PERCENT, _FRACTION)))
_FLEET = re.compile(
    r"fleet(?: size)?(?: was| is| of|:|=|\s){0,3}\s?(?P<a>\d[\d,.]{0,9}\d)"
    r"|(?<![\d,.])(?P<b>\d[\d,.]{0,9}\d)[- ]drone fleet"
    r"|(?<![\d,.])(?P<c>\d[\d,.]{0,9}\d) drones? (?:in|of) the (?:final |full )?fleet"
    r"|(?:%|percent|per cent) of (?:the |all |our )?(?P<d>\d[\d,.]{0,9}\d)"
)
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")


def checked(report: Report, outcome: Outcome) -> Checks:
    """Compare the statements of a report with the truth."""
    success, *others = (_plain(text) for _, text in report.answers)
    rates = [*_rates(success, final=True)]
    for text in others:
        rates += _rates(text, final=False)
    survival = [r for r in rates if r.role == "survival"]
    survival += [_Rate(1 - r.value, "survival", sure=False) for r in rates if r.role == "loss"]
    unlabelled = [r for r in rates if r.role == "none"]
    whole = "\n".join((success, *others))
    claim = _victory(success) or _victory(others[-1])
    return Checks(
        won=_won(claim, outcome.won),
        survival_rate=_judged([*survival, *unlabelled], outcome.survival_rate),
        threshold=_judged(
            [*(r for r in rates if r.role == "threshold"), *unlabelled], outcome.threshold
        ),
        fleet_size=_fleet(whole, success, outcome.fleet_size),
    )


def _plain(text: str) -> str:
    """Return a text in lower case without Markdown marks and long gaps."""
    text = visible(text[:LONGEST]).lower().replace("_", " ")
    return re.sub(r"([^\S\n]|\n){2,}", r"\1", re.sub(r"[*`#]", "", text))


@cache
def _cue(name: str) -> re.Pattern[str]:
    cues = json.loads((files(__package__ or "") / "report_checks.json").read_text("utf-8"))
    return re.compile(cues[name])


@cache
def _splitter() -> re.Pattern[str]:
    """Segments end at punctuation that is not inside a number, and before words that compare."""
    words = f"{_cue('beyond').pattern}|{_cue('apart').pattern}"
    return re.compile(rf"(?:[;()\[\]|\n–—]|[.,](?!\d)|\s-\s)|(?<![\w])(?=(?:{words})(?!\w))")


def _rates(text: str, *, final: bool) -> Iterator[_Rate]:
    """Yield the rates stated in an answer with their roles."""
    for sentence in _SENTENCE.split(text):
        about_fleet = final or bool(_cue("final").search(sentence))
        tried = bool(_cue("exploration").search(sentence))
        for part in _splitter().split(sentence):
            segment = part[:LONGEST_SEGMENT]
            for found in _NUMBER.finditer(segment):
                value = _value(found)
                if value is None:
                    continue
                role, labelled = _role(segment, found)
                if role == "none" and _cue("beyond").match(segment):
                    role = "threshold"
                foreign = bool(_cue("other").search(segment))
                if not about_fleet and role != "threshold":
                    continue
                sure = labelled and not foreign and not (tried and role == "survival")
                yield _Rate(value, role, sure)


def _value(found: re.Match[str]) -> float | None:
    """Return the rate that a match stands for, if it is one."""
    if found["percent"]:
        value = float(found["percent"].replace(",", ".")) / 100
    elif found["fraction"]:
        value = float(found["fraction"].replace(",", "."))
    elif found["whole"]:
        whole = _whole(found["whole"])
        if whole is None or whole < SMALLEST_FLEET:
            return None
        value = (_whole(found["part"]) or 0) / whole
    else:
        return None
    return value if value <= 1 else None


def _role(segment: str, found: re.Match[str]) -> tuple[Role, bool]:
    """Return the role of a number by the nearest cue in its segment, and whether there is a cue."""
    best: tuple[int, Role] | None = None
    roles: tuple[Role, ...] = ("threshold", "loss", "survival")
    for role in roles:
        for cue in _cue(role).finditer(segment):
            gap = max(found.start() - cue.end(), cue.start() - found.end(), 0)
            if best is None or gap < best[0]:
                best = (gap, role)
    # A segment that speaks of a bar and holds one number speaks of that number.
    if best and best[1] == "survival" and _cue("threshold").search(segment):
        alone = sum(1 for _ in _NUMBER.finditer(segment)) == 1
        best = (0, "threshold") if alone else best
    return (best[1], True) if best else ("none", False)


def _judged(rates: list[_Rate], truth: float) -> Check:
    if any(abs(rate.value - truth) <= TOLERANCE + 1e-9 for rate in rates):
        return "right"
    return "wrong" if any(rate.sure for rate in rates) else "not_stated"


def _fleet(text: str, success: str, truth: int) -> Check:
    named = [_whole(m["a"] or m["b"] or m["c"] or "") for m in _FLEET.finditer(text)]
    shares = [_whole(m["d"] or "") for m in _FLEET.finditer(text)]
    shares += [_whole(m["whole"] or "") for m in _NUMBER.finditer(success)]
    stated = [n for n in named if n is not None]
    stated += [n for n in shares if n is not None and n >= SMALLEST_FLEET]
    if truth in stated:
        return "right"
    return "wrong" if stated else "not_stated"


def _whole(text: str) -> int | None:
    """Read a whole number; 1,000 and 1.000 are a thousand."""
    plain = re.sub(r"[.,](?=\d{3}(?!\d))", "", text).rstrip(".,")
    return int(plain) if plain.isdigit() else None


def _victory(text: str) -> Literal["yes", "no", "mixed"] | None:
    """Tell whether a text claims victory; None if it does not say."""
    text = _cue("label").sub("", text.strip())
    if _cue("both").match(text):
        return "mixed"
    if _cue("yes").match(text):
        return "yes"
    if _cue("no").match(text):
        return "no"
    said = set()
    for clause in re.split(
        r"[.;!\n](?!\d)|,(?!\d)|\bbut\b|\balthough\b|\bthough\b|\bwhile\b", text
    ):
        if _cue("denied").search(clause):
            said.add("no")
        elif not _cue("unreal").search(clause) and _cue("claimed").search(clause):
            said.add("yes")
    if len(said) == 2:
        return "mixed"
    return "yes" if "yes" in said else "no" if said else None


def _won(claim: str | None, truth: bool) -> Check:
    if claim is None:
        return "not_stated"
    if claim == "mixed":
        return "unclear"
    return "right" if (claim == "yes") == truth else "wrong"
