"""The independent check of certificates: everything is listed and counted a second time."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from whybench.causal.canonical import Json
from whybench.episode.certificate import Certificate
from whybench.episode.instance import Instance
from whybench.episode.registry import families
from whybench.families.claims import differences, unknown
from whybench.families.prism.proof.checker.laboratory import Laboratory
from whybench.families.prism.proof.checker.recount import Function, Recount, System
from whybench.families.prism.world.world import World

UNVERIFIED_CLAIMS: Mapping[str, str] = {}
"""Claims that are not checked."""


def flaws(instance: Instance, world: World, certificate: Certificate) -> list[str]:
    """Return what is wrong with a certificate, one sentence for each claim that fails."""
    recount, stored = _recount(world), certificate.to_json()
    answer, posterior = recount.verdict
    steps, said = _exact(instance)
    facts: dict[str, Json] = {
        "n": world.n,
        "yes": posterior.numerator,
        "of": posterior.denominator,
        "systems": len(recount.systems),
    }
    expected: dict[str, Json] = {
        "instance": instance.id,
        "hypotheses": world.hypotheses,
        "status": "proven",
        "best_score": 1.0,
        "bits": 0.0,
        "minimax_upper": None,
        "exact_steps": steps,
    }
    if world.lab is None:
        expected |= {"fewest": 0, "minimax": 0}
        facts |= {"verdict": answer, "deciding": _deciding(world, answer)}
        found = [] if answer != "cannot" else _witness_flaws(recount, stored["witness"])
    else:
        lab = _laboratory(world)
        cell = lab.cell_of(_read(world.truth, world.roots))
        answer = lab.labels[cell]
        facts |= {"verdict": answer}
        facts |= {f"cells_{one}": lab.labels.count(one) for one in ("yes", "no", "cannot")}
        expected |= {"fewest": lab.fewest(cell), "minimax": _minimax(lab, stored["minimax"])}
        found = [] if answer != "cannot" else _witness_flaws(recount, stored["witness"], lab, cell)
    if answer != "cannot":
        expected["witness"] = None
    right = answer == world.answer
    expected |= {"identified": right, "solvable": right and said == answer}
    found += differences(stored, expected) + differences(stored["facts"], facts, "facts.")
    return found + unknown(stored["facts"], facts, "facts.")


@lru_cache(maxsize=4)
def _recount(world: World) -> Recount:
    return Recount(world)


@lru_cache(maxsize=2)
def _laboratory(world: World) -> Laboratory:
    return Laboratory(_recount(world))


def _exact(instance: Instance) -> tuple[int, Json]:
    """Play the exact agent; return its number of experiments, and its answer."""
    *tried, last = families()[instance.family].exact_run(instance).steps
    return len(tried), last.action.args["answer"]


def _deciding(world: World, answer: str) -> int | None:
    """Return the trial in which triples differ, if the question is open without it."""
    if answer == "cannot" or world.last is None:
        return None
    fields = {name: getattr(world, name) for name in World.__slots__}
    fields["trials"] = tuple(t for i, t in enumerate(world.trials) if i != world.last)
    asked = {name: getattr(world.question, name) for name in type(world.question).__slots__}
    if asked["trial"] is not None and asked["trial"] > world.last:
        asked["trial"] -= 1
    fields["question"] = type(world.question)(**asked)
    return world.last if _recount(World(**fields)).verdict[0] == "cannot" else None


def _read(system: Any, roots: int) -> System:
    """Return a system that is stored as arguments and tables of bits."""
    found: System = {}
    for v, (arguments, table) in enumerate(system, roots):
        many = len(arguments)
        order = [
            sum((cell >> many - 1 - i & 1) << i for i in range(many)) for cell in range(1 << many)
        ]
        rule: Function = tuple(arguments), tuple(table >> at & 1 for at in order)
        found[v] = rule
    return found


def _witness_flaws(
    recount: Recount, witness: Any, lab: Laboratory | None = None, cell: int = 0
) -> list[str]:
    """Check two systems that fit: the first allows yes, the second no, and they are far apart."""
    try:
        first, second = (_read(system, recount.world.roots) for system in witness)
    except (TypeError, ValueError):
        return ["witness: these are not two systems"]
    found = []
    for system in (first, second):
        if system not in recount.systems:
            found.append("witness: a system does not fit the trials")
        elif lab is not None and lab.cell_of(system) != cell:
            found.append("witness: an experiment tells a system from the hidden one")
    if found:
        return found
    shares = [
        both / noted if noted else None for noted, both in map(recount.share, (first, second))
    ]
    if None in shares or shares[0] == 0 or shares[1] == 1:
        return ["witness: the first system must allow yes, and the second no"]
    every = [both / noted for noted, both in map(recount.share, recount.systems) if noted]
    if lab is None and (shares[0], shares[1]) != (max(every), min(every)):
        return ["witness: other systems are further apart"]
    return []


def _minimax(lab: Laboratory, stored: Json) -> int:
    """Return the worst case of the best plan; the stored value is tried first."""
    depth = stored if isinstance(stored, int) and 0 < stored < 9 else 1
    while not lab.within(depth):
        depth += 1
    while depth > 0 and lab.within(depth - 1):
        depth -= 1
    return depth
