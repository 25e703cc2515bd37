"""Find references for Alternative-SCM: SCMs that fit and can be separated from another one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from whybench.causal.seeds import Stream
from whybench.families.replayscm.alternative import candidate_of, contrast
from whybench.families.replayscm.proof.evidence import Evidence
from whybench.families.replayscm.proof.fit import formulas, smallest_ones
from whybench.families.replayscm.world.generation.source import Source, told_of
from whybench.families.replayscm.world.world import Disclosure, Rows, Scm, scm_of

LOOKED_AT = 12
"""The number of smallest SCMs that fit to examine."""
STEPS = 20_000
"""The most steps of the search for them."""

Formulas = tuple[str, ...]


@dataclass(slots=True)
class Alternatives:
    """The smallest SCMs that fit a problem's original worlds, found on demand."""

    gold: Formulas
    disclosure: Disclosure
    _search: Iterator[Scm]
    _found: list[Scm] = field(default_factory=list)

    @classmethod
    def of(cls, source: Source, disclosure: Disclosure) -> Alternatives:
        """Look for alternatives to a problem's gold mechanisms under a disclosure."""
        told = told_of(source.latent, disclosure, source.blocks)
        evidence = Evidence(told, Rows.of(source.latent.n, source.worlds["base"]))
        search = islice(smallest_ones(evidence, LOOKED_AT, STEPS), LOOKED_AT)
        return cls(source.latent.formulas, disclosure, search)

    def __iter__(self) -> Iterator[Scm]:
        """Yield the SCMs, smallest first; gold may be among them."""
        at = 0
        while True:
            if at == len(self._found):
                more = next(self._search, None)
                if more is None:
                    return
                self._found.append(more)
            yield self._found[at]
            at += 1

    def other(self) -> Formulas | None:
        """Return the smallest SCM that is not gold."""
        gold = scm_of(self.gold)
        return next((formulas(scm) for scm in self if scm != gold), None)

    def reference(self, stream: Stream) -> Formulas | None:
        """Return gold or the other SCM at random as the reference; None if it cannot be asked."""
        other = self.other()
        if other is None:
            return None
        reference = self.gold if stream.below(2) else other
        return reference if self.can_ask(reference) else None

    def balanced(self, index: int, accepted: Formulas | None) -> Formulas | None:
        """Return gold as the reference of every second problem, if it can be asked about."""
        wanted = self.gold if index % 2 == 0 else self.other()
        return wanted if wanted is not None and self.can_ask(wanted) else accepted

    def can_ask(self, reference: Formulas) -> bool:
        """Return whether setting one variable can separate a reference from another fitting SCM."""
        asked = scm_of(reference)
        gold = scm_of(self.gold)
        if gold != asked and separable(reference, gold):
            return True
        return any(separable(reference, scm) for scm in self if scm != asked)


def separable(reference: Formulas, other: Scm) -> bool:
    """Return whether setting one variable can show a difference between two SCMs."""
    seen = contrast(other.n, candidate_of(reference), candidate_of(formulas(other)))
    return any(seen.differences)
