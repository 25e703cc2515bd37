"""How often `compare` is right at the size that `plan` gives: `python scripts/simulate_compare.py`.

Two scripted agents differ by a known amount. Each time anew, a pilot of both goes through the
functions behind `whybench plan --log A --log B`, which give a size for the power asked for; so many
instances are played, and the functions behind `whybench compare` give a verdict. `right` is the
share of verdicts that name the better agent, `alarms` the share that name any when the two are
equally good, at the same sizes.

Cases: `independent` (0/1 scores), `clustered` (0/1 scores, worlds of 1 to 6 instances that are hard
for an agent together), `epochs` (scores from 0 to 1, two epochs), `causallink` (true instances of
causallink/advanced, where an agent acts as `exact` or else answers yes or no by a coin; every
instance's answers are scored once, and a comparison draws among them).
"""

import argparse
import json
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from whybench.causal.seeds import Stream
from whybench.episode.registry import load_suite
from whybench.interfaces.solve import solve
from whybench.report.decisions.compare import compared, decided
from whybench.report.decisions.sizes import Size, design
from whybench.report.decisions.variance_sources import Worlds, from_frames, spaced

Frames = tuple[pd.DataFrame, pd.DataFrame]
METRIC = "score"
ASSURANCE = 0.8
"""The default of `plan`."""


@dataclass(frozen=True)
class Case:
    """Two agents whose scores differ by `gap`, or not at all."""

    gap: float
    rate: bool
    epochs: int
    draw: Callable[[int, float, Stream], Frames]
    """(instances, gap, stream) -> what A and B score, first minus second being the gap."""
    worlds: Worlds | None = None
    """How the suite lies in worlds; without, as the pilot does."""
    most: int = 10**9
    """Instances of the suite; who is told to play more plays them all."""


def independent(n: int, gap: float, stream: Stream) -> Frames:
    hard = 0.3 * (stream.uniforms(n) - 0.5)
    place = np.arange(n)
    return tuple(_frame(place, place, [_coin(mean + hard, stream)]) for mean in (0.65, 0.65 - gap))


def clustered(n: int, gap: float, stream: Stream) -> Frames:
    sizes = 1 + np.floor(6 * stream.uniforms(n)).astype(int)
    worlds = np.repeat(np.arange(n), sizes)[:n]
    shared = 0.2 * (stream.uniforms(n) - 0.5)
    frames = []
    for mean in (0.65, 0.65 - gap):
        own = 0.4 * (stream.uniforms(n) - 0.5)
        chance = mean + shared[worlds] + own[worlds]
        frames.append(_frame(np.arange(n), worlds, [_coin(chance, stream)]))
    return tuple(frames)


def epochs(n: int, gap: float, stream: Stream) -> Frames:
    place, hard = np.arange(n), 0.3 * (stream.uniforms(n) - 0.5)
    frames = []
    for mean in (0.55, 0.55 - gap):
        own = mean + hard + 0.2 * (stream.uniforms(n) - 0.5)
        scores = [own + 0.4 * (stream.uniforms(n) - 0.5) for _ in range(2)]
        frames.append(_frame(place, place, scores))
    return tuple(frames)


class OnCausalLink:
    """Agents on true instances: `exact` with a chance that depends on the world, else a coin."""

    def __init__(self, most: int = 1200) -> None:
        suite = load_suite("causallink/advanced")
        instances = [suite[at] for at in spaced(range(len(suite)), most)]
        self.names = np.array([instance.id for instance in instances])
        self.clusters = np.array([instance.cluster for instance in instances])
        self.worlds = np.unique(self.clusters, return_inverse=True)[1]
        self.exact, self.yes, self.no = (
            np.array([r.score.values["accuracy"] for r in solve(suite, agent, instances)])
            for agent in ("exact", "null", "null_no")
        )

    def draw(self, n: int, gap: float, stream: Stream) -> Frames:
        chosen = np.argsort(stream.uniforms(len(self.names)), kind="stable")[:n]
        hard = 0.2 * (stream.uniforms(int(self.worlds.max()) + 1) - 0.5)[self.worlds[chosen]]
        frames = []
        for mean in (0.85, 0.85 - 2 * gap):  # a coin is right half of the time
            knows = _coin(mean + hard, stream) == 1
            guess = np.where(_coin(0.5, stream, n) == 1, self.yes[chosen], self.no[chosen])
            scores = np.where(knows, self.exact[chosen], guess)
            frames.append(_frame(self.names[chosen], self.clusters[chosen], [scores]))
        return tuple(frames)


def size_for(case: Case, power: float, pilot: int, stream: Stream) -> Size:
    """Plan from a pilot, as `whybench plan --log A --log B` does."""
    frames = case.draw(pilot, case.gap, stream)
    worlds = case.worlds or Worlds.of(frames[0].drop_duplicates("instance")["cluster"].tolist())
    basis = from_frames(frames, METRIC, worlds)
    spread = basis.careful(ASSURANCE, case.rate)[1]
    options = {"epochs": case.epochs, "rate": case.rate, "power": power}
    return design("two systems", case.gap, spread, case.most, **options)


def verdict(case: Case, size: Size, gap: float, name: str, stream: Stream) -> str | None:
    """Compare two agents, as `whybench compare A B` does."""
    played = case.draw(min(size.instances, case.most), gap, stream)
    row = compared(name, *played, METRIC, rate=case.rate)
    return decided([row])[0].winner


@dataclass(frozen=True)
class Found:
    """What many repetitions gave."""

    sizes: list[int]
    right: list[str | None]
    alarms: list[str | None]


def repeated(case: Case, name: str, repeats: int, power: float, pilot: int) -> Found:
    """Plan, play and compare again and again."""
    found = Found([], [], [])
    for number in range(repeats):
        streams = {what: Stream("compare", name, what, number) for what in ("pilot", "gap", "none")}
        size = size_for(case, power, pilot, streams["pilot"])
        found.sizes.append(size.instances)
        found.right.append(verdict(case, size, case.gap, name, streams["gap"]))
        found.alarms.append(verdict(case, size, 0.0, name, streams["none"]))
    return found


SYNTHETIC = {
    "independent": Case(0.1, True, 1, independent),
    "clustered": Case(0.1, True, 1, clustered),
    "epochs": Case(0.03, False, 2, epochs),
}


def on_causallink(most: int = 1200) -> Case:
    made = OnCausalLink(most)
    worlds = Worlds.of(made.clusters.tolist())
    return Case(0.1, True, 1, made.draw, worlds, len(made.names))


def _coin(chance: float | np.ndarray, stream: Stream, n: int | None = None) -> np.ndarray:
    return (stream.uniforms(len(chance) if n is None else n) < chance).astype(float)


def _frame(names: np.ndarray, clusters: np.ndarray, scores: list[np.ndarray]) -> pd.DataFrame:
    return pd.concat(
        [
            pd.DataFrame(
                {"instance": names.astype(str), "cluster": clusters, "epoch": epoch, METRIC: values}
            )
            for epoch, values in enumerate(scores, 1)
        ],
        ignore_index=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=1000)
    parser.add_argument("--power", type=float, default=0.95)
    parser.add_argument("--pilot", type=int, default=200, help="instances of the pilot")
    options = parser.parse_args()
    for name, case in (SYNTHETIC | {"causallink": on_causallink()}).items():
        found = repeated(case, name, options.repeats, options.power, options.pilot)
        right = found.right.count("A") / options.repeats
        alarms = 1 - found.alarms.count(None) / options.repeats
        figures = {
            "case": name,
            "gap": case.gap,
            "epochs": case.epochs,
            "instances": [int(q) for q in np.quantile(found.sizes, (0.1, 0.5, 0.9))],
            "right": right,
            "wrong": found.right.count("B") / options.repeats,
            "alarms": round(alarms, 4),
            "errors": [round(math.sqrt(p * (1 - p) / options.repeats), 4) for p in (right, alarms)],
        }
        print(json.dumps(figures), flush=True)


if __name__ == "__main__":
    main()
