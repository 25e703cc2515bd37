"""Many tests at once: Holm's correction.

Of twenty true null hypotheses, one is rejected at 0.05 by chance. Holm's step-down procedure keeps
the family-wise error rate at or below alpha. This rate is the probability of at least one false
rejection among all tests of the family. The procedure makes no assumption about how the tests
depend on each other. It rejects everything that Bonferroni's correction rejects, and sometimes
more.

The family is what the caller passes. Pass all tests of one table, not only those that look good.
A p-value of nan means that no test was made; it does not count.

References:
    S. Holm (1979), A simple sequentially rejective multiple test procedure, Scandinavian Journal of
        Statistics 6.

"""

import math
from collections.abc import Sequence


def holm(ps: Sequence[float]) -> list[float]:
    """Return Holm's adjusted p-values, in the given order; nan means no test.

    An adjusted p-value is the smallest alpha at which its hypothesis is rejected.

    >>> holm([0.01, 0.04, math.nan, 0.03])
    [0.03, 0.06, nan, 0.06]
    """
    for p in ps:
        if not (math.isnan(p) or 0 <= p <= 1):
            raise ValueError(f"a p-value lies from 0 to 1, got {p}; pass nan for a test not made")
    tests = sorted((p, at) for at, p in enumerate(ps) if not math.isnan(p))
    found, highest = [math.nan] * len(ps), 0.0
    for place, (p, at) in enumerate(tests):
        highest = max(highest, min(1.0, (len(tests) - place) * p))
        found[at] = highest
    return found


def holm_rejects(ps: Sequence[float], alpha: float = 0.05) -> list[bool]:
    """Return which null hypotheses are rejected at the family-wise error rate `alpha`.

    nan means no test and is never rejected.

    >>> holm_rejects([0.01, 0.04, math.nan, 0.03])
    [True, False, False, False]
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must lie between 0 and 1, such as 0.05; got {alpha}")
    return [p <= alpha for p in holm(ps)]


def holm_alphas(ps: Sequence[float], alpha: float = 0.05) -> list[float]:
    """Return the alpha at which Holm's procedure tests each hypothesis; nan for no test.

    The procedure tests the smallest p-value at alpha divided by the number of tests, the next at
    alpha divided by one fewer, and so on. It stops at the first hypothesis that is not rejected;
    the rest keep that alpha. So a hypothesis is rejected exactly if its p-value is at most its
    alpha.

    >>> [round(step, 4) for step in holm_alphas([0.01, 0.04, math.nan, 0.03])]
    [0.0167, 0.025, nan, 0.025]
    """
    tests = sorted((p, at) for at, p in enumerate(ps) if not math.isnan(p))
    found, left = [math.nan] * len(ps), len(tests)
    for p, at in tests:
        found[at] = alpha / left
        left -= p * left <= alpha
    return found
