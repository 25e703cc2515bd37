"""Claims about a physics, true and false, and beliefs that make them."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from whybench.causal.canonical import Json, thaw

Sign = Literal["raises", "lowers", "no_effect"]
SIGNS: tuple[Sign, ...] = ("raises", "lowers", "no_effect")
EFFECTS = ("detection", "survival", "hit_count", "communication_failure")

LONGEST = 20_000
"""Maximum number of characters of a list of beliefs."""
MOST = 40
"""Maximum number of beliefs in a list."""
LONGEST_NAME = 60

FORM = '{"cause": "antenna_def", "effect": "survival", "sign": "raises"}'


@dataclass(frozen=True, slots=True)
class Belief:
    """A belief that one thing changes another, or does not."""

    cause: str
    """A lever (`antenna_def`, `coating=stealth`) or a variable."""
    effect: str
    sign: Sign
    when: str = ""
    """A condition such as `storm`; empty: no condition."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement in words, as beliefs, and as an experiment that decides it."""

    id: str
    golden: bool
    """True and worth finding; otherwise a distractor: false and tempting."""
    statement: str
    beliefs: tuple[Belief, ...]
    """Each of these beliefs expresses the claim."""
    contrast: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """The experiment that decides the claim, as in `claims.json`; tests run it."""

    def made_by(self, belief: Belief) -> bool:
        """Tell whether a belief expresses this claim; a belief without a condition fits any."""
        return any(
            (own.cause, own.effect, own.sign) == (belief.cause, belief.effect, belief.sign)
            and (not own.when or not belief.when or own.when == belief.when)
            for own in self.beliefs
        )


@dataclass(frozen=True, slots=True)
class Distance:
    """Distance of beliefs from the truth: 0 means all golden claims and no distractor."""

    missing: tuple[str, ...]
    """Golden claims that are missing."""
    asserted: tuple[str, ...]
    """Distractors that are asserted."""

    @property
    def total(self) -> int:
        """The hypothesis distance."""
        return len(self.missing) + len(self.asserted)


@cache
def claims(physics: str) -> tuple[Claim, ...]:
    """Return the claims about a physics, golden ones first.

    >>> [claim.golden for claim in claims("zone")].count(True)
    4
    """
    data = _data()
    if physics not in data["physics"]:
        known = ", ".join(data["physics"])
        raise ValueError(f"no claims about physics {physics!r}: there are {known}")
    found = data["physics"][physics]
    return tuple(
        _claim(entry, golden)
        for golden, key in ((True, "golden"), (False, "distractors"))
        for entry in found[key]
    )


def distance(claims: Sequence[Claim], beliefs: Sequence[Belief]) -> Distance:
    """Return the distance of beliefs from the truth."""
    made = {claim.id for claim in claims if any(map(claim.made_by, beliefs))}
    return distance_of(claims, made)


def distance_of(claims: Sequence[Claim], made: Collection[str]) -> Distance:
    """Return the distance of someone who makes the claims with these ids."""
    return Distance(
        missing=tuple(c.id for c in claims if c.golden and c.id not in made),
        asserted=tuple(c.id for c in claims if not c.golden and c.id in made),
    )


def beliefs(text: Json) -> tuple[Belief, ...]:
    """Read beliefs from JSON text (or what it stands for), or raise ValueError saying what to mend.

    A list, an object with a list under `beliefs`, or a single belief will do. Common words for
    signs and effects are understood, any name may be a cause.

    >>> beliefs('[{"cause": "Shield DEF", "effect": "survival rate", "sign": "increases"}]')
    (Belief(cause='shield_def', effect='survival', sign='raises', when=''),)
    """
    text = thaw(text)
    if isinstance(text, str):
        if len(text) > LONGEST:
            raise ValueError(f"beliefs are longer than {LONGEST} characters: keep to the main ones")
        try:
            text = json.loads(text or "[]")
        except (ValueError, RecursionError):
            raise ValueError(f"beliefs are not JSON: give a list like [{FORM}]") from None
    if isinstance(text, Mapping):
        text = text.get("beliefs", [text])
    if text is None:
        return ()
    if not isinstance(text, list | tuple):
        raise ValueError(f"beliefs must be a list: give [{FORM}]")
    if len(text) > MOST:
        raise ValueError(f"{len(text)} beliefs are too many: give at most {MOST}")
    found = tuple(_belief(number, entry) for number, entry in enumerate(text, 1))
    signs: dict[tuple[str, str, str], Sign] = {}
    for number, held in enumerate(found, 1):
        if signs.setdefault((held.cause, held.effect, held.when), held.sign) != held.sign:
            raise ValueError(f"belief {number} contradicts another one: give one sign for each")
    return found


def _belief(number: int, entry: Json) -> Belief:
    if not isinstance(entry, Mapping):
        raise ValueError(f"belief {number} must be an object: give {FORM}")
    found = {str(key): value for key, value in entry.items()}
    missing = [key for key in ("cause", "effect", "sign") if key not in found]
    if missing:
        raise ValueError(f"belief {number} lacks {', '.join(missing)}: give {FORM}")
    effect, sign = _name(found["effect"], "effects"), _name(found["sign"], "signs")
    if effect not in EFFECTS:
        raise ValueError(f"effect of belief {number} is {effect!r}: give {', '.join(EFFECTS)}")
    known = next((s for s in SIGNS if s == sign), None)
    if known is None:
        raise ValueError(f"sign of belief {number} is {sign!r}: give {', '.join(SIGNS)}")
    cause = _name(found["cause"], "causes")
    if not cause:
        raise ValueError(f"cause of belief {number} is empty: name a lever or a variable")
    return Belief(cause, effect, known, _name(found.get("when") or "", "conditions"))


def _name(value: Json, kind: str) -> str:
    """Return the canonical name of a word; unknown words stay unchanged."""
    text = str(value).strip().lower()[:LONGEST_NAME]
    plain = "_".join(text.replace(":", "=").split()).replace("_=_", "=")
    return _words(kind).get(plain, plain)


@cache
def _words(kind: str) -> Mapping[str, str]:
    listed: dict[str, list[str]] = _data()["words"][kind]
    return {word: name for name, words in listed.items() for word in words}


@cache
def _data() -> dict[str, Any]:
    text = (files(__package__ or "") / "claims.json").read_text("utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def _claim(entry: Mapping[str, Any], golden: bool) -> Claim:
    beliefs = tuple(Belief(**belief) for belief in entry["beliefs"])
    return Claim(entry["id"], golden, entry["statement"], beliefs, entry)
