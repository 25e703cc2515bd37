"""An independent check of CausaLab certificates: rank arguments in whole numbers.

Readings force the law if and only if no single equation can be replaced by another one that gives
the same readings and uses only causes that do not depend on its quantity. (Proof: given any other
law that fits, take the first quantity, in a causal order of *that* law, whose equation differs. All
quantities before it have their true equations, so its new causes do not depend on it in the true
law either.) For exact linear laws this is one rank per quantity. Readings come from an episode.
Lower bounds cover all sets of properties, with the total effects of the true law.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from math import log2
from typing import Any

from whybench.episode.certificate import Certificate
from whybench.episode.instance import Instance
from whybench.families.causalab.proof.checker.algebra import rank
from whybench.families.causalab.proof.checker.graphs import class_size
from whybench.families.causalab.proof.checker.lab import Lab
from whybench.families.causalab.proof.checker.readings import whole
from whybench.families.causalab.rules import CEILING
from whybench.families.causalab.world.world import FREQUENCY, World
from whybench.families.claims import differences, same

UNVERIFIED_CLAIMS = {
    "identified": "in quadratic and disturbed systems: that the law is not forced is not checked; "
    "that it is forced is checked by several kinds of runs, one of which must force it",
    "exact_steps": "only that it lies between `fewest` and `minimax`, and within the budget",
    "bits": "where not identified: only that some interventions leave a class of that size, and in "
    "quadratic and disturbed systems only that it is one bit or more",
    "witness": "in quadratic and disturbed systems",
    "minimax": "the upper bound over all laws is the theorem of "
    "docs/explanation/causalab-proofs.md; with a first reading of 0 the lower bound may stay open",
    "frequency_identified": "where the law is not identified: if the frequency may be a cause, or "
    "if it depends on which properties are set and to which values. None claims nothing",
    "undecided_pairs": "where a law of more than 8 quantities, or one that is not exactly linear, "
    "is not identified",
    "expected_edge_f1": "it repeats the exact agent's run over other draws",
    "error_probability": "it repeats the exact agent's run over other draws",
}
"""Claims that are not checked, or only in part."""

LARGEST = 8
"""Maximum number of quantities for which all causal orders are searched."""


def flaws(instance: Instance, world: World, certificate: Certificate) -> list[str]:
    """Return what is wrong with a certificate, one sentence for each claim that fails."""
    lab = Lab(instance, world)
    stored = certificate.to_json()
    stored |= {f"facts.{name}": value for name, value in stored["facts"].items()}
    return differences(stored, dict(_claims(lab, certificate))) + _doubts(lab, certificate)


def _claims(lab: Lab, certificate: Certificate) -> Iterator[tuple[str, Any]]:
    """Yield each claim that has exactly one right value, with that value."""
    view, k = lab.view, lab.k
    passive = [reading for reading in lab.given if reading.passive]
    into, out = ([sum(v == e[i] for e in lab.edges) for v in range(k)] for i in (1, 0))
    touched = lab.fewest() if lab.exact else None
    if lab.exact:
        identified = touched is not None
    else:
        identified = certificate.identified is True and lab.forced_by_some_run()
    yield "instance", lab.instance.id
    yield "identified", identified
    yield "facts.graph_identified", identified
    if lab.exact:
        yield "fewest", None if touched is None else len(touched)
    else:
        yield "fewest", lab.counted() if view.quadratic and identified else None
    worst = lab.worst_case() if identified and lab.bounded else None
    if worst is not None or not (identified and lab.bounded):
        yield "minimax", worst
    yield "minimax_upper", None
    if identified:
        yield "bits", 0.0
        yield "witness", None
    frequency = lab.frequency_identified(identified)
    known = certificate.facts.get("frequency_identified", "missing")
    if frequency is not None and (known is not None or (identified and not lab.rounded)):
        yield "facts.frequency_identified", frequency
        known = frequency
    yield "solvable", True if known else None
    yield "best_score", float(_reachable(lab.world)) if known else None
    if identified or view.released:
        yield "facts.undecided_pairs", 0
    elif lab.exact and k <= LARGEST:
        yield "facts.undecided_pairs", lab.undecided()
    if view.observed:
        yield "facts.forced_edges", lab.named("present")
        yield "facts.open_edges", lab.named("present", "absent")
    unknowns = 1 + (k - 1) * (1 + view.quadratic)
    given = rank([lab.powers(reading) for reading in lab.given], range(unknowns))
    yield "facts.frequency_fewest", max(0, unknowns - given) if view.sink else None
    yield "facts.rank", rank([(1, *whole(r.values)[1:]) for r in passive], range(k))
    yield "facts.k", k
    yield "facts.edges", len(lab.edges)
    yield "facts.forks", sum(d * (d - 1) // 2 for d in out)
    yield "facts.colliders", sum(d * (d - 1) // 2 for d in into)
    yield "facts.chains", sum(a[1] == b[0] for a, b in product(lab.edges, repeat=2))
    yield "facts.frequency_parents", into[FREQUENCY]
    yield "facts.not_above_frequency", sum(not lab.below[v] & 1 for v in range(1, k))
    yield "facts.records", len(passive) - 1
    yield "facts.chain", len(lab.given) - len(passive)
    yield "facts.budget", view.budget


def _doubts(lab: Lab, certificate: Certificate) -> list[str]:
    """Return what is wrong with claims that may have more than one right value."""
    found, view, text = [], lab.view, certificate.hypotheses
    if certificate.status != "proven":
        found.append(f"status: {certificate.status!r} is stored, 'proven' was found")
    words = (
        "quadratic" if view.quadratic else "linear",
        "size 0.1 or more" if view.rounded else "",
        "rounded" if view.rounded or view.quadratic else "",
        "w below 0.05 and u below 0.0005" if view.quadratic else "",
        f"`{view.semantics}`",
        "frequency causes nothing" if view.sink else "frequency may be a cause",
        f"{view.disturbance:g} added" if view.disturbance else "",
    )
    found += [f"hypotheses say {text!r}, without {word!r}" for word in words if word not in text]
    steps, worst = certificate.exact_steps, certificate.worst_case
    low = certificate.fewest or 0
    high = view.budget if worst is None else min(worst, view.budget)
    if steps is None or not low <= steps <= high:
        found.append(f"exact_steps: {steps!r} is stored, {low} to {high} was found")
    if certificate.identified:
        return found
    if not lab.exact:
        short = certificate.bits is None or certificate.bits < 1
        return found + [f"bits: {certificate.bits!r} is stored, not 1 or more"] * short
    size = min(view.budget, len(lab.controllable))
    sets = [
        touched
        for touched in combinations(lab.controllable, size)
        if _is_witness(lab, certificate.witness, touched)
    ]
    given = [r.target for r in lab.given if r.target is not None]
    left = {max(1.0, log2(class_size(lab.k, lab.edges, (*given, *s)))) for s in sets}
    if not sets:
        found.append(f"witness {certificate.witness!r} is no pair that looks alike")
    elif not any(same(certificate.bits, bits) for bits in left):
        found.append(f"bits: {certificate.bits!r} is stored, one of {sorted(left)} was found")
    return found


def _reachable(world: World) -> bool:
    """Tell whether the reactor accepts the true frequency; the released dial has an end."""
    view, target = world.view, world.target
    return not view.released or abs(min(max(target, 0), CEILING) - target) < max(
        view.tolerance, 1e-9
    )


def _is_witness(lab: Lab, witness: Any, touched: Sequence[int]) -> bool:
    """Tell whether two equations are the true one and an acyclic one with equal readings."""
    try:
        v = lab.view.names.index(witness["node"])
        true, rival = (
            [float(dict(witness[side]).get(name, (0.0, 0.0))[0]) for name in lab.view.names]
            for side in ("equation", "rival")
        )
    except (KeyError, TypeError, ValueError, IndexError):
        return False
    law = [0.0] * lab.k
    for term in lab.world.law.terms[v]:
        law[term.cause] = term.linear
    change = [b - a for a, b in zip(true, rival, strict=True)]
    moved = [u for u in range(lab.k) if abs(change[u]) > 1e-9]
    if true != law or not moved or set(moved) - set(lab.columns(v, lab.below)):
        return False
    rows = lab.conditions(v, touched, lab.effects)
    parts = ([row[u] * change[u] for u in moved] for row in rows)
    return all(abs(sum(part)) <= 1e-7 * sum(map(abs, part)) for part in parts)
