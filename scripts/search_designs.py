"""Search for the best design of each CausalGame physics, and re-estimate it on fresh drones.

A global search within each sheet's ranges and total budget. Restarts (the default design, random
ones) are led uphill by moves of shrinking size: DEF is moved from one component to another, added
or taken away, or the equipment is changed. All designs of a round fly the same drones; a round
tries all moves on a quarter of them and only the best on all. After each size of move the worse
half of the restarts is dropped, judged on drones that the climb did not use, and fleets double.
Of equally good designs the one with less DEF, then with less equipment, is kept. Survival is then
estimated on a stream that the search never touched.

    python scripts/search_designs.py --afresh           # best_known.json, from nothing
    python scripts/search_designs.py --seed 2 antenna   # can the known design be improved?
    python scripts/search_designs.py --only-estimate
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from whybench.causal.seeds import Stream
from whybench.families.causalgame.proof import certify
from whybench.families.causalgame.world.design import SUFFIX, Choice, Design, design
from whybench.families.causalgame.world.equipment import loadout
from whybench.families.causalgame.world.fleet import Fleet, fleets
from whybench.families.causalgame.world.physics import catalogue
from whybench.families.causalgame.world.physics.flight import fly, survival
from whybench.families.causalgame.world.physics.physics import Physics
from whybench.families.causalgame.world.sheet import Sheet

TARGET = Path(certify.__file__).parent / "best_known.json"

STEPS = (16, 8, 4, 2, 1)
"""DEF that a move shifts, level after level."""

SCREENED = 4
"""All moves are tried on one part in so many of a level's drones, the best on all of them."""

ROUNDS = 12
"""Moves of a restart at one level, at most."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a search depends on."""

    seed: int = 1
    restarts: int = 16
    drones: int = 2000
    """Drones of the first level; each level has twice as many as the one before."""
    fresh: int = 400_000
    """Drones of the final estimate."""


class Climb:
    """Designs of one level, all judged on the same drones."""

    def __init__(self, physics: Physics, stream: Stream, n: int) -> None:
        self.physics = physics
        self.fleets: list[Fleet] = list(fleets(physics.layout, stream, n, n // SCREENED))
        self.known: dict[tuple[Design, int], float] = {}

    def value(self, built: Design, parts: int) -> float:
        """Return the share that survives of so many parts of the fleet."""
        key = (built, parts)
        if key not in self.known:
            flown = [fly(self.physics, part, built, "stage2") for part in self.fleets[:parts]]
            self.known[key] = sum(part.survival_rate for part in flown) / parts
        return self.known[key]

    def rank(self, built: Design, parts: int) -> tuple[float, int, int]:
        """Return what the best design has most of: survival, then what is left unspent."""
        return self.value(built, parts), -built.total, -len(built.equipment)

    def up(self, built: Design, step: int, loads: list[Design]) -> Design:
        """Move uphill until no move helps."""
        whole = len(self.fleets)
        for _ in range(ROUNDS):
            near = sorted(
                moves(self.physics.sheet, built, step, loads),
                key=lambda other: self.rank(other, 1),
                reverse=True,
            )
            shortlist = near[: max(4, len(near) // 8)]
            best = max(shortlist, key=lambda other: self.rank(other, whole))
            if self.rank(best, whole) <= self.rank(built, whole):
                return built
            built = best
        return built


def moves(sheet: Sheet, built: Design, step: int, loads: list[Design]) -> Iterator[Design]:
    """Yield all designs one move away that keep to the limits."""
    low, high = sheet.def_range
    places = range(len(built.defs))
    for giver, taker in product((*places, None), (*places, None)):
        if giver == taker:
            continue
        defs = list(built.defs)
        if giver is not None:
            defs[giver] = max(low, defs[giver] - step)
        if taker is not None:
            spare = sheet.total_def_budget - sum(defs)
            defs[taker] += min(step, high - defs[taker], spare)
        if tuple(defs) != built.defs:
            yield Design(tuple(defs), built.equipment)
    for load in loads:
        if load.equipment != built.equipment:
            yield Design(built.defs, load.equipment)


def loads(physics: Physics) -> list[Design]:
    """Return the default design with every equipment that differs in what it does."""
    sheet = physics.sheet
    choices: list[list[tuple[tuple[str, Choice], ...]]] = [
        [(), *(((slot, option),) for option in entry.options)]
        for slot, entry in sheet.slots.items()
    ]
    choices += [[(), ((name, True),)] for name, switch in sheet.booleans.items() if switch.settable]
    altitude = getattr(physics, "altitude_slot", None)
    found: dict[tuple[object, ...], Design] = {}
    for chosen in product(*choices):
        built = design(sheet, {}, dict(item for part in chosen for item in part))
        load = loadout(sheet, built)
        does = (
            load.defs,
            round(load.detection_modifier, 9),
            round(load.emi_resistance, 9),
            load.equipment.get(altitude) if altitude else None,
        )
        found.setdefault(does, built)
    return list(found.values())


def random_start(sheet: Sheet, rng: Stream, every: list[Design]) -> Design:
    """Return a design that spends the budget at random."""
    _, high = sheet.def_range
    defs = [0] * len(sheet.names)
    for _ in range(sheet.total_def_budget // 5):
        place = rng.below(len(defs))
        defs[place] = min(high, defs[place] + 5)
    return Design(tuple(defs), rng.choice(every).equipment)


def search(physics: Physics, settings: Settings, known: Design | None) -> Design:
    """Return the best design that was found."""
    path = ("causalgame", "search", physics.name, settings.seed)
    rng, every = Stream(*path, "starts"), loads(physics)
    pool = [design(physics.sheet), *([known] if known else [])]
    while len(pool) < settings.restarts:
        pool.append(random_start(physics.sheet, rng, every))
    n = settings.drones
    for level, step in enumerate(STEPS):
        climb = Climb(physics, Stream(*path, level), n)
        pool = list(dict.fromkeys(climb.up(start, step, every) for start in pool))
        judge = Climb(physics, Stream(*path, level, "judge"), 4 * n)
        pool.sort(key=lambda built: judge.rank(built, SCREENED), reverse=True)
        pool = pool[: max(2, len(pool) // 2)]
        n *= 2
    return pool[0]


def estimate(physics: Physics, built: Design, settings: Settings) -> tuple[float, float]:
    """Return survival on drones that no search has seen, and its standard error."""
    stream = Stream("causalgame", "fresh", physics.name, settings.seed)
    found = survival(physics, built, "stage2", stream, settings.fresh)
    return found, math.sqrt(found * (1 - found) / settings.fresh)


def to_json(sheet: Sheet, built: Design) -> dict[str, object]:
    """Return a design as data."""
    return {
        "defs": dict(zip(sheet.names, built.defs, strict=True)),
        "equipment": dict(built.equipment),
    }


def from_json(sheet: Sheet, entry: dict[str, dict[str, object]]) -> Design:
    """Read a design."""
    defs = {name + SUFFIX: value for name, value in entry["defs"].items()}
    return design(sheet, defs, entry["equipment"])


def main() -> None:
    """Search, write, and print the estimates."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("physics", nargs="*", default=list(catalogue.KINDS))
    parser.add_argument("--afresh", action="store_true", help="forget the known designs")
    parser.add_argument("--only-estimate", action="store_true", help="search nothing")
    parser.add_argument("--seed", type=int, default=Settings().seed)
    args = parser.parse_args()
    settings = Settings(seed=args.seed)
    data = json.loads(TARGET.read_text("utf-8")) if TARGET.exists() else {"designs": {}}
    for name in args.physics:
        physics = catalogue.physics(name)
        entry = None if args.afresh else data["designs"].get(name)
        best = from_json(physics.sheet, entry) if entry else None
        if best is None or not args.only_estimate:
            best = search(physics, settings, best)
            data["designs"][name] = to_json(physics.sheet, best)
            data["search"] = {
                "seed": settings.seed,
                "restarts": settings.restarts,
                "drones": settings.drones,
                "steps": list(STEPS),
            }
            TARGET.write_text(json.dumps(data, indent=2) + "\n", "utf-8")
        found, error = estimate(physics, best, settings)
        print(f"{name:22} {100 * found:6.2f} ± {100 * error:.2f}  {to_json(physics.sheet, best)}")


if __name__ == "__main__":
    main()
