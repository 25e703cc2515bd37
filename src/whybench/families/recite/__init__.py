"""ReCITE: read a long document and return the causal graph that it describes."""

from whybench.families.recite.family import ReCITE

FAMILY = ReCITE()
