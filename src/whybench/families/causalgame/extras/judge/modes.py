"""Failure modes: names for how a run failed, from the six criteria and survival.

There are two published rules. Neither says what happens if its cases overlap or leave gaps. Here
the cases are tried in order, and the first that fits is the mode. If none fits, the mode is `none`
(or `other`), so a run has exactly one mode. Both rules use only the six criteria, which the full
rubric also contains, so a mode means the same under either rubric. Verdicts may be means of several
judges.

Our decisions where the rules are silent:

- mode C's "9 of 22" is that share of the six criteria's 16 points, about 6.5;
- "lacks causal reasoning" (D): less than half of that dimension's points;
- "uses data" (D): at least half of that dimension's points;
- "weak in all dimensions" (E): no dimension above half of its points;
- in the later rule, good experimental design is a verdict of at least 0.5 on ED1, causal reasoning
  is any point on CR1, CR2 or CR3, and a mechanism is a verdict of at least 0.5 on CR1.

Winning runs also get modes, because a design can win for reasons that its author does not know.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from whybench.families.causalgame.extras.judge.rubric import graded, rubric

Mode = Literal["A", "B", "C", "D", "E", "none"]
LaterMode = Literal["A", "B", "C", "D", "other"]

HIGH_RUBRIC = 9 / 22
"""Share of the rubric's maximum at which a report counts as good."""
LOW_SURVIVAL = 0.5
HALF = 0.5


def mode(six: Mapping[str, float], survival_rate: float) -> Mode:
    """Return the paper's mode A–E.

    A: no causal reasoning, no experiments. B: experiments, no causal reasoning. C: a good report
    with reflection, and yet low survival. D: data without causal reasoning. E: a little of each.

    >>> mode(dict(CR1=0, CR2=0, CR3=0, ED1=1, RQ1=0, DU1=1), 0.3)
    'B'
    """
    found = graded(rubric("six"), six)
    points, share = found.dimensions, found.dimensions_normalised
    if points["causal_reasoning"] == 0:
        return "A" if points["experimental_design"] < 1 else "B"
    reflected = points["reflection_quality"] >= 1
    if found.normalised >= HIGH_RUBRIC and reflected and survival_rate < LOW_SURVIVAL:
        return "C"
    if share["causal_reasoning"] < HALF and share["data_usage"] >= HALF:
        return "D"
    return "E" if max(share.values()) <= HALF else "none"


def later_mode(six: Mapping[str, float]) -> LaterMode:
    """Return the mode A–D of the later rule.

    A: neither good experiments nor causal reasoning. B: good experiments, no mechanism. C: data
    tied to conclusions, no mechanism. D: some of everything.

    >>> later_mode(dict(CR1=1, CR2=0, CR3=0, ED1=0.5, RQ1=1, DU1=1))
    'D'
    """
    experiments, mechanism = six["ED1"] >= HALF, six["CR1"] >= HALF
    reasoning = six["CR1"] + six["CR2"] + six["CR3"] > 0
    if not (experiments or reasoning):
        return "A"
    if experiments and not mechanism:
        return "B"
    if six["DU1"] >= 1 and not mechanism:
        return "C"
    return "D" if reasoning and six["ED1"] * six["DU1"] * six["RQ1"] > 0 else "other"
