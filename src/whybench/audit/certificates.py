"""Check certificates of a suite again with the family's independent checker."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from whybench.audit.plays import spread
from whybench.episode.certificate import Certificate
from whybench.episode.episode import play
from whybench.episode.family import Suite
from whybench.episode.instance import Instance
from whybench.stats.interval import mean_interval

AGENTS = ("exact", "oracle")
LEVEL = 0.999
"""Confidence that the mean of an agent is above the mean of `best_score`."""


def checked(suites: Sequence[Suite], count: int) -> tuple[Counter[str], list[str]]:
    """Return the statuses of some certificates of each suite, and the claims that fail."""
    statuses: Counter[str] = Counter()
    wrong: list[str] = []
    bounds: list[tuple[str, float]] = []
    reached: dict[str, list[float]] = defaultdict(list)
    for suite in suites:
        family = suite.family
        for instance in spread(suite, -(-count // len(suites))):
            certificate = family.certify(instance)
            statuses[certificate.status] += 1
            told = [*certificate.defects(), *family.check(instance, certificate)]
            scores = {name: _headline(suite, instance, name) for name in AGENTS}
            if certificate.status == "proven":
                told += _not_reached(certificate, scores)
            elif certificate.status == "statistical" and certificate.best_score is not None:
                bounds.append((instance.cluster, certificate.best_score))
                for name, score in scores.items():
                    reached[name].append(score)
            wrong += [f"{instance.id}: {one}" for one in told]
    return statuses, [*wrong, *_above(bounds, reached)]


def _headline(suite: Suite, instance: Instance, agent: str) -> float:
    family = suite.family
    if agent == "exact":
        trace = family.exact_run(instance)
    else:
        trace = play(family.open(instance), family.agent(agent, instance))
    return float(family.score(instance, trace).values[family.headline])


def _not_reached(certificate: Certificate, scores: dict[str, float]) -> Iterator[str]:
    """Say where a proven best score is not what the exact agent reaches, or is exceeded."""
    best = certificate.best_score
    if best is None:
        return
    if scores["exact"] != best:
        yield f"best_score {best}, exact reaches {scores['exact']}"
    if certificate.identified and scores["oracle"] < best:
        yield f"identified, but the truth scores {scores['oracle']} of {best}"


def _above(bounds: Sequence[tuple[str, float]], reached: dict[str, list[float]]) -> Iterator[str]:
    """Say which agent is, on average, above the expected score that certificates bound."""
    clusters = [cluster for cluster, _ in bounds]
    for name, scores in reached.items():
        excess = [score - bound for score, (_, bound) in zip(scores, bounds, strict=True)]
        if mean_interval(excess, clusters, LEVEL).low > 0:
            yield f"{name} is above best_score by {sum(excess) / len(excess):.3f} on average"
