"""How often `compare` is right at the size that `plan` gives: `python scripts/simulate_compare.py`.

Two scripted agents differ by a known amount. A pilot of both goes through the functions behind
`whybench plan`, which give a size for the power asked for; so many instances are then played again
and again, each time anew, and every time the functions behind `whybench compare` give a verdict.
`right` is the share of verdicts that name the better agent, `alarms` the share that name any when
the two are equally good.

Cases: `independent` (0/1 scores), `clustered` (0/1 scores, worlds of 1 to 6 instances that are hard
for an agent together), `epochs` (scores from 0 to 1, two epochs), `causallink` (true instances of
causallink/advanced, where an agent acts as `exact` or else answers yes or no by a coin).
"""

import argparse
import json
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from whybench.core.seeds import Stream
from whybench.episode.family import find_suite
from whybench.interfaces.solve import solve
from whybench.report.compare import compared, decided
from whybench.report.plan import Size, design
from whybench.report.spreads import Worlds, from_frames, spaced

Frames = tuple[pd.DataFrame, pd.DataFrame]
METRIC = "score"


@dataclass(frozen=True)
class Case:
    """Two agents whose scores differ by `gap`, or not at all."""

    gap: float
    rate: bool
    epochs: int
    pilot: int
    draw: Callable[[int, float, Stream], Frames]
    """(instances, gap, stream) -> what A and B score, first minus second being the gap."""


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
        suite = find_suite("causallink/advanced")
        instances = [suite[at] for at in spaced(range(len(suite)), most)]
        self.names = np.array([instance.id for instance in instances])
        self.clusters = np.array([instance.cluster for instance in instances])
        self.worlds = np.unique(self.clusters, return_inverse=True)[1]
        self.exact, self.yes, self.no = (
            np.array([r.score.values["accuracy"] for r in solve(suite, agent, instances)])
            for agent in ("exact", "null", "null_no")
        )

    def draw(self, n: int, gap: float, stream: Stream) -> Frames:
        order = np.argsort(stream.uniforms(len(self.names)), kind="stable")
        # A pilot larger than the suite plays instances again, under other names.
        rounds, chosen = np.arange(n) // len(order), order[np.arange(n) % len(order)]
        names = np.array([f"{self.names[c]}.{r}" for c, r in zip(chosen, rounds, strict=True)])
        hard = 0.2 * (stream.uniforms(int(self.worlds.max()) + 1) - 0.5)[self.worlds[chosen]]
        frames = []
        for mean in (0.85, 0.85 - 2 * gap):  # a coin is right half of the time
            knows = _coin(mean + hard, stream) == 1
            guess = np.where(_coin(0.5, stream, n) == 1, self.yes[chosen], self.no[chosen])
            scores = np.where(knows, self.exact[chosen], guess)
            frames.append(_frame(names, self.clusters[chosen], [scores]))
        return tuple(frames)


def size_for(case: Case, power: float, name: str) -> Size:
    """Plan from a pilot, as `whybench plan --log A --log B` does."""
    pilot = case.draw(case.pilot, case.gap, Stream("compare", name, "pilot"))
    worlds = Worlds.of(pilot[0].drop_duplicates("instance")["cluster"].tolist())
    basis = from_frames(pilot, METRIC, worlds)
    many = 10**9
    return design("two systems", case.gap, basis.pair, many, epochs=case.epochs, power=power)


def verdicts(case: Case, size: Size, gap: float, repeats: int, name: str) -> list[str | None]:
    """Compare two agents again and again, as `whybench compare A B` does."""
    found = []
    for number in range(repeats):
        first, second = case.draw(size.instances, gap, Stream("compare", name, str(gap), number))
        row = compared(name, first, second, METRIC, rate=case.rate)
        found.append(decided([row])[0].winner)
    return found


SYNTHETIC = {
    "independent": Case(0.1, True, 1, 10_000, independent),
    "clustered": Case(0.1, True, 1, 10_000, clustered),
    "epochs": Case(0.03, False, 2, 10_000, epochs),
}


def cases(most: int = 1200) -> dict[str, Case]:
    return SYNTHETIC | {"causallink": Case(0.1, True, 1, most, OnCausalLink(most).draw)}


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
    options = parser.parse_args()
    for name, case in cases().items():
        size = size_for(case, options.power, name)
        right = verdicts(case, size, case.gap, options.repeats, name)
        alarms = verdicts(case, size, 0.0, options.repeats, name)
        shares = right.count("A") / len(right), 1 - alarms.count(None) / len(alarms)
        figures = {
            "case": name,
            "gap": case.gap,
            "instances": size.instances,
            "epochs": size.epochs,
            "planned": round(size.power, 3),
            "right": shares[0],
            "wrong": right.count("B") / len(right),
            "alarms": round(shares[1], 4),
            "errors": [round(math.sqrt(p * (1 - p) / options.repeats), 4) for p in shares],
        }
        print(json.dumps(figures), flush=True)


if __name__ == "__main__":
    main()
