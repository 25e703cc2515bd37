"""CausaLab: experiments on one crystal, the frequency of another, and the mechanism behind both."""

from whybench.families.causalab.family import CausaLab

FAMILY = CausaLab()
