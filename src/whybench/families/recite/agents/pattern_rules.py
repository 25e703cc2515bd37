"""The cue phrases of the pattern agent, read from `pattern.json` and compiled."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

SINGLE = (
    *("openers", "stop_items", "pronouns", "finite", "lead_in", "linkers", "left_trim", "shell"),
    *("mutual_tail", "abbreviations", "own_subject", "nearer_subject", "split"),
    *("aside", "taken_back", "unreal", "plural", "channel", "means_first"),
)
"""The keys of `pattern.json` that hold one expression each."""


@dataclass(frozen=True, slots=True)
class Rules:
    """All of `pattern.json`, compiled."""

    cue: re.Pattern[str]
    """Finds the cues; its named groups are the kinds of cue."""
    frames: tuple[re.Pattern[str], ...]
    """Whole clauses, with the groups `c` (cause) and `e` (effect)."""
    counterfactual: tuple[re.Pattern[str], ...]
    mutual: tuple[re.Pattern[str], ...]
    out: re.Pattern[str]
    """What rules a statement out: negation, hedge, another place, bare correlation."""
    exempt: re.Pattern[str]
    """What only looks like that."""
    cuts: tuple[re.Pattern[str], ...]
    """Tails that are no part of a quantity's name."""
    one: dict[str, re.Pattern[str]]
    """The single expressions, by their key."""
    not_before_verb: frozenset[str]
    not_before_gerund: frozenset[str]


def forms(verb: str) -> tuple[str, str, str, str, str]:
    """Return base, s-form, past, participle and gerund of a verb of the list.

    >>> forms("drive drove driven")
    ('drive', 'drives', 'drove', 'driven', 'driving')
    """
    base, *rest = verb.split()
    consonant_y = base.endswith("y") and base[-2] not in "aeou"
    stem = base[:-1] if base.endswith("e") and not base.endswith("ee") else base
    present = base + ("es" if re.search("(?:s|x|z|ch|sh|o)$", base) else "s")
    if consonant_y:
        present = base[:-1] + "ies"
    present = {"have": "has"}.get(base, present)
    past = rest[0] if rest else (base[:-1] + "ied" if consonant_y else stem + "ed")
    participle = rest[1] if len(rest) > 1 else past
    gerund = base[:-2] + "ying" if base.endswith("ie") else stem + "ing"
    return base, present, past, participle, rest[2] if len(rest) > 2 else gerund


def _any(choices: Sequence[str]) -> str:
    """Return an expression that matches any of the choices, longer ones first."""
    return "(?:" + "|".join(sorted(set(choices), key=lambda x: (-len(x), x))) + ")"


def _phrases(entries: Sequence[str], columns: slice = slice(0, 5), after: str = "") -> str:
    """Return an expression for verbs with a fixed tail, such as "lead led led: to"."""
    tails: dict[str, list[str]] = {}
    for entry in entries:
        verb, _, tail = entry.partition(": ")
        tails.setdefault(verb, []).append(tail)
    shapes = []
    for verb, ends in tails.items():
        head = "<be>" if verb == "be" else _any(forms(verb)[columns])
        shapes.append(head + (f" <soft>{{0,2}}{_any(ends)}" if ends[0] else "") + after)
    return _any(shapes)


def _expand(shape: str, macros: dict[str, str]) -> str:
    """Write macros and the slots for cause and effect out."""
    while (wider := re.sub(r"(?<!P)<(\w+)>", lambda m: macros[m[1]], shape)) != shape:
        shape = wider
    for slot in "ce":
        shape = shape.replace(f"{{{slot}}}", f"(?P<{slot}>[^;:]{{2,160}}?)")
    return shape


def _macros(raw: dict[str, Any]) -> dict[str, str]:
    """Return the macros of the file, with those for the forms of the plain verbs."""
    shut = set(raw["exclude_forms"])
    columns = zip(*(forms(verb) for verb in raw["forward_verbs"]), strict=True)
    kinds = ("verb_0", "verb_s", "verb_ed", "verb_en", "verb_ing")
    words = [[word for word in column if word not in shut] for column in columns]
    ending = [entry for entry in raw["forward_phrases"] if not entry.startswith("be:")]
    made = {kind: _any(column) for kind, column in zip(kinds, words, strict=True)}
    plain: dict[str, str] = raw["macros"]
    return plain | made | {"phrase_s": _phrases(ending)}


def _cue(raw: dict[str, Any]) -> str:
    """Return the one expression that finds the cues of a sentence."""
    by, bare = raw["passive_by"], raw["particle"] + raw["not_object"]
    acting = [entry for entry in raw["forward_phrases"] if not entry.startswith("be:")]
    passive = [
        f"<verb_en>(?: (?:up|down|back|out|off|on|upon|in|into|about))?{by}",
        _phrases(acting, slice(3, 4), by),
        *raw["passive_phrases"],
    ]
    kinds = {
        "backward": "|".join(
            [
                f"(?:<be> )?(?:<adv>){{0,3}}(?:{'|'.join(passive)})",
                _phrases(raw["backward_phrases"]),
                *raw["backward_shapes"],
            ]
        ),
        "forward": "|".join([_phrases(raw["forward_phrases"]), *raw["forward_shapes"]]),
        "none": "<be> (?:<adv>){0,3}<verb_en>",
        "present": "<verb_s>" + bare,
        "past": "(?:<verb_ed>|(?:has|have|had) (?:<adv>){0,3}<verb_en>)" + bare,
        "gerund": "<verb_ing>" + bare,
        "base": "<verb_0>" + bare,
    }
    shape = "|".join(f"(?P<{kind}>(?:{choice}))" for kind, choice in kinds.items())
    return r"(?<![\w⟦-])(?:" + shape + r")(?![\w-])"


@cache
def rules() -> Rules:
    """Return the rules; they are compiled once."""
    raw = json.loads((files(__package__ or "") / "pattern.json").read_text("utf-8"))
    macros = _macros(raw)

    def compiled(shape: str) -> re.Pattern[str]:
        return re.compile(_expand(shape, macros))

    outs = raw["negation"] + raw["hedge"] + raw["elsewhere"] + raw["correlation"]
    one = {key: compiled(raw[key]) for key in SINGLE}
    one["via"] = compiled(",? " + _any(raw["through"]) + " ")
    one["modifier"] = compiled("^(?:<verb_en>|<verb_ing>) (?=.)")
    return Rules(
        cue=compiled(_cue(raw)),
        frames=tuple(compiled(frame) for frame in raw["frames"]),
        counterfactual=tuple(compiled(frame) for frame in raw["counterfactual"]),
        mutual=tuple(compiled(frame) for frame in raw["mutual"]),
        out=compiled(r"(?<!\w)" + _any(outs) + r"(?!\w)"),
        exempt=compiled(r"(?<!\w)" + _any(raw["exempt"]) + r"(?!\w)"),
        cuts=tuple(compiled(cut) for cut in raw["tail_cuts"]),
        one=one,
        not_before_verb=frozenset(raw["not_before_verb"]),
        not_before_gerund=frozenset(raw["not_before_gerund"]),
    )
