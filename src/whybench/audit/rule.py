"""The written rule of an audit: PASS, WEAK or FAIL.

`RULE` holds all conditions. A suite gets FAIL if a condition is broken whose `broken` is FAIL;
otherwise WEAK if any condition is broken; otherwise PASS. So PASS always means that every limit is
kept.

A family may exempt a suite from the limits and give the reason in one word: `enumerated` if the
suite is one fixed list of cases, which memory alone can solve; `warm-up` if it is small on purpose.
An exempt suite carries this label beside its verdict. The label does not turn a broken limit into
PASS, because a reader would then believe that guessers fail on it. It changes one thing: what
memory gains makes the suite WEAK, not FAIL, since a fixed list is remembered by design. Wrong
claims, leaks, a prompt that misleads and a guesser above the exact agent are FAIL for every suite.

A suite is WEAK "by size" if every estimate keeps its limit and only the bounds of intervals do not:
a larger audit could pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from whybench.audit.limits import Limits

Verdict = Literal["PASS", "WEAK", "FAIL"]
VERDICTS: tuple[Verdict, ...] = ("PASS", "WEAK", "FAIL")
"""From best to worst."""
LEVEL = 0.95
"""Confidence of the exact agent's interval, and of all intervals of the battery together."""
SLACK = 0.05
"""How far an upper bound may be above its limit, and how much memory may gain."""
MEMORY = "memory"
"""The guesser that remembers a training seed. `Limits.prior` only knows the generator."""


@dataclass(frozen=True, slots=True)
class Measured:
    """The score of one agent on the audited instances."""

    name: str
    experiments: int | None
    """The most experiments that it runs; None: as many as the budget allows."""
    estimate: float
    low: float
    high: float
    n: int
    counts: bool = True
    """Whether verdict and floor use it."""
    reason: str = ""
    """Why it does not count."""
    metric: str = ""
    """The metric; empty for the headline."""


@dataclass(frozen=True, slots=True)
class Findings:
    """What an audit of a suite found, apart from scores."""

    wrong_claims: tuple[str, ...] = ()
    leaks: tuple[str, ...] = ()
    obedient: tuple[str, ...] = ()
    """Where an agent that follows the prompt to the letter misses the ceiling."""
    memory_gain: tuple[float, float] | None = None
    """How much `memory` is above `prior_only`: estimate and lower bound."""
    above_exact: tuple[str, ...] = ()
    """Guessers with a higher score than the exact agent on the same instances."""
    no_battery: bool = False
    """Whether the family declares no battery, so that only its simplest agents guessed."""


@dataclass(frozen=True, slots=True)
class Case:
    """All that the rule looks at."""

    suite: str
    limits: Limits
    exact: Measured
    guessers: tuple[Measured, ...]
    findings: Findings = field(default_factory=Findings)

    @property
    def label(self) -> str:
        """Why the suite is exempt from the limits; empty if it is not."""
        return self.limits.exempt.get(self.suite, "")

    @property
    def battery(self) -> list[Measured]:
        """The guessers that count, on the headline."""
        return [one for one in self.guessers if one.counts and not one.metric]

    @property
    def best(self) -> Measured | None:
        """The floor: the guesser that counts with the highest score; of equal ones, the last."""
        return max(reversed(self.battery), key=lambda one: one.estimate, default=None)

    def limit(self, one: Measured) -> float:
        """Return the limit of a guesser."""
        return self.limits.of_guesser(one.name, one.experiments, self.exact.estimate)


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition of the rule."""

    meaning: str
    broken: Verdict
    """The verdict if the condition is broken."""
    breaches: Callable[[Case], Iterator[str]]
    """Says where it is broken."""
    if_exempt: Verdict | None = None
    """The verdict for a suite that is exempt; None: the same."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A verdict with its reasons."""

    verdict: Verdict
    reasons: tuple[str, ...] = ()
    label: str = ""
    """Why the suite is exempt from the limits."""
    by_size: bool = False
    """Whether all estimates keep the limits, so that more instances could give PASS."""


def judged(case: Case) -> Judged:
    """Apply the rule: the verdict is that of the worst broken condition."""
    verdict: Verdict = "PASS"
    reasons: list[str] = []
    for condition in RULE:
        if found := list(condition.breaches(case)):
            reasons += found
            broken = condition.broken
            if case.label and condition.if_exempt is not None:
                broken = condition.if_exempt
            verdict = worse(verdict, broken)
    by_size = verdict == "WEAK" and not any(
        True for condition in RULE for _ in condition.breaches(_without_intervals(case))
    )
    return Judged(verdict, tuple(reasons), case.label, by_size)


def _without_intervals(case: Case) -> Case:
    def point(one: Measured) -> Measured:
        return replace(one, low=one.estimate, high=one.estimate)

    return replace(case, exact=point(case.exact), guessers=tuple(map(point, case.guessers)))


def in_doubt_kept(case: Case) -> Case:
    """Return the case in the best light that its intervals allow, for samples of small size.

    Few instances give wide intervals, which keep no limit. In this light a condition is broken only
    if the intervals exclude that it is kept.
    """
    guessers = tuple(replace(one, estimate=one.low, high=one.low) for one in case.guessers)
    exact = replace(case.exact, estimate=case.exact.high, low=case.exact.high)
    above = {one.name for one in guessers if one.estimate > exact.estimate}
    findings = replace(
        case.findings,
        above_exact=tuple(name for name in case.findings.above_exact if name in above),
    )
    return replace(case, exact=exact, guessers=guessers, findings=findings)


def worse(first: Verdict, second: Verdict) -> Verdict:
    """Return the worse of two verdicts.

    >>> worse("PASS", "WEAK")
    'WEAK'
    """
    return max(first, second, key=VERDICTS.index)


def corrected_level(battery: Sequence[object], level: float = LEVEL) -> float:
    """Return Bonferroni's level of each interval, so that all hold together.

    >>> round(corrected_level(range(10)), 4)
    0.995
    """
    return 1 - (1 - level) / max(1, len(battery))


def _wrong_claims(case: Case) -> Iterator[str]:
    yield from (f"wrong claim: {one}" for one in case.findings.wrong_claims)


def _leaks(case: Case) -> Iterator[str]:
    yield from (f"leak: {one}" for one in case.findings.leaks)


def _obedient(case: Case) -> Iterator[str]:
    yield from (f"prompt and ceiling disagree: {one}" for one in case.findings.obedient)


def _above_exact(case: Case) -> Iterator[str]:
    yield from (f"{one} scores higher than exact" for one in case.findings.above_exact)


def _memory(case: Case) -> Iterator[str]:
    gain, low = case.findings.memory_gain or (0.0, 0.0)
    if gain > SLACK and low > 0:
        yield f"memory gains {gain:.3f} over {case.limits.prior} (lower bound {low:.3f})"


def _battery(case: Case) -> Iterator[str]:
    if case.findings.no_battery:
        yield "the family declares no battery, so only its simplest agents guessed"


# A bound that is not a number keeps no limit, so each test asks whether the limit is kept.


def _within_limits(case: Case) -> Iterator[str]:
    for one in case.battery:
        yield from _above(one, case.limit(one))
    if not case.battery:
        yield "no guesser counts, so no floor is known"


def _also_within_limits(case: Case) -> Iterator[str]:
    for one in case.guessers:
        limit = case.limits.also.get(one.metric)
        if limit is not None and one.counts and one.experiments == 0:
            yield from _above(one, limit)


def _above(one: Measured, limit: float) -> Iterator[str]:
    what = f"{one.name} ({one.metric})" if one.metric else one.name
    if not one.estimate <= limit:
        yield f"{what} reaches {one.estimate:.3f}, limit {limit:.3f}"
    elif not one.high <= limit + SLACK:
        yield f"{what} has the upper bound {one.high:.3f} (n = {one.n}), limit {limit + SLACK:.3f}"


def _exact_reaches(case: Case) -> Iterator[str]:
    exact, limits = case.exact, case.limits
    if not exact.estimate >= limits.least:
        yield f"exact reaches {exact.estimate:.3f}, least {limits.least:.3f}"
    elif not exact.low >= limits.low:
        yield f"exact has the lower bound {exact.low:.3f} (n = {exact.n}), least {limits.low:.3f}"


def _gap(case: Case) -> Iterator[str]:
    if case.best is None or case.limits.relative is not None:
        return
    gap = case.exact.estimate - case.best.estimate
    if not gap >= case.limits.gap - 1e-9:
        yield f"{case.best.name} is {gap:.3f} below exact, least {case.limits.gap:.3f}"


RULE = (
    Condition("Every claim of a certificate holds.", "FAIL", _wrong_claims),
    Condition("No test finds the truth where an agent can see it.", "FAIL", _leaks),
    Condition("An agent that follows the prompt reaches the ceiling.", "FAIL", _obedient),
    Condition("No guesser scores higher than `exact` on common instances.", "FAIL", _above_exact),
    Condition(
        f"`memory` gains at most {SLACK} over `prior_only`, or the lower bound of its gain is 0.",
        "FAIL",
        _memory,
        if_exempt="WEAK",
    ),
    Condition("The family declares a battery of guessers.", "WEAK", _battery),
    Condition(
        f"Each guesser keeps its limit, and its upper bound is at most {SLACK} above.",
        "WEAK",
        _within_limits,
    ),
    Condition(
        "Guessers without experiments keep the limits of further metrics likewise.",
        "WEAK",
        _also_within_limits,
    ),
    Condition("`exact` and its lower bound reach what is asked.", "WEAK", _exact_reaches),
    Condition("`exact` is far enough above the best guesser.", "WEAK", _gap),
)
"""All conditions. Only guessers that count enter them."""
