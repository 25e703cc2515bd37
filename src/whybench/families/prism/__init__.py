"""Prism: one hidden system in several wordings, and three answers: yes, no, cannot be known."""

from whybench.families.prism.family import Prism

FAMILY = Prism()
