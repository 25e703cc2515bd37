"""Making the records: a pure function of source, salt and index."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, pairwise

from whybench.core.canonical import Record
from whybench.core.seeds import Stream
from whybench.families.replayscm.alternative import candidate_of, contrast
from whybench.families.replayscm.dilute import diluted
from whybench.families.replayscm.evidence import Evidence
from whybench.families.replayscm.fit import formulas, smallest_ones
from whybench.families.replayscm.generate import (
    Problem,
    covering_worlds,
    extra_worlds,
    sample_problem,
)
from whybench.families.replayscm.identify import identifying_worlds
from whybench.families.replayscm.latent import (
    ROOTS,
    Latent,
    Odds,
    observational,
    sample_latent,
    sample_world,
    signature,
)
from whybench.families.replayscm.params import FAMILY, LEVELS
from whybench.families.replayscm.separate import separating_worlds
from whybench.families.replayscm.source import Source, told_of
from whybench.families.replayscm.world import Disclosure, Rows, Scm, Table, scm_of

AUDITED = 50
"""How many of the smallest SCMs, and how many seeds of the structure learner, an audit looks at."""
LAB_SIZES = (6, 7, 8)
AUDITS: Mapping[str, Disclosure] = {"cex_ord": "ordered", "cex_hid": "hidden"}
"""Audited worlds, and the disclosure under which alternatives are looked for."""
MOST_CERTIFIED = 20
"""The most worlds of a certified problem."""


def made(kind: str, salt: str, index: int, wanted: str | None = None) -> Source:
    """Make a record from its coordinates; only the training worlds wanted, or all."""
    return _MAKERS[kind](salt, index, wanted)


def _matched(salt: str, index: int, wanted: str | None) -> Source:
    """A problem of the matched pools, with everything that is derived from it.

    An SCM is taken only if alternatives to its mechanisms can be asked for and if it can be
    identified, so that every suite is made from the same SCMs and the same held-out worlds.
    """
    for attempt in range(200):
        path = (FAMILY, "match", salt, index, attempt)
        source = _plain(sample_problem(*path), path)
        references: dict[Disclosure, tuple[str, ...] | None] = {
            told: _reference(source, told, Stream(*path, "reference", told))
            for told in AUDITS.values()
        }
        if None in references.values():
            continue
        certified = _certified(source, path)
        if certified is not None:
            worlds = Record([*_derived(source, path, wanted), *certified.items()])
            return replace(source, worlds=worlds, references=_balanced(source, references, index))
    raise RuntimeError("no SCM of two hundred can be taken: are the conditions contradictory?")


def _certified(source: Source, path: Sequence[str | int]) -> dict[str, tuple[Table, ...]] | None:
    """Return worlds that leave one SCM in the widest class, and thinner evidence of the same."""
    latent = source.latent
    worlds = identifying_worlds(latent, source.heldout, Stream(*path, "identifying"))
    if worlds is None or len(worlds) > MOST_CERTIFIED:
        return None
    told = told_of(latent, "hidden", ())
    found = {"cert": worlds}
    for bits in LEVELS:
        level = diluted(told, worlds, bits, Stream(*path, "bits", bits))
        if level is None:
            return None
        found |= {f"bits_{bits}": level.short, f"bits_{bits}_long": level.long}
    return found


DERIVED = ("ext", *AUDITS)
"""Training worlds of a matched problem that are made only when they are wanted."""


def _derived(source: Source, path: Sequence[str | int], wanted: str | None) -> Record:
    """Return the training worlds of a matched problem: as they are, more of them, audited."""
    problem = Problem(source.latent, source.worlds["base"], source.heldout)
    worlds = {"base": problem.train}
    audits = {name: told for name, told in AUDITS.items() if wanted in (None, name)}
    if audits or wanted == "ext":
        worlds["ext"] = (*problem.train, *extra_worlds(problem, Stream(*path, "extra")))
    if audits:
        covering = covering_worlds(problem, worlds["ext"], Stream(*path, "covering"))
    for name, disclosure in audits.items():
        worlds[name] = separating_worlds(
            told_of(source.latent, disclosure, ()),
            problem,
            worlds["ext"],
            covering,
            Stream(*path, "separating", disclosure),
            AUDITED,
        )
    return Record(worlds.items())


Maker = Callable[[str, int, str | None], Source]


def _single(kind: str) -> Maker:
    def maker(salt: str, index: int, _: str | None) -> Source:
        path = (FAMILY, kind, salt, index)
        return _plain(sample_problem(*path), path)

    return maker


def _plain(problem: Problem, path: Sequence[str | int]) -> Source:
    return Source(
        problem.latent,
        *_shown(problem.latent, path),
        problem.heldout,
        Record.of(base=problem.train),
    )


def _shown(
    latent: Latent, path: Sequence[str | int]
) -> tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]:
    """Return a display order and blocks, shuffled inside: neither tells of the order."""
    stream = Stream(*path, "shown")
    display = tuple(stream.shuffled(range(latent.n)))
    count = 2 + stream.below(2)
    cuts = sorted(stream.sample(range(ROOTS + 1, latent.n), count - 1))
    edges = [0, *cuts, latent.n]
    blocks = tuple(
        tuple(stream.shuffled(latent.order[start:end])) for start, end in pairwise(edges)
    )
    return display, blocks


def _reference(source: Source, disclosure: Disclosure, stream: Stream) -> tuple[str, ...] | None:
    """Return a reference that can be asked about, gold or the smallest other by a coin, or None."""
    gold, other = _candidates(source, disclosure)
    if other is None:
        return None
    reference = gold if stream.below(2) else other
    return reference if _can_ask(source, disclosure, reference) else None


def _balanced(
    source: Source, references: Mapping[Disclosure, tuple[str, ...] | None], index: int
) -> Record:
    """Return gold as the reference of every other problem, wherever that can be asked about."""
    found = {}
    for told, accepted in references.items():
        gold, other = _candidates(source, told)
        wanted = gold if index % 2 == 0 else other
        found[told] = wanted if _can_ask(source, told, wanted) else accepted
    return Record(found.items())


def _candidates(
    source: Source, disclosure: Disclosure
) -> tuple[tuple[str, ...], tuple[str, ...] | None]:
    """Return gold's formulas and those of the smallest other SCM that fits."""
    others = [scm for scm in _fitting(source, disclosure) if scm != scm_of(source.latent.formulas)]
    return source.latent.formulas, formulas(others[0]) if others else None


def _can_ask(source: Source, disclosure: Disclosure, reference: tuple[str, ...] | None) -> bool:
    """Tell whether setting a single variable can part a reference from some other SCM that fits."""
    if reference is None:
        return False
    fitting = [scm_of(source.latent.formulas), *_fitting(source, disclosure)]
    return any(separable(reference, scm) for scm in fitting if scm != scm_of(reference))


def _fitting(source: Source, disclosure: Disclosure) -> list[Scm]:
    """Return the smallest SCMs that fit the problem as it is."""
    told = told_of(source.latent, disclosure, source.blocks)
    evidence = Evidence(told, Rows.of(source.latent.n, source.worlds["base"]))
    return list(_smallest(evidence, 12))


def _smallest(evidence: Evidence, most: int) -> Iterator[Scm]:
    return islice(smallest_ones(evidence, most, 20_000), most)


def separable(reference: tuple[str, ...], other: Scm) -> bool:
    """Tell whether setting one variable can show a difference between two SCMs."""
    seen = contrast(other.n, candidate_of(reference), candidate_of(formulas(other)))
    return seen.pair_rate(*seen.best()) > 0


def _unseen(latent: Latent, train: Sequence[Table], stream: Stream) -> tuple[Table, ...] | None:
    """Draw held-out worlds with interventions that are not in training."""
    taken = {signature(world) for world in train}
    found: list[Table] = []
    for _ in range(400):
        world = sample_world(latent, stream, Odds())
        if signature(world) not in taken:
            taken.add(signature(world))
            found.append(world)
        if len(found) == 8:
            return tuple(found)
    return None


def _laboratory(salt: str, index: int, _: str | None) -> Source:
    """A hidden SCM to experiment on, seen once without intervention."""
    for attempt in range(1_000):
        path = (FAMILY, "lab", salt, index, attempt)
        stream = Stream(*path)
        latent = sample_latent(stream)
        seen = observational(latent)
        heldout = _unseen(latent, [seen], stream)
        if latent.n in LAB_SIZES and heldout is not None:
            return Source(latent, *_shown(latent, path), heldout, Record.of(lab=(seen,)))
    raise RuntimeError("no SCM of a thousand is of the laboratory's size")


_MAKERS: Mapping[str, Maker] = {
    "match": _matched,
    "ord": _single("ord"),
    "hid": _single("hid"),
    "lab": _laboratory,
}
