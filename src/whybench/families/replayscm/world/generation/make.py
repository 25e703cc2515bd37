"""Generate the records: a pure function of source, seed and index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from whybench.causal.canonical import Record
from whybench.causal.seeds import Stream
from whybench.families.replayscm.parameters import FAMILY, LEVELS
from whybench.families.replayscm.proof.askable import Alternatives
from whybench.families.replayscm.proof.evidence import Evidence
from whybench.families.replayscm.world.generation.cover import covering_worlds, extra_worlds
from whybench.families.replayscm.world.generation.dilute import Dilution
from whybench.families.replayscm.world.generation.generate import Problem, sample_problem
from whybench.families.replayscm.world.generation.identify import identifying_worlds
from whybench.families.replayscm.world.generation.questions import matched_questions
from whybench.families.replayscm.world.generation.rewindable_rng import Tape
from whybench.families.replayscm.world.generation.separate import separating_worlds
from whybench.families.replayscm.world.generation.source import Source, told_of
from whybench.families.replayscm.world.gold_scm import (
    ROOTS,
    Latent,
    Odds,
    observational,
    sample_latent,
    sample_world,
    signature,
)
from whybench.families.replayscm.world.world import Disclosure, Rows, Table

AUDITED = 50
"""The number of smallest SCMs, and of seeds of the structure learner, that an audit examines."""
LAB_SIZES = (6, 7, 8)
SMALL_SIZES = (4, 5)
SMALL_BITS = (1, 6)
"""Bounds of the bits that the first world of a small laboratory leaves open."""
AUDITS: Mapping[str, Disclosure] = {"cex_ord": "ordered", "cex_hid": "hidden"}
"""Audited worlds → the disclosure under which the audit searches for alternatives."""
MOST_CERTIFIED = 20
"""The most worlds of a certified problem."""


def made(kind: str, seed: str, index: int, wanted: str | None = None) -> Source:
    """Generate a record from its coordinates, with the wanted training worlds or with all."""
    return _MAKERS[kind](seed, index, wanted)


def _matched(seed: str, index: int, wanted: str | None) -> Source:
    """Return a problem of the matched pools, with everything that is derived from it.

    An SCM is accepted only if there are alternatives to ask for and if it can be identified. So
    every suite is made from the same SCMs and the same held-out worlds.
    """
    discarded: Counter[str] = Counter()
    for attempt in range(200):
        path = (FAMILY, "match", seed, index, attempt)
        source = _plain(sample_problem(*path), path)
        discarded.update(source.discarded.asdict())
        alternatives = [Alternatives.of(source, told) for told in AUDITS.values()]
        references = [
            each.reference(Stream(*path, "reference", each.disclosure)) for each in alternatives
        ]
        if None in references:
            discarded["nothing to ask"] += 1
            continue
        certified, reason = _certified(source, path)
        if certified is None:
            discarded[reason] += 1
            continue
        found = {
            each.disclosure: each.balanced(index, accepted)
            for each, accepted in zip(alternatives, references, strict=True)
        }
        return replace(
            source,
            worlds=Record([*_derived(source, path, wanted), *certified.items()]),
            references=Record(found.items()),
            discarded=Record(sorted(discarded.items())),
        )
    raise RuntimeError("None of 200 SCMs meets the conditions. Check that they are consistent.")


def _certified(
    source: Source, path: Sequence[str | int]
) -> tuple[dict[str, tuple[Table, ...]] | None, str]:
    """Return worlds that leave one SCM in the widest class, and thinned forms of them.

    If there are none, return the reason.
    """
    latent = source.latent
    worlds = identifying_worlds(latent, source.heldout, Tape(*path, "identifying"))
    if worlds is None or len(worlds) > MOST_CERTIFIED:
        return None, "not identified"
    found = {"cert": worlds}
    dilution = Dilution(told_of(latent, "hidden", ()), worlds)
    for bits in LEVELS:
        level = dilution.to(bits, Tape(*path, "bits", bits))
        if level is None:
            return None, "bits not met"
        found |= {f"bits_{bits}": level.short, f"bits_{bits}_long": level.long}
    return found, ""


DERIVED = ("ext", *AUDITS)
"""Training worlds of a matched problem that are generated only on demand."""


def _derived(source: Source, path: Sequence[str | int], wanted: str | None) -> Record:
    """Return the training worlds of a matched problem: original, extended, audited."""
    problem = Problem(source.latent, source.worlds["base"], source.heldout)
    worlds = {"base": problem.train}
    audits = {name: told for name, told in AUDITS.items() if wanted in (None, name)}
    if audits or wanted == "ext":
        worlds["ext"] = (*problem.train, *extra_worlds(problem, Tape(*path, "extra")))
    if audits:
        covering = covering_worlds(problem, worlds["ext"], Tape(*path, "covering"))
    for name, disclosure in audits.items():
        worlds[name] = separating_worlds(
            told_of(source.latent, disclosure, ()),
            problem,
            worlds["ext"],
            covering,
            Tape(*path, "separating", disclosure),
            AUDITED,
        )
    return Record(worlds.items())


Maker = Callable[[str, int, str | None], Source]


def _single(kind: str) -> Maker:
    def maker(seed: str, index: int, _: str | None) -> Source:
        path = (FAMILY, kind, seed, index)
        return _plain(sample_problem(*path), path)

    return maker


def _plain(problem: Problem, path: Sequence[str | int]) -> Source:
    return Source(
        problem.latent,
        *_shown(problem.latent, path),
        problem.heldout,
        Record.of(base=problem.train),
        discarded=problem.discarded,
    )


def _shown(
    latent: Latent, path: Sequence[str | int]
) -> tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]:
    """Return a display order and blocks, shuffled inside; neither reveals the order."""
    stream = Stream(*path, "shown")
    display = tuple(stream.shuffled(range(latent.n)))
    count = 2 + stream.below(2)
    places = range(ROOTS + 1, latent.n)
    cuts = sorted(stream.sample(places, min(count - 1, len(places))))
    edges = [0, *cuts, latent.n]
    blocks = tuple(
        tuple(stream.shuffled(latent.order[start:end])) for start, end in pairwise(edges)
    )
    return display, blocks


def _unseen(latent: Latent, train: Sequence[Table], tape: Tape) -> tuple[Table, ...] | None:
    """Draw held-out worlds with interventions that are not in training."""
    taken = {signature(world) for world in train}
    found: list[Table] = []
    for _ in range(400):
        world = sample_world(latent, tape, Odds())
        if signature(world) not in taken:
            taken.add(signature(world))
            found.append(world)
        if len(found) == 8:
            return tuple(found)
    return None


def _laboratory(seed: str, index: int, _: str | None) -> Source:
    """Return a hidden SCM to experiment on, with one world without intervention."""
    discarded: Counter[str] = Counter()
    for attempt in range(1_000):
        path = (FAMILY, "lab", seed, index, attempt)
        tape = Tape(*path)
        latent = sample_latent(tape)
        seen = observational(latent)
        heldout = _unseen(latent, [seen], tape)
        if latent.n not in LAB_SIZES:
            discarded["size"] += 1
        elif heldout is None:
            discarded["held-out worlds"] += 1
        else:
            why = Record(sorted(discarded.items()))
            worlds = Record.of(lab=(seen,))
            return Source(latent, *_shown(latent, path), heldout, worlds, discarded=why)
    raise RuntimeError("None of 1,000 SCMs has a size that the laboratory uses.")


def _scored(worlds: Sequence[Table], v: int) -> int:
    """Return in how many worlds a variable is not a target, so that it is scored."""
    return sum(not world.targets >> v & 1 for world in worlds)


def _small(seed: str, index: int, _: str | None) -> Source:
    """Return a laboratory with few variables, whose first world leaves few bits open."""
    discarded: Counter[str] = Counter()
    low, high = SMALL_BITS
    for attempt in range(1_000):
        path = (FAMILY, "small", seed, index, attempt)
        tape = Tape(*path)
        latent = sample_latent(tape, SMALL_SIZES)
        seen = observational(latent)
        heldout = _unseen(latent, [seen], tape)
        told = told_of(latent, "hidden", ())
        if heldout is None or any(_scored(heldout, v) < 2 for v in latent.own):
            discarded["held-out worlds"] += 1
        elif not low <= Evidence(told, Rows.of(latent.n, (seen,))).bits <= high:
            discarded["bits"] += 1
        else:
            why = Record(sorted(discarded.items()))
            worlds = Record.of(lab=(seen,))
            return Source(latent, *_shown(latent, path), heldout, worlds, discarded=why)
    raise RuntimeError("None of 1,000 SCMs leaves as many bits open as asked for.")


def _questioned(seed: str, index: int, _: str | None) -> Source:
    """Return a problem with three matched questions about a further row; nothing is held out."""
    discarded: Counter[str] = Counter()
    for attempt in range(1_000):
        path = (FAMILY, "rows", seed, index, attempt)
        source = _plain(sample_problem(*path), path)
        discarded.update(source.discarded.asdict())
        evidence = Evidence(
            told_of(source.latent, "hidden", ()), Rows.of(source.latent.n, source.worlds["base"])
        )
        asked = matched_questions(evidence, source.worlds["base"], Stream(*path, "questions"))
        if asked:
            why = Record(sorted(discarded.items()))
            return replace(source, heldout=(), asked=asked, discarded=why)
        discarded["no matched questions"] += 1
    raise RuntimeError("None of 1,000 problems has matched questions.")


_MAKERS: Mapping[str, Maker] = {
    "match": _matched,
    "ord": _single("ord"),
    "hid": _single("hid"),
    "lab": _laboratory,
    "small": _small,
    "rows": _questioned,
}
