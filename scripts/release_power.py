"""Simulate the power of a release: how often the paired test shows a true difference of 0.10.

    python scripts/release_power.py 1rc standard --runs 400

A simulated system is a mixture of reference agents: on each row it scores as `exact` with a given
probability, and otherwise as the guesser. Two systems differ in this probability, so that their
true headlines differ by --gap, or by 0 to count false alarms. They are mixed independently, which
gives the paired test less to work with than two real models on the same rows. Prints a table.
"""

from __future__ import annotations

import argparse
import json
import math

import numpy as np
import pandas as pd

from whybench.interfaces.solve import solve
from whybench.release.data import Release, load_release
from whybench.report.decisions.difference import difference


def scores(release: Release, family: str, which: str, agent: str) -> pd.DataFrame:
    """Return the headline of an agent on each sample of a set."""
    rows = []
    templates = release.families[family].templates
    for part in release.of(family, which):
        suite = part.load()
        instances = [suite.row(row) for row in part.rows[which]]
        for result in solve(suite, agent, instances):
            value = result.score.values.get(suite.family.headline)
            known = {
                "cluster": result.instance.cluster,
                "epoch": 1,
                "score": float(value or 0.0),
            }
            rows += [{"instance": f"{result.instance.id}.{t}", **known} for t in templates]
    return pd.DataFrame(rows)


def resized(
    exact: pd.DataFrame, guess: pd.DataFrame, size: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return frames with another number of hidden systems, drawn from those that are there."""
    places = exact.groupby("cluster", sort=False).indices
    chance = np.random.default_rng(20261118)
    drawn = chance.choice(list(places), size, replace=size > len(places))
    parts = [places[name] for name in drawn]
    numbers = np.repeat(np.arange(size), [len(part) for part in parts])
    found = []
    for frame in (exact, guess):
        part = frame.iloc[np.concatenate(parts)].reset_index(drop=True)
        part["cluster"] = numbers.astype(str)
        part["instance"] = [
            f"{n}-{name}" for n, name in zip(numbers, part["instance"], strict=True)
        ]
        found.append(part)
    return found[0], found[1]


def shown(
    exact: pd.DataFrame, guess: pd.DataFrame, gap: float, middle: float, runs: int, rate: bool
) -> float:
    """Return the share of simulated runs in which a difference is shown at 0.05."""
    high, low = exact["score"].to_numpy(), guess["score"].to_numpy()
    room = high.mean() - low.mean()
    first, second = (middle + gap / 2 - low.mean()) / room, (middle - gap / 2 - low.mean()) / room
    # Templates of an instance are answered alike half of the time, as by a model that reasons well.
    clusters = exact["instance"].str.rpartition(".")[0].factorize()[0]
    chance = np.random.default_rng(20261117)
    found = 0
    for _ in range(runs):
        frames = []
        for share in (first, second):
            own = chance.random(len(high))
            common = chance.random(clusters.max() + 1)[clusters]
            drawn = np.where(chance.random(len(high)) < 0.5, common, own)
            frames.append(exact.assign(score=np.where(drawn < share, high, low)))
        p = difference(*frames, "score", rate=rate).p_value
        found += not math.isnan(p) and p < 0.05
    return found / runs


def _row(
    exact: pd.DataFrame, guess: pd.DataFrame, gap: float, runs: int, rate: bool
) -> dict[str, float]:
    middle = (exact["score"].mean() + guess["score"].mean()) / 2
    least = gap
    while shown(exact, guess, least, middle, min(200, runs), rate) < 0.8 and least < 0.5:
        least += 0.02
    return {
        "samples": len(exact),
        "hidden_systems": exact["cluster"].nunique(),
        "exact": round(float(exact["score"].mean()), 3),
        "guesser": round(float(guess["score"].mean()), 3),
        "power": shown(exact, guess, gap, middle, runs, rate),
        "false_alarms": shown(exact, guess, 0.0, middle, runs, rate),
        "smallest_shown": round(least, 2),
    }


def main() -> None:
    """Print a table: family, samples, hidden systems, power, false alarms, detectable."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("release")
    parser.add_argument("set", default="standard", nargs="?")
    parser.add_argument("--gap", type=float, default=0.10)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--guesser", default="random")
    parser.add_argument("--family", action="append")
    parser.add_argument("--sizes", type=int, nargs="*", help="other numbers of hidden systems")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    release = load_release(given.release)
    told = []
    for family in given.family or release.families:
        exact = scores(release, family, given.set, "exact")
        guess = scores(release, family, given.set, given.guesser)
        kind = release.of(family, given.set)[0].load().family
        rate = next(metric.rate for metric in kind.metrics if metric.name == kind.headline)
        for size in given.sizes or [exact["cluster"].nunique()]:
            one, two = resized(exact, guess, size) if given.sizes else (exact, guess)
            told.append({"family": family, **_row(one, two, given.gap, given.runs, rate)})
            if not given.json:
                print(told[-1], flush=True)
    if given.json:
        print(json.dumps(told, indent=1))


if __name__ == "__main__":
    main()
