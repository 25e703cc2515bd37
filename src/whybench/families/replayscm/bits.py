"""What the evidence leaves open, in bits: the logarithm of the number of SCMs that fit."""

from __future__ import annotations

from whybench.families.replayscm.certify import evidence_of
from whybench.families.replayscm.params import POOLS
from whybench.families.replayscm.rules import ReplayEpisode


def bits_left(episode: ReplayEpisode) -> float:
    """Return log2 of the SCMs of the told class that replay every world seen so far.

    It is the certificate's count, made at every step of a laboratory. Elsewhere the agent has no
    experiments, and nothing that it does leaves less open: 0.
    """
    lab = POOLS[episode.instance.suite].worlds == "lab"
    return evidence_of(episode.view).bits if lab else 0.0
