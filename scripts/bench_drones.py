"""Drones per second of CausalGame, on one core: `python scripts/bench_drones.py`.

A fleet of `--batch` drones is drawn and flown, anew each time; `flown` is the flight alone, as when
designs are compared on one fleet. The released physics fly the default and the slowest design that
we know; each story flies the default design of its first drawn system. CPU time; fails if the
slowest median is below `--bar`, or a fleet of 1,000 takes longer than `--fleet`.
"""

import argparse
import gc
import json
import statistics
import sys
import time

from whybench.causal.seeds import Stream
from whybench.families.causalgame.world.design import Design, design
from whybench.families.causalgame.world.drawn.draw import drawn, stories
from whybench.families.causalgame.world.drawn.hazards import Hazards
from whybench.families.causalgame.world.fleet import fleet
from whybench.families.causalgame.world.physics.catalogue import KINDS, physics
from whybench.families.causalgame.world.physics.physics import Physics
from whybench.families.causalgame.world.world import flown

FLEET = 1000
"""Drones of a stage-2 fleet."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, default=FLEET)
    parser.add_argument("--fleets", type=int, default=40, help="fleets of a repeat")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--bar", type=float, default=250_000, help="drones a second")
    parser.add_argument("--fleet", type=float, default=5.0, help="milliseconds a fleet of 1,000")
    given = parser.parse_args()
    rows = {
        f"{name}/{what}": rate(physics(name), plan, given.batch, given.fleets, given.repeats)
        for name in KINDS
        for what, plan in designs(physics(name)).items()
    }
    for name, story in stories().items():
        if name == story.kind:
            world = drawn(story, Stream("bench", name))
            plan = design(world.sheet)
            rows[f"drawn/{name}"] = rate(world, plan, given.batch, given.fleets, given.repeats)
    slowest = min(row["median"] for row in rows.values())
    milliseconds = 1000 * FLEET / slowest
    held = slowest >= given.bar and milliseconds <= given.fleet
    print(
        json.dumps(
            {
                "drones_per_second": rows,
                "slowest": slowest,
                "fleet_ms": round(milliseconds, 2),
                "bar": given.bar,
                "fleet_bar_ms": given.fleet,
                "held": held,
            }
        )
    )
    return 0 if held else 1


def designs(world: Physics) -> dict[str, Design]:
    """Return the default, and one whose antenna emits in any weather: fights are longest then."""
    hard = {"antenna_def": 30, "engine_def": 30, "cockpit_def": 30}
    return {
        "default": design(world.sheet),
        "armoured": design(world.sheet, hard, enforced=False),
    }


def rate(
    world: Physics | Hazards, plan: Design, batch: int, fleets: int, repeats: int
) -> dict[str, float]:
    """Return drones per CPU second: slowest, median and fastest repeat; and the flight's median."""
    found, flights = [], []
    for repeat in range(repeats):
        stream = Stream("bench", world.name, repeat)
        flown(world, fleet(world.layout, stream, batch), plan, "stage2")
        gc.collect()
        spent = 0.0
        began = time.process_time()
        for _ in range(fleets):
            drones = fleet(world.layout, stream, batch)
            start = time.process_time()
            flown(world, drones, plan, "stage2")
            spent += time.process_time() - start
        found.append(batch * fleets / (time.process_time() - began))
        flights.append(batch * fleets / spent)
    return {
        "slowest": round(min(found)),
        "median": round(statistics.median(found)),
        "fastest": round(max(found)),
        "flown": round(statistics.median(flights)),
    }


if __name__ == "__main__":
    sys.exit(main())
