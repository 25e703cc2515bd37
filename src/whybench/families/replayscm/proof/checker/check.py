"""Check a stored certificate with an independent implementation; see `recount`.

It shares no code with the prover, not even the parser of formulas. Only what the certificate says
of the exact agent is checked by running that agent again; its experiments and its answer are then
judged here. `UNVERIFIED_CLAIMS` lists what is not checked.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import comb, log2
from typing import Any, NamedTuple

from whybench.causal.canonical import Json, thaw
from whybench.episode.action import Action
from whybench.episode.certificate import Certificate
from whybench.episode.instance import Instance
from whybench.families.claims import differences, unknown
from whybench.families.replayscm import FAMILY
from whybench.families.replayscm.parameters import BUDGET, in_lab
from whybench.families.replayscm.proof.checker.parsed_scm import ParsedScm, parse_scm, replayed
from whybench.families.replayscm.proof.checker.recount import (
    Recount,
    admissible,
    root_sets,
    rows_of,
)
from whybench.families.replayscm.rules import ReplayEpisode
from whybench.families.replayscm.world.generation.record_pools import lab_of
from whybench.families.replayscm.world.world import Table, View, World

UNVERIFIED_CLAIMS: Mapping[str, str] = {
    "witness: smallest": "to show that no other SCM that fits has smaller formulas would need the "
    "prover's search; the check is that the second SCM fits and differs from gold",
    "facts.pattern_coverage: hidden order": "windows follow the generator's order, which only an "
    "ordered problem shows; elsewhere the figure is compared with the generator's own",
}
"""Claim → why it is not checked, and what is checked instead."""

_AMONG = {
    "ordered": "earlier variables",
    "block": "variables of the same or an earlier block",
    "hidden": "all other variables",
    "roots": "all other variables",
}


def flaws(instance: Instance, world: World, certificate: Certificate) -> list[str]:
    """Return the errors of a certificate; stored experiments are run again."""
    if certificate.instance != instance.id:
        return [f"instance: it is for {certificate.instance}, not for {instance.id}"]
    stored = certificate.to_json()
    view, lab = world.view, in_lab(instance)
    train: tuple[Table, ...] = view.train
    if lab:
        settings = stored["facts"].get("exact_worlds", [])
        budget = instance.parameters.get("budget", BUDGET)
        seen = _repeated(ReplayEpisode(instance, world, 1, lab_of(instance, budget)), settings)
        if isinstance(seen, str):
            return [f"facts.exact_worlds: {seen}"]
        made = _exact_agent(instance)
        if made.settings != settings:
            return ["facts.exact_worlds: the exact agent runs other experiments"]
        train = (*train, *seen)
    names, allowed = view.names, admissible(view)
    gold = parse_scm(names, {names[v]: text for v, text in enumerate(world.formulas) if text})
    rows, held = rows_of(train), rows_of(world.heldout)
    recount = Recount(view.n, view.told.k, allowed, rows)
    counts = {roots: count for roots in root_sets(view) if (count := recount.count(roots))}
    total = sum(counts.values())
    found = [f"gold: {flaw}" for flaw in gold.misfits(view, allowed, (*train, *world.heldout))]
    if not total:
        return [*found, "bits: no SCM of the class fits the training worlds"]

    open_rows = {row for roots in counts for row in recount.undetermined(roots, held)}
    expected = {
        "hypotheses": _hypotheses(view),
        "status": "proven",
        "identified": total == 1,
        "bits": log2(total),
        "fewest": _fewest(world, gold, allowed) if lab else 0,
        "exact_steps": len(train) - len(view.train),
        "minimax": None,
        "minimax_upper": None,
    }
    if lab and total > 1:
        guess = parse_scm(names, made.mechanisms)
        right = not list(guess.misfits(view, allowed, (*train, *world.heldout)))
        expected |= {"best_score": float(right), "solvable": False}
    else:
        best = view.task != "alternative" or _separable(view, recount)
        expected |= {"best_score": float(best), "solvable": best}
    facts = _facts(world, gold, train) | {
        "heldout_rows_determined": 1 - len(open_rows) / len(held) if held else 1.0,
        "heldout_determined": float(not open_rows),
    }
    values: set[int] = set()
    if view.asked is not None:
        values = {value for roots in counts for value in recount.cell(roots, view.asked)}
        facts["answer"] = "cannot" if len(values) == 2 else "yes" if 1 in values else "no"
        expected["identified"] = len(values) == 1
    if lab:
        facts["exact_worlds"] = stored["facts"].get("exact_worlds")
    found += differences(stored, expected) + differences(stored["facts"], facts, "facts.")
    found += unknown(stored["facts"], facts, "facts.")
    several = total if view.asked is None else len(values)
    return found + _witness_flaws(view, gold, stored["witness"], allowed, train, several)


class _Made(NamedTuple):
    """What the exact agent did in the laboratory."""

    settings: list[str]
    mechanisms: Mapping[str, str]


def _exact_agent(instance: Instance) -> _Made:
    """Run the exact agent again, because the certificate says what it did."""
    trace = FAMILY.exact_run(instance)
    settings = [step.args["setting"] for step in FAMILY.experiments(trace)]
    return _Made(settings, json.loads(trace.actions[-1].args["answer"])["mechanisms"])


def _repeated(episode: ReplayEpisode, settings: Json) -> tuple[Table, ...] | str:
    """Run the stored experiments again; return their worlds, or what is wrong with them."""
    if not isinstance(settings, Sequence):
        return f"{settings!r} is no list of experiments"
    for setting in settings:
        observation = episode.step(Action.of("experiment", setting=setting))
        if observation.is_error:
            return f"experiment {setting!r} is refused"
    return episode.seen


def _hypotheses(view: View) -> str:
    told = view.told
    known = "unknown" if view.disclosure == "roots" else "known"
    bound = "any number of" if told.k >= view.n - 1 else f"at most {told.k}"
    return (
        f"acyclic Boolean SCMs on {view.n} variables with {told.root_count} {known} roots, "
        f"{bound} essential parents among {_AMONG[view.disclosure]}"
    )


def _separable(view: View, recount: Recount) -> bool:
    """Return whether setting one variable can separate the reference from another SCM that fits.

    Such an SCM fits the worlds and does not replay what the reference gives under the experiment.
    """
    names = view.names
    reference = parse_scm(names, {names[v]: t for v, t in enumerate(view.reference) if t})
    roots = [v for v in range(view.n) if reference.roots >> v & 1]
    given = [
        sum((value >> i & 1) << root for i, root in enumerate(roots))
        for value in range(1 << len(roots))
    ]
    tables = []
    for bit in (1 << v for v in range(view.n)):
        for rows in ([row | bit for row in given], [row & ~bit for row in given]):
            table = Table.of(view.n, bit, "hard_constant", rows)
            tables.append(replace(table, columns=replayed(reference, table)))
    return bool(recount.undetermined(reference.roots, rows_of(tables)))


def _facts(world: World, gold: ParsedScm, train: Sequence[Table]) -> dict[str, Json]:
    """Return figures of the problem, each from its definition."""
    own = [v for v in range(world.view.n) if not gold.roots >> v & 1]
    sizes = [gold.mechanisms[v].size for v in own]
    depths = [gold.mechanisms[v].depth for v in own]
    found = {
        "n": world.view.n,
        "k": world.view.told.k,
        "endogenous": len(own),
        "train_worlds": len(train),
        "train_rows": sum(table.size for table in train),
        "heldout_worlds": len(world.heldout),
        "heldout_rows": sum(table.size for table in world.heldout),
        "ast_min": min(sizes),
        "ast_max": max(sizes),
        "ast_mean": sum(sizes) / len(sizes),
        "depth_min": min(depths),
        "depth_max": max(depths),
        "parents_mean": sum(gold.parents(v).bit_count() for v in own) / len(own),
    }
    if world.facts.get("pattern_coverage") is not None:
        found |= thaw(world.facts)
        if world.view.order and not world.view.released:
            seen, patterns = _coverage(world.view, own)
            found |= {"pattern_coverage": seen / patterns, "patterns_full": seen == patterns}
    return found


def _coverage(view: View, own: Sequence[int]) -> tuple[int, int]:
    """Count the patterns of the last k variables before each one: those seen, and all."""
    seen = total = 0
    for v in own:
        at = view.order.index(v)
        window = view.order[max(0, at - view.told.k) : at]
        rows = [row for targets, row in rows_of(view.train) if not targets >> v & 1]
        seen += len({tuple(row >> u & 1 for u in window) for row in rows})
        total += 1 << len(window)
    return seen, total


def _fewest(world: World, gold: ParsedScm, allowed: Sequence[int]) -> int:
    """Return a lower bound on the experiments: with fewer, more than one SCM is left.

    Let V have m gold parents. Let Q contain them and further admissible variables that do not
    depend on V, k in all. If a pattern of Q is not seen with V free, the mechanism can have either
    value there. So for each of the 2^m patterns of the parents, the other variables must show all
    patterns of every k - m among them: a covering array. The given worlds already contain some of
    its rows.
    """
    view = world.view
    given, units = sum(table.size for table in view.train), view.train[0].size
    most = 0
    for v in range(view.n):
        if gold.roots >> v & 1:
            continue
        parents = gold.parents(v)
        others = (allowed[v] & ~gold.descendants(v) & ~parents).bit_count()
        strength = min(view.told.k - parents.bit_count(), others)
        rows = _covering(strength, others) << parents.bit_count()
        most = max(most, -(-(rows - given) // units))
    return most


def _covering(strength: int, columns: int) -> int:
    """Return a lower bound on the rows that show all patterns of any `strength` binary columns.

    For two columns it is exact (Kleitman and Spencer 1973). One more column at least doubles it.
    """
    if strength < 2:
        return 1 << strength
    rows = 4
    while comb(rows - 1, rows // 2 - 1) < columns - (strength - 2):
        rows += 1
    return rows << strength - 2


def _witness_flaws(
    view: View,
    gold: ParsedScm,
    witness: Json,
    allowed: Sequence[int],
    train: Sequence[Table],
    total: int,
) -> list[str]:
    """Return the errors of the pair that shows that more than one SCM fits."""
    if total == 1:
        return [] if witness is None else ["witness: a pair is stored, but nothing is open"]
    if not isinstance(witness, list) or len(witness) != 2:
        return [f"witness: {witness!r} is no pair, though {total} SCMs or answers fit"]
    return list(_pair_flaws(view, gold, witness, allowed, train))


def _pair_flaws(
    view: View, gold: ParsedScm, pair: Sequence[Any], allowed: Sequence[int], train: Sequence[Table]
) -> Iterator[str]:
    try:
        first, second = (parse_scm(view.names, formulas) for formulas in pair)
    except (ValueError, AttributeError) as error:
        yield f"witness: it cannot be read ({error})"
        return
    if not first.same(gold):
        yield "witness: the first SCM is not gold"
    if second.same(gold):
        yield "witness: the second SCM is gold again"
    if view.asked is not None:
        asked, n = view.asked, view.n
        further = Table.of(n, asked.targets, "hard_constant", [asked.row])
        cells = [replayed(parsed, further)[asked.variable] for parsed in (first, second)]
        if cells[0] == cells[1]:
            yield "witness: both SCMs give the asked cell the same value"
    for which, parsed in (("first", first), ("second", second)):
        for flaw in parsed.misfits(view, allowed, train):
            yield f"witness: the {which} SCM: {flaw}"
