"""One judge's verdict on a case: its entries, those by rule, and the figures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from whybench.families.recite.extras.judge.case import Case
from whybench.families.recite.extras.judge.elements import by_rule, elements
from whybench.families.recite.extras.judge.labels import PASSES, no_counterpart
from whybench.families.recite.extras.judge.score import Judged, figures, histogram
from whybench.judge.labels import Entry, Given


@dataclass(frozen=True, slots=True)
class Verdict:
    """The figures from one judge's labels."""

    values: Mapping[str, float]
    """Figures by name; NaN where an incomplete pass leaves one open."""
    histogram: Mapping[str, Mapping[str, int]]
    """How often the judge gave each label, under `pass.field`; without entries by rule."""
    incomplete: tuple[str, ...]


def complete(case: Case, given: Given) -> Judged:
    """Return the entries of each pass in order; a pass must have every element exactly once."""
    return {name: _entries(case, name, given.get(name, {})) for name in PASSES}


def verdict(case: Case, given: Given) -> Verdict:
    """Score a judge's labels; a missing or too large answer scores 0 by rule."""
    judged = complete(case, given)
    values = figures(judged, len(case.gold_nodes))
    values |= {
        "withheld": 0.0 if case.too_large else float(len(elements(case).lost_nodes)),
        "judged_repeated": float(case.repeated),
        "judged_missing": float(not case.answered),
        "judged_too_large": float(case.too_large),
    }
    said = {name: tuple((given.get(name) or {}).values()) for name in PASSES}
    lacking = tuple(name for name in PASSES if judged[name] is None)
    return Verdict(values, histogram(said), lacking)


def mean_values(verdicts: Sequence[Verdict]) -> dict[str, float]:
    """Return the mean of each figure over the judges that have it; `incomplete` is their sum."""
    found = {}
    for name in verdicts[0].values:
        known = [v.values[name] for v in verdicts if not math.isnan(v.values[name])]
        found[name] = sum(known) / len(known) if known else math.nan
    return found | {"incomplete": sum(v.values["incomplete"] for v in verdicts)}


def _entries(case: Case, name: str, said: Mapping[int, Entry] | None) -> list[Entry] | None:
    if said is None:
        return None
    ruled = by_rule(case, name)
    numbers = range(1, elements(case).count(name) + 1)
    twice = sorted(set(said) & set(ruled))
    odd = sorted((set(said) | set(ruled)) ^ set(numbers))
    if twice or odd:
        raise ValueError(
            f"{name} must have each of its {len(numbers)} elements once, see {(twice + odd)[0]}: "
            "ask about what `batches` says, and give None for a pass that stayed unreadable"
        )
    none = no_counterpart(name) if elements(case).unmatched(name) else {}
    return [{**said[n], **none} if n in said else ruled[n] for n in numbers]
