"""Compute the contents of a certificate from a hidden system."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from itertools import islice
from math import comb

from whybench.causal.canonical import Json, Record
from whybench.causal.graph import members
from whybench.families.replayscm.alternative import candidate_of
from whybench.families.replayscm.proof.cells import answer, fitting
from whybench.families.replayscm.proof.evidence import Evidence, evidence_for
from whybench.families.replayscm.proof.fit import INPUTS, formulas, smallest, smallest_ones
from whybench.families.replayscm.world.generation.local_alternatives import seen_patterns
from whybench.families.replayscm.world.replay import simulated
from whybench.families.replayscm.world.world import Rows, Scm, View, World, descendants


def hypotheses(view: View) -> str:
    """Describe the class of SCMs in which a certificate holds."""
    told = view.told
    parents = "any number of" if told.k >= view.n - 1 else f"at most {told.k}"
    admissible = {
        "ordered": "earlier variables",
        "block": "variables of the same or an earlier block",
        "hidden": "all other variables",
        "roots": "all other variables",
    }[view.disclosure]
    roots = "unknown" if told.roots is None else "known"
    return (
        f"acyclic Boolean SCMs on {told.n} variables with {told.root_count} {roots} roots, "
        f"{parents} essential parents among {admissible}"
    )


@lru_cache(maxsize=256)
def determined(world: World) -> bool:
    """Return whether all SCMs that fit what was shown give the same result on held-out worlds.

    If only one SCM fits, this is so: a fitting SCM that replays a held-out row wrongly would be a
    second one beside gold.
    """
    return not evidence_of(world.view).open_rows(_heldout_rows(world))


def _heldout_rows(world: World) -> list[tuple[int, int]]:
    return [(row, table.targets) for table in world.heldout for row in table.rows()]


def facts(world: World, evidence: Evidence) -> Record:
    """Return figures of a problem: its size, gold formulas, and what the evidence determines."""
    view, gold = world.view, candidate_of(world.formulas)
    read = [formula for formula in gold.formulas if formula is not None]
    rows = _heldout_rows(world)
    open_rows = evidence.open_rows(rows)
    found: dict[str, Json] = {
        "n": view.n,
        "k": view.told.k,
        "endogenous": len(read),
        "train_worlds": len(view.train),
        "train_rows": sum(table.size for table in view.train),
        "heldout_worlds": len(world.heldout),
        "heldout_rows": len(rows),
        "heldout_rows_determined": (len(rows) - open_rows) / len(rows) if rows else 1.0,
        "heldout_determined": float(not open_rows),
        "ast_min": min(formula.size for formula in read),
        "ast_max": max(formula.size for formula in read),
        "ast_mean": sum(formula.size for formula in read) / len(read),
        "depth_min": min(formula.depth for formula in read),
        "depth_max": max(formula.depth for formula in read),
        "parents_mean": sum(mask.bit_count() for mask in gold.parents) / len(read),
    }
    if view.asked is not None:
        found["answer"] = right_answer(view)
    return Record((found | world.facts.asdict()).items())


def witness(world: World, evidence: Evidence) -> Json:
    """Return two SCMs that fit: gold, and another one, which answers a question differently."""
    asked = world.view.asked
    if asked is not None:
        value = simulated(candidate_of(world.formulas), asked)
        found = fitting(evidence, world.view.train, asked, 1 - value)
        return found and [_named(world.view, texts) for texts in (world.formulas, formulas(found))]
    other = _smallest_other(evidence, world.gold) or _flipped(world, evidence)
    if other is None:
        return None
    return [_named(world.view, texts) for texts in (world.formulas, other)]


def _smallest_other(evidence: Evidence, gold: Scm) -> tuple[str, ...] | None:
    """Return the smallest other SCM with at most as many parents as the catalogue has inputs."""
    reach = evidence.told.at_most(INPUTS)
    first = smallest(evidence_for(reach, evidence.rows))
    if first is not None and first != gold:
        return formulas(first)
    for roots in reach.root_sets():
        known = evidence_for(replace(reach, roots=roots), evidence.rows)
        for scm in islice(smallest_ones(known, 2, 2_000), 2):
            if scm != gold:
                return formulas(scm)
    return None


def _flipped(world: World, evidence: Evidence) -> tuple[str, ...] | None:
    """Return gold with one value changed on a pattern of non-descendants that was never seen."""
    told, gold, rows = evidence.told, world.gold, evidence.rows
    for v in members(gold.own):
        over = told.admissible[v] & ~descendants(gold.parents, v)
        if over.bit_count() > told.k:
            continue
        inputs = list(members(over))
        seen = seen_patterns(rows, v, inputs)[0]
        for at in range(1 << len(inputs)):
            if not seen >> at & 1:
                names = world.view.names
                literals = (
                    names[u] if at >> i & 1 else f"(not {names[u]})" for i, u in enumerate(inputs)
                )
                changed = f"(xor {world.formulas[v]} (and {' '.join(literals)}))"
                return (*world.formulas[:v], changed, *world.formulas[v + 1 :])
    return None


def _named(view: View, texts: tuple[str, ...]) -> dict[str, str]:
    return {view.names[v]: text for v, text in enumerate(texts) if text}


@lru_cache(maxsize=4096)
def right_answer(view: View) -> str:
    """Return the right answer to the question of a view."""
    if view.asked is None:
        raise ValueError("this problem asks for mechanisms")
    return answer(evidence_of(view), view.asked)


def evidence_of(view: View) -> Evidence:
    """Return the evidence of a view in its whole class."""
    return evidence_for(view.told, Rows.of(view.n, view.train))


def fewest_experiments(world: World) -> int:
    """Return a lower bound on the experiments after which one SCM can be left.

    Take a variable V with p gold parents. Let m variables, the parents included, not depend on V;
    all of them can come before V. Consider every set of k among the m that contains the parents.
    All its patterns must be seen while V is free. So each of the 2**p patterns of the parents needs
    rows that cover all pairs (triples …) of values of the other m − p variables. Their number is at
    least the size of the smallest covering array of strength k − p. The first world provides some
    of these rows, and each experiment provides as many again.
    """
    view, gold = world.view, candidate_of(world.formulas)
    units = view.train[0].size
    needed = 0
    for v in gold.order:
        parents = gold.parents[v].bit_count()
        before = (view.told.every & ~descendants(gold.parents, v)).bit_count() - 1
        strength = min(view.told.k, before) - parents
        rows = (1 << parents) * covering_rows(strength, before - parents)
        needed = max(needed, -(-rows // units) - len(view.train))
    return max(0, needed)


def covering_rows(strength: int, factors: int) -> int:
    """Return a lower bound on the rows of a binary covering array.

    The bound is exact up to strength 2: Katona (1973) and Kleitman and Spencer (1973) show that N
    rows cover all pairs of at most C(N − 1, ⌈N/2⌉) factors. For higher strengths it is 2**strength.

    >>> [covering_rows(2, factors) for factors in (2, 3, 4, 5, 10, 11)]
    [4, 4, 5, 6, 6, 7]
    """
    if strength <= 0:
        return 1
    if strength != 2:
        return 1 << strength
    rows = 4
    while comb(rows - 1, -(-rows // 2)) < factors:
        rows += 1
    return rows
