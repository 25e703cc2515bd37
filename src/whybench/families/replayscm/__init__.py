"""ReplaySCM: executable Boolean mechanisms from intervention worlds."""

from whybench.families.replayscm.family import ReplaySCM

FAMILY = ReplaySCM()
