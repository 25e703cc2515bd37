"""Simulate models with known surface effects, and see whether Prism's analysis finds them.

A simulated model knows the answer of an instance or not; instances of a triple are alike. Each
drawing of a prompt flips its answer with a small chance (noise). On one surface it loses right
answers with a chance that is the effect. The script prints the coverage of the intervals for the
gap and for the parts of the loss, and the power of the corrected test by number of triples. A
second model mixes right answers with those of a confused agent.

    python scripts/simulate_surfaces.py --runs 400
"""

from __future__ import annotations

import argparse
from statistics import fmean

from whybench.causal.seeds import Stream
from whybench.families.prism.extras.analysis import (
    AGAIN,
    SURFACES,
    gaps,
    matching,
    split,
    surface_pairs,
)

EFFECT_ON = "prose"
ANSWERS = ("yes", "no", "cannot")


def played(stream: Stream, triples: int, known: float, noise: float, effect: float):
    """Return scores by surface, and the clusters."""
    by: dict[str, dict[str, float]] = {surface: {} for surface in (*SURFACES, AGAIN)}
    clusters = {}
    for triple in range(triples):
        ease = stream.uniform() - 0.5  # what the members of a triple share
        for member in range(3):
            one = f"{triple}.{member}"
            clusters[one] = str(triple)
            knows = stream.uniform() < known + 0.4 * ease
            for surface in by:
                right = knows != (stream.uniform() < noise)
                if surface == EFFECT_ON and right and stream.uniform() < effect:
                    right = False
                by[surface][one] = float(right)
    return by, clusters


def expected(known: float, noise: float, effect: float) -> dict[str, float]:
    """Return the true gap and the true parts of the loss."""
    plain = (1 - noise, noise)  # chance to be right if the answer is known, and if it is not
    hurt = tuple(p * (1 - effect) for p in plain)
    chance = (known, 1 - known)
    pairs = len(SURFACES) * (len(SURFACES) - 1) / 2
    with_effect = len(SURFACES) - 1  # pairs that contain the surface with the effect

    def over(value) -> float:
        return sum(c * value(p, h) for c, p, h in zip(chance, plain, hurt, strict=True))

    alike = over(lambda p, _: p * (1 - p))
    apart = over(lambda p, h: (p * (1 - h) + h * (1 - p)) / 2)
    share = with_effect / pairs
    loss = over(lambda p, h: ((len(SURFACES) - 1) * (1 - p) + 1 - h) / len(SURFACES))
    across = (1 - share) * alike + share * apart
    return {
        "gap": over(lambda p, h: h - p), "loss": loss, "noise": alike, "surface": across - alike,
        "causal": loss - across,
    }  # fmt: skip


def covered(name: str, runs: int, triples: int, known: float, noise: float, effect: float) -> dict:
    """Return how often intervals hold the truth, and how often the test finds the effect."""
    truth = expected(known, noise, effect)
    held: dict[str, list[float]] = {part: [] for part in truth}
    found, others, bias = [], [], []
    for run in range(runs):
        stream = Stream("simulate", name, triples, run)
        by, clusters = played(stream, triples, known, noise, effect)
        tests = {gap.first: gap for gap in gaps(by, surface_pairs(), clusters, 1000)}
        here = tests[EFFECT_ON]
        held["gap"].append(float(here.found.low <= truth["gap"] <= here.found.high))
        bias.append(here.found.estimate - truth["gap"])
        parts = split(by, clusters)
        for part in ("loss", "causal", "surface", "noise"):
            one = getattr(parts, part)
            held[part].append(float(one.low <= truth[part] <= one.high))
        found.append(float(here.p_holm <= 0.05))
        others.append(float(any(tests[s].p_holm <= 0.05 for s in SURFACES[1:] if s != EFFECT_ON)))
    return {
        "coverage": {part: round(fmean(rates), 3) for part, rates in held.items()},
        "truth": {part: round(value, 4) for part, value in truth.items()},
        "bias of the gap": round(fmean(bias), 4), "found": round(fmean(found), 3),
        "false alarms elsewhere": round(fmean(others), 3),
    }  # fmt: skip


def confused(runs: int, triples: int, share: float) -> tuple[float, float]:
    """Return the coverage and the mean of the estimated share of confused answers.

    The confused agent is wrong on about 0.4 of instances. The model answers like it with the given
    chance, and otherwise knows the answer or errs at random.
    """
    held, means = [], []
    for run in range(runs):
        stream = Stream("confused", triples, run, str(share))
        said, gold, agent, clusters = {}, {}, {}, {}
        for triple in range(triples):
            for member in range(3):
                one = f"{triple}.{member}"
                gold[one], clusters[one] = ANSWERS[member], str(triple)
                wrong = [a for a in ANSWERS if a != gold[one]]
                agent[one] = stream.choice(wrong) if stream.uniform() < 0.4 else gold[one]
                said[one] = agent[one] if stream.uniform() < share else gold[one]
        found = matching(said, gold, agent, clusters).alike
        held.append(float(found.low <= share <= found.high))
        means.append(found.estimate)
    return fmean(held), fmean(means)


def confused_really(runs: int, triples: int, share: float) -> None:
    """Print the same for the confused agents of Prism on problems of `main`."""
    from whybench.episode.registry import families
    from whybench.families.prism.extras.analysis import CONFUSIONS

    family = families()["prism"]
    for name, kind in CONFUSIONS.items():
        suite = family.suite("main", parameters={"kind": kind, "n": 5})
        instances = [suite.row(row) for row in range(3 * triples)]
        gold = {one.id: family.world(one).answer for one in instances}
        agent = {one.id: str(next(family.agent(name, one)).args["answer"]) for one in instances}
        clusters = {one.id: one.cluster for one in instances}
        held, means, among = [], [], []
        for run in range(runs):
            stream = Stream("confused", name, run)
            said = {one: (agent if stream.uniform() < share else gold)[one] for one in gold}
            found = matching(said, gold, agent, clusters)
            held.append(float(found.alike.low <= share <= found.alike.high))
            means.append(found.alike.estimate)
            among.append(found.among_wrong.estimate)
        wrong = fmean(float(agent[one] != gold[one]) for one in gold)
        print(
            f"{name}, share {share}, {triples} triples: agent wrong on {wrong:.3f}; coverage "
            f"{fmean(held):.3f}, mean {fmean(means):.3f}, among wrong {fmean(among):.3f}"
        )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=400, help="Simulated studies in each row.")
    parser.add_argument("--triples", type=int, nargs="+", default=[25, 50, 100, 200, 400])
    parser.add_argument("--effects", type=float, nargs="+", default=[0.0, 0.1, 0.2])
    parser.add_argument("--real", type=int, default=0, help="Triples of `main` for real agents.")
    asked = parser.parse_args()
    if asked.real:
        confused_really(asked.runs, asked.real, 0.3)
        return
    for effect in asked.effects:
        for triples in asked.triples:
            row = covered("flip", asked.runs, triples, 0.6, 0.08, effect)
            print(f"effect {effect:.2f}, {triples} triples: {row}", flush=True)
    for share in (0.2, 0.5):
        for triples in asked.triples:
            coverage, mean = confused(asked.runs, triples, share)
            print(f"confused {share}, {triples} triples: coverage {coverage:.3f}, mean {mean:.3f}")


if __name__ == "__main__":
    main()
