"""CausalLink: does one thing drive another? Intervene, watch, answer."""

from whybench.families.causallink.family import CausalLink

FAMILY = CausalLink()
