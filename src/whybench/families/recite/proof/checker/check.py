"""Check a stored certificate independently of the code that made it.

The text is read again by `verification_parser`, its numbers are computed again by `recompute`, and
the shape of the graph by `graph_shape`. Only the gold graph itself is taken from the world.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache

from whybench.causal.canonical import Json
from whybench.episode.certificate import Certificate
from whybench.episode.instance import Instance
from whybench.families.claims import differences, unknown
from whybench.families.recite.proof.checker.graph_shape import cycles, shape
from whybench.families.recite.proof.checker.recompute import Recomputed, shown, significance
from whybench.families.recite.proof.checker.verification_parser import (
    LEVELS,
    Heard,
    Pair,
    Reread,
    label_of,
    reread,
    table,
    tabled,
)
from whybench.families.recite.world.world import World

UNVERIFIED_CLAIMS: Mapping[str, str] = {
    "facts.topology.cycles: many": "listing up to 10,000 cycles of a dense graph takes too long; "
    "beyond 30,000 steps only `in_cycles` and the components are checked",
    "facts.meaning_margin": "embeddings need weights that are an extra: the margins are taken from "
    "the table that `scripts/recite_nearness.py` wrote",
    "numbers of the scene": "years, the number of sites and the share of gaps are invented; every "
    "figure that is a result is computed again",
    "published texts": "nobody knows everything that a text by another author says: only the "
    "figures of its record are checked",
}
"""Claim → why it is not checked, and what is checked instead."""

MADE = (
    "graphs on the concepts of a field, all of whose edges a generated document gives in sentences "
    "of our grammar"
)
FOUND = "texts by other hands: what they say is not known"
SOURCES = {"short": ("short", 1), "ladder": ("ladder", 5)}
"""Suite → name of its graphs in the seed, and documents on one graph."""
HELPERS = {"trial", "lead", "aspect", "pair", "define", "supported"}
OPEN = {
    "null", "rejected", "retracted", "replicated", "unreplicated", "route", "hedged", "elsewhere",
    "doubted",
}  # fmt: skip
STATING = {
    "claim", "hypothesis", "reasoned", "because", "chain", "causes", "effects", "mutual", "cited",
    "common", "overturn", "revised",
}  # fmt: skip

_MOST_CYCLES = 10_000
_STEPS = 30_000


def flaws(instance: Instance, world: World, certificate: Certificate) -> list[str]:
    """Return what is wrong with a certificate."""
    if certificate.instance != instance.id:
        return [f"instance: it is for {certificate.instance}, not for {instance.id}"]
    stored = certificate.to_json()
    facts = stored["facts"]
    n, pairs = len(world.nodes), world.pairs
    expected: dict[str, Json] = {"minimax_upper": None, "fewest": None, "minimax": None}
    expected["witness"] = None
    figures: dict[str, Json] = {"characters": len(world.view.text)}
    found: list[str] = []
    if instance.parameters.get("data") is not None:
        expected |= {"hypotheses": FOUND, "status": "none", "exact_steps": None}
        expected |= dict.fromkeys(("solvable", "identified", "best_score", "bits"))
        figures |= _mentioned(n, [node.mention for node in world.nodes])
        figures |= _given([edge.status for edge in world.edges])
        figures["held_out"] = sum(edge.held_out for edge in world.edges)
    else:
        reading = reread(world.view.text, world.domains[0].lower())
        study = _study(instance, world)
        found += _text_flaws(world, reading)
        found += _number_flaws(world, reading, study)
        found += _correlation_flaws(world, reading, study)
        expected |= {"hypotheses": MADE, "status": "proven", "exact_steps": 0}
        expected |= {"solvable": not found, "identified": not found, "bits": 0.0, "best_score": 1.0}
        figures |= _figures(world, reading)
    found += differences(stored, expected) + differences(facts, figures, "facts.")
    found += _shape_flaws(n, pairs, facts.get("topology"))
    return found + unknown(facts, {**figures, "topology": None}, "facts.")


def _study(instance: Instance, world: World) -> Recomputed:
    source, steps = SOURCES.get(instance.suite, ("matched", 1))
    path = ("recite", source, instance.stream_seed, instance.index // steps)
    names = (*(node.name for node in world.nodes), *world.outsiders)
    signs = tuple(((edge.cause, edge.effect), edge.sign) for edge in world.edges)
    return _recomputed(path, world.domains[0].lower(), names, len(world.nodes), signs)


@lru_cache(maxsize=16)
def _recomputed(
    path: tuple[str | int, ...],
    field: str,
    names: tuple[str, ...],
    n: int,
    signs: tuple[tuple[tuple[int, int], int], ...],
) -> Recomputed:
    return Recomputed(path, field, names, n, dict(signs))


# Text and graph.


def _text_flaws(world: World, reading: Reread) -> Iterator[str]:
    """Yield where text, tables and gold graph disagree."""
    names = [node.name for node in world.nodes]
    gold = {(names[edge.cause], names[edge.effect]): edge for edge in world.edges}
    arrows = reading.arrows
    yield from (f"solvable: no sentence of the grammar: {text[:60]!r}" for text in reading.unread)
    yield from (f"solvable: given, but not gold: {pair}" for pair in arrows.keys() - gold.keys())
    yield from (f"solvable: gold, but not given: {pair}" for pair in gold.keys() - arrows.keys())
    denied = {(names[a], names[b]) for a, b in world.denied}
    heard = {pair for pair in reading.denied if set(names).issuperset(pair)}
    yield from (f"solvable: text and gold disagree on denying {pair}" for pair in denied ^ heard)
    own = {
        pair for pair, told in reading.given.items()
        if any(one.role != "cited" for one in told)
    }  # fmt: skip
    yield from (f"solvable: given and denied: {pair}" for pair in own & reading.denied)
    known = {row["name"]: row["key"] for row in table(f"fields/{reading.field}/concepts.tsv")}
    pairs = {(r["cause"], r["effect"]): r for r in table(f"fields/{reading.field}/pairs.tsv")}
    for pair, edge in gold.items():
        row = pairs.get((known[pair[0]], known[pair[1]]))
        if row is None or row["first"] != row["second"]:
            yield f"solvable: the judges did not agree on {pair}"
        elif edge.plausible != (row["first"] == "yes") or (edge.sign > 0) != (row["sign"] == "+"):
            yield f"solvable: {pair} is not as the tables have it"
        told = arrows.get(pair, [])
        if told and edge.status != _status(told):
            yield f"solvable: {pair} is {_status(told)}, not {edge.status}"
        covered = {one.span[1] for one in told}
        if covered - {end for _, end in edge.spans}:
            yield f"solvable: a passage of {pair} is missing"
    yield from _sign_flaws(reading, {pair: edge.sign for pair, edge in gold.items()})


def _status(told: Sequence[Heard]) -> str:
    roles = {one.role for one in told}
    if roles & STATING:
        return "stated"
    return "implied" if roles & LEVELS["implied"] else "derivable"


def _sign_flaws(reading: Reread, signs: Mapping[Pair, int]) -> Iterator[str]:
    """Yield sentences about one arrow whose sign is not the gold one."""
    for pair, told in reading.arrows.items():
        for one in told:
            if one.role in (
                "claim",
                "hypothesis",
                "reasoned",
                "because",
                "cited",
                "overturn",
                "revised",
                "absent",
            ):
                said = one.signs.get("y", 0) * one.signs.get("x", 1)
                needed = {"x", "y"} if one.role == "absent" else {"y"}
                if needed <= one.signs.keys() and pair in signs and said != signs[pair]:
                    yield f"solvable: {pair} has another sign in the text"


# Numbers.


def _number_flaws(world: World, reading: Reread, study: Recomputed) -> Iterator[str]:
    """Yield numbers that are not what the seed gives."""
    for paragraph in reading.sentences:
        for before, one in zip([None, *paragraph], paragraph, strict=False):
            if one.numbers:
                expected = dict(study.expected(one, before))
                for name, value in one.numbers.items():
                    if name in expected and expected[name] != value:
                        yield f"number: {name} is {value} in {one.role}, {expected[name]} was found"
    yield from _table_flaws(world.view.text, reading, study)


def _table_flaws(text: str, reading: Reread, study: Recomputed) -> Iterator[str]:
    told = {
        one.numbers["#t"]: (one.role, one.numbers["#r2"])
        for paragraph in reading.sentences for one in paragraph if "#r2" in one.numbers
    }  # fmt: skip
    place = {row[form]: v for v, row in enumerate(study.rows) for form in ("name", "described")}
    known = {name for paragraph in reading.sentences for one in paragraph for name in one.called}
    for match in re.finditer(r"^Table (\d+)\. (.*)\n\n((?:\|.*\n?)+)", text, re.MULTILINE):
        number, caption, body = match.groups()
        rows = [[cell.strip() for cell in line.strip("| ").split("|")]
                for line in body.splitlines()[2:]]  # fmt: skip
        if caption.startswith("Quantities"):
            wrong = _described(rows, place, study)
        elif caption.endswith(" in the full model"):
            wrong = (row[0] for row in rows if label_of(row[0]) not in known)
        elif caption == "Correlations":
            own = [place[re.sub(r"^\(\d+\) ", "", row[0])] for row in rows]
            wrong = (
                f"{i}, {j}" for i, row in enumerate(rows) for j in range(i + 1)
                if row[j + 1] != shown(study.correlation(own[i], own[j]), 2)
            )  # fmt: skip
        else:
            role, printed = told.get(number, ("", ""))
            effect = place[caption.removeprefix("Regression of ")]
            others = [place[row[0]] for row in rows if row[0] != "own value, lagged"]
            fit = {"table_same": study.same_period, "table_lead": study.leads}
            found, share = fit.get(role, study.regression)(effect, others)
            right = [[shown(value, 2), shown(error, 2), significance(value / error)]
                     for value, error in found]  # fmt: skip
            wrong = (
                row[0] for row, cells in zip(rows, right, strict=True)
                if row[1:] != [*cells[:2], cells[2].removeprefix("= ")]
            )  # fmt: skip
            if printed != shown(share, 2):
                yield f"number: R² of table {number}"
        yield from (f"number: table {number}, {row}" for row in wrong)


def _described(
    rows: Sequence[Sequence[str]], place: Mapping[str, int], study: Recomputed
) -> Iterator[str]:
    means, sds = study.units
    if sorted(place[row[0]] for row in rows) != list(range(len(study.names))):
        yield "not every quantity has one row"
    for row in rows:
        own = place[row[0]]
        digits = int(study.rows[own]["decimals"])
        figures = [shown(means[own], digits), shown(sds[own], digits)]
        if row[1:] != [study.rows[own]["measure"], study.rows[own]["unit"], *figures]:
            yield row[0]


def _correlation_flaws(world: World, reading: Reread, study: Recomputed) -> Iterator[str]:
    """Yield reported correlations without arrow that have no path or common cause."""
    causes = study.causes
    explained = set()
    for one in world.correlations:
        ends = one.first, one.second
        explained.add(ends)
        if {ends, ends[::-1]} & world.pairs:
            yield f"correlation: {ends} has an arrow"
        if one.reason == "confounder":
            right = all(one.through[0] in _ancestors(causes, v) for v in ends)
        else:
            ways = [(a, *one.through, b) for a, b in (ends, ends[::-1])]
            right = any(
                all(link in world.pairs for link in itertools.pairwise(way)) for way in ways
            )
        if not right:
            yield f"correlation: {ends} is not explained by {one.through}"
    for paragraph in reading.sentences:
        for sentence in paragraph:
            if sentence.role in ("corr", "route", "common"):
                a, b = sorted(study.place[sentence.slots[slot][0]] for slot in "ab")
                if (a, b) not in explained:
                    yield f"correlation: {(a, b)} is reported without explanation"


def _ancestors(causes: Mapping[int, Sequence[int]], v: int) -> set[int]:
    seen: set[int] = set()
    queue = [v]
    while queue:
        fresh = [a for a in causes[queue.pop()] if a not in seen]
        seen.update(fresh)
        queue += fresh
    return seen


# Figures.


def _figures(world: World, reading: Reread) -> dict[str, Json]:
    """Return the facts of a certificate, by the second reading."""
    told = reading.arrows
    sentences = [one for paragraph in reading.sentences for one in paragraph]
    lengths = Counter[str]()
    for one in sentences:
        role = "rejected" if one.span in reading.refused else one.role
        lengths[role] += one.span[1] - one.span[0]
    size = len(world.view.text)
    giving = STATING | HELPERS | LEVELS["implied"] | LEVELS["derivable"]
    share = {name: sum(lengths[role] for role in roles) / size
             for name, roles in (("giving", giving), ("bearing", giving | OPEN))}  # fmt: skip
    share["bearing"] += sum(map(len, tabled(world.view.text)[1])) / size
    known = {row["name"]: row for row in table(f"fields/{reading.field}/concepts.tsv")}
    letters, meaning = [1.0], [1.0]
    for name, forms in reading.forms.items():
        for form in {text.lower() for text in forms}:
            for kind in ("reference", "described"):
                if form == known[name][kind].lower():
                    letters.append(_letters(reading.field, known[name]["key"], kind))
                    meaning.append(_meaning(reading.field)[known[name]["key"], kind])
    named = [node.name for node in world.nodes]
    described = {name: known[name]["described"].lower() for name in named}
    mention = [
        "implicit" if {text.lower() for text in reading.forms[name]} == {described[name]}
        else "explicit" for name in named if name in reading.forms
    ]  # fmt: skip
    implausible = sum(edge.plausible is False for edge in world.edges)
    return {
        "characters": size,
        **_mentioned(len(named), mention),
        **_given([_status(own) for own in told.values()]),
        "held_out": sum(any(one.held_out for one in own) for own in told.values()),
        "told": sum(len(own) for own in told.values()) / max(1, len(told)),
        "implausible": implausible / len(world.edges),
        **share,
        "correlations": len(world.correlations),
        "mentions": sum(len(forms) for forms in reading.forms.values()),
        "letters_margin": min(letters),
        "meaning_margin": min(meaning),
    }


@cache
def _meaning(field: str) -> dict[tuple[str, str], float]:
    rows = table(f"fields/{field}/nearness.tsv")
    return {(row["key"], row["form"]): float(row["meaning"]) for row in rows}


@cache
def _letters(field: str, key: str, form: str) -> float:
    """Compute the margin of a phrase in letters, to four digits."""
    rows = table(f"fields/{field}/concepts.tsv")
    weight = _rarity(field)
    whole = ("name", "reference", "measure")
    phrase = next(_grams(row[form]) for row in rows if row["key"] == key)
    near = {}
    for row in rows:
        other = set().union(
            *(_grams(row[kind]) for kind in (whole if form == "described" else whole[:1]))
        )
        common = math.fsum(weight[gram] for gram in phrase & other)
        near[row["key"]] = common / math.fsum(weight[gram] for gram in phrase | other)
    own = near.pop(key)
    return round(own - max(near.values()), 4)


@cache
def _rarity(field: str) -> dict[str, float]:
    rows = table(f"fields/{field}/concepts.tsv")
    kinds = ("name", "reference", "measure", "described")
    count = Counter(g for row in rows for g in set().union(*(_grams(row[kind]) for kind in kinds)))
    return {gram: math.log((len(rows) + 1) / (n + 0.5)) for gram, n in count.items()}


def _grams(phrase: str) -> set[str]:
    padded = f"  {phrase.lower()} "
    return {"".join(three) for three in zip(padded, padded[1:], padded[2:], strict=False)}


def _mentioned(n: int, mentions: Sequence[str]) -> dict[str, Json]:
    explicit, implicit = mentions.count("explicit"), mentions.count("implicit")
    return {"lenient": (explicit + implicit) / n, "strict": explicit / n}


def _given(statuses: Sequence[str]) -> dict[str, Json]:
    known = ("stated", "implied", "derivable")
    return {name: statuses.count(name) / max(1, len(statuses)) for name in known}


def _shape_flaws(n: int, pairs: frozenset[tuple[int, int]], stored: Json) -> list[str]:
    """Return what is wrong with the figures of the graph's shape."""
    try:
        told = dict(stored)
    except (TypeError, ValueError):
        return [f"facts.topology: {stored!r} is not a list of figures"]
    proper = frozenset((a, b) for a, b in pairs if a != b)
    expected = shape(n, proper)
    counted = cycles(n, proper, _MOST_CYCLES + 1, _STEPS)
    if counted is not None:
        expected["cycles"] = float(min(counted, _MOST_CYCLES))
        expected["cycles_capped"] = float(counted > _MOST_CYCLES)
    return differences(told, expected, "facts.topology.")
