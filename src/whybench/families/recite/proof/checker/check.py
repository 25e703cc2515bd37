"""Check a stored certificate independently of the code that made it: see `reread` and `shape`.

The text is parsed again. Everything except the gold graph itself comes from that result: which
nodes are named and how, which edges are given and how, and which names fit an unnamed factor.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import log2

from whybench.causal.canonical import Json
from whybench.episode.certificate import Certificate
from whybench.episode.instance import Instance
from whybench.families.claims import differences, unknown
from whybench.families.recite.proof.checker.graph_shape import cycles, shape
from whybench.families.recite.proof.checker.verification_parser import (
    UNNAMED,
    Reread,
    field_titled,
    reread,
)
from whybench.families.recite.world.vocabulary import Concept
from whybench.families.recite.world.world import Node, World

UNVERIFIED_CLAIMS: Mapping[str, str] = {
    "facts.topology.cycles: many": "listing up to 10,000 cycles of a dense graph takes too long; "
    "beyond 30,000 steps only `in_cycles` and the components are checked",
    "witness: elimination": "if no unnamed factor has a second name in our vocabulary, the "
    "witness is a name outside it; only the form of that name is checked",
    "published texts": "nobody knows everything that a text by another author says: only the "
    "figures of its record are checked",
}
"""Claim → why it is not checked, and what is checked instead."""

MADE = (
    "graphs on the concepts of a field, all of whose edges a made document gives in sentences of "
    "our frames"
)
FOUND = "texts by other hands: what they say is not known"

_MOST_CYCLES = 10_000
_STEPS = 30_000


def flaws(instance: Instance, world: World, certificate: Certificate) -> list[str]:
    """Return what is wrong with a certificate."""
    if certificate.instance != instance.id:
        return [f"instance: it is for {certificate.instance}, not for {instance.id}"]
    stored = certificate.to_json()
    facts = stored["facts"]
    n, pairs = len(world.nodes), world.pairs
    expected: dict[str, Json] = {"minimax_upper": None}
    figures: dict[str, Json] = {"characters": len(world.view.text)}
    found: list[str] = []
    if instance.parameters.get("data") is not None:
        expected |= {"hypotheses": FOUND, "status": "none"}
        expected |= dict.fromkeys(("solvable", "identified", "best_score", "bits", "witness"))
        expected |= dict.fromkeys(("fewest", "minimax", "exact_steps"))
        figures |= _mentioned(n, [node.mention for node in world.nodes])
        figures |= _given(len(pairs), [edge.status for edge in world.edges])
        figures["held_out"] = sum(edge.held_out for edge in world.edges)
    else:
        reading = reread(world.view.text, field_titled(world.domains[0]))
        found += _text_flaws(world, reading)
        expected |= {"hypotheses": MADE, "status": "proven", "exact_steps": 0}
        expected |= {"fewest": None, "minimax": None, **_claims(world, reading, right=not found)}
        figures["careful_reader"] = _careful(world, reading)
        figures |= _mentioned(n, [_mention(node, world, reading) for node in world.nodes])
        figures |= _given(len(pairs), [given[0].status for given in reading.arrows.values()])
        figures["held_out"] = sum(
            any(one.held_out for one in given) for given in reading.arrows.values()
        )
        found += _witness_flaws(world, reading, stored["witness"])
    found += differences(stored, expected) + differences(facts, figures, "facts.")
    found += _shape_flaws(n, pairs, facts.get("topology"))
    return found + unknown(facts, {**figures, "topology": None}, "facts.")


def _text_flaws(world: World, reading: Reread) -> list[str]:
    """Return where text and gold graph disagree."""
    voices = [_voice(node) for node in world.nodes]
    gold = {(voices[a], voices[b]) for a, b in world.pairs}
    given = set(reading.arrows)
    found = [f"solvable: the text has words of no frame: {text[:60]!r}" for text in reading.unread]
    found += [f"solvable: the text gives {a} → {b}, gold has no such edge" for a, b in given - gold]
    found += [f"solvable: the text does not give {a} → {b}" for a, b in gold - given]
    denied = {(voices[a], voices[b]) for a, b in world.denied}
    heard = {pair for pair in reading.denied if set(voices).issuperset(pair)}
    found += [f"solvable: text and gold disagree on denying {a} → {b}" for a, b in denied ^ heard]
    if len(set(voices)) < len(voices):
        found.append("solvable: two unnamed factors are of one kind")
    return found


def _voice(node: Node) -> str:
    """Return the name under which the text mentions a node."""
    return f"{UNNAMED}{node.kind}" if node.mention == "absent" else node.name


def _voice_of(name: str, world: World) -> str:
    return next(_voice(node) for node in world.nodes if node.name == name)


def _mention(node: Node, world: World, reading: Reread) -> str:
    """Return how the text mentions a node, by the words in it."""
    used = reading.forms.get(node.name, set())
    known = _concepts(world)[node.name]
    if not used:
        return "absent"
    return "explicit" if used & {form.lower() for form in known.said} else "implicit"


def _concepts(world: World) -> Mapping[str, Concept]:
    return {concept.name: concept for concept in field_titled(world.domains[0]).concepts}


def _fitting(world: World, reading: Reread) -> list[tuple[str, list[str]]]:
    """Return for each unnamed factor its name, and all names that would have led to this text."""
    silent = [c for name, c in _concepts(world).items() if name not in reading.forms]
    return [
        (node.name, [concept.name for concept in silent if concept.kind == node.kind])
        for node in world.nodes
        if node.name not in reading.forms
    ]


def _claims(world: World, reading: Reread, *, right: bool) -> dict[str, Json]:
    """Return the claims that hold for a text that was, or was not, parsed right."""
    fitting = [] if world.view.names == "told" else _fitting(world, reading)
    return {
        "solvable": right,
        "identified": right and not fitting,
        "bits": sum(log2(len(names)) for _, names in fitting),
        "best_score": 1.0 if world.view.names == "told" else None,
    }


def _careful(world: World, reading: Reread) -> float:
    """Return the score of a reader who leaves out every edge of an unnamed factor."""
    if world.view.names == "told":
        return 1.0
    sure = sum(
        not cause.startswith(UNNAMED) and not effect.startswith(UNNAMED)
        for cause, effect in reading.arrows
    )
    return 2 * sure / (sure + len(world.pairs))


def _witness_flaws(world: World, reading: Reread, witness: Json) -> Iterator[str]:
    """Yield what is wrong with two names that would have led to the same text."""
    fitting = [] if world.view.names == "told" else _fitting(world, reading)
    if not fitting:
        if witness is not None:
            yield "witness: a pair is stored, but no factor is unnamed"
        return
    if not isinstance(witness, Sequence) or len(witness) != 2:
        yield f"witness: {witness!r} is not a pair, although names are open"
        return
    name, other = map(str, witness)
    if all(len(names) == 1 for _, names in fitting):
        open_names = {own: [f"another name for {_voice_of(own, world)}"] for own, _ in fitting}
    else:
        open_names = {own: [name for name in names if name != own] for own, names in fitting}
    if other not in open_names.get(name, ()):
        yield f"witness: {name!r} and {other!r} do not lead to the same text"


def _mentioned(n: int, mentions: Sequence[str]) -> dict[str, Json]:
    explicit, implicit = mentions.count("explicit"), mentions.count("implicit")
    return {"lenient": (explicit + implicit) / n, "strict": explicit / n}


def _given(edges: int, statuses: Sequence[str]) -> dict[str, Json]:
    return {name: statuses.count(name) / edges for name in ("stated", "implied", "derivable")}


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
