"""Generated worlds and the four factors: exact against brute force, and what each factor costs."""

import math
from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import scipy

from whybench.causal.seeds import Stream
from whybench.episode.episode import Moves, play
from whybench.episode.instance import Instance
from whybench.families.causalgame.agents.agent_state import AgentState, Past, rows_of
from whybench.families.causalgame.agents.correlational import recommended
from whybench.families.causalgame.episode import DroneEpisode
from whybench.families.causalgame.parameters import LEVELS, Parameters
from whybench.families.causalgame.view import view
from whybench.families.causalgame.world import factorial_suite
from whybench.families.causalgame.world.design import SUFFIX, Design, design
from whybench.families.causalgame.world.factorial_suite import (
    CELLS,
    FACTORS,
    SEEDS,
    bar,
    cell_of,
    cell_world,
    numbers,
)
from whybench.families.causalgame.world.fleet import Floats
from whybench.families.causalgame.world.physics.flight import survival
from whybench.families.causalgame.world.physics.generated import (
    Generated,
    best_design,
    expected_survival,
)
from whybench.families.causalgame.world.records import letter, measured, table, visible
from whybench.families.causalgame.world.sheet import Sheet
from whybench.families.causalgame.world.world import World, keep_chance

DRONES = 100_000
ALL = range(CELLS * SEEDS)
STRONGEST = CELLS - 1


def generated(world: World) -> Generated:
    assert isinstance(world.physics, Generated)
    return world.physics


def at(seed: int = 0, **levels: str) -> int:
    """Return the index of a cell; parameters left out are off."""
    wanted = {factor: levels.get(factor, "off") for factor in FACTORS}
    return next(i for i in range(0, CELLS * SEEDS, SEEDS) if cell_of(i) == wanted) + seed


def reread(sheet: Sheet, built: Design) -> Design:
    """Pass a design through all checks of an action."""
    defs = {name + SUFFIX: value for name, value in zip(sheet.names, built.defs, strict=True)}
    return design(sheet, defs, dict(built.equipment))


# Exactness ----------------------------------------------------------------------------------------


def slow_survival(physics: Generated, defs: tuple[int, ...], option: str | None) -> float:
    """Add log-odds up as the data say, one weather after the other."""
    named = dict(zip(physics.sheet.names, defs, strict=True))
    total, storms = 0.0, physics.sky.storm_probability["stage2"]
    for weather, share in (("storm", storms), ("clear", 1 - storms)):
        odds = getattr(physics.base, weather) + (physics.options[option] if option else 0)
        for name, lever in physics.levers.items():
            odds += getattr(lever, weather) * named[name] / physics.sheet.def_range[1]
        total += share * math.exp(odds) / (1 + math.exp(odds))
    return total


@pytest.mark.parametrize("case", range(6))
def test_the_best_design_is_that_of_a_brute_force_search(case: int) -> None:
    luck = Stream("brute", case)
    low = case % 2
    sheet = {"def_range": (low, low + 2), "total_def_budget": 6 * low + 1 + luck.below(9)}
    levers = {
        role: lever.model_copy(
            update=dict.fromkeys(("storm", "clear"), 4 * luck.uniform() - 2)
            if role != "stormproof"
            else {"storm": 6 * luck.uniform() - 2, "clear": 4 * luck.uniform() - 3}
        )
        for role, lever in numbers().world.levers.items()
    }
    plan = numbers().world.model_copy(update={**sheet, "levers": levers})
    physics = plan.drawn(luck, luck.uniform())
    found = best_design(physics, "stage2")
    assert reread(physics.sheet, found) == found
    best = max(
        slow_survival(physics, defs, option)
        for defs in product(range(low, low + 3), repeat=6)
        if sum(defs) <= physics.sheet.total_def_budget
        for option in (None, *physics.options)
    )
    assert expected_survival(physics, found, "stage2") == pytest.approx(best, abs=1e-12)


def test_two_levers_that_depend_on_the_weather_are_refused() -> None:
    physics = generated(cell_world("public", 0))
    moody = next(lever for lever in physics.levers.values() if lever.storm != lever.clear)
    twice = physics.model_copy(update={"levers": dict.fromkeys(physics.levers, moody)})
    with pytest.raises(ValueError, match="let one do so"):
        best_design(twice, "stage2")


@pytest.mark.parametrize("stage", ["stage1", "stage2"])
def test_expected_survival_is_what_flights_show(stage: str) -> None:
    for index in (at(3), at(7, shift="strong")):
        world = cell_world("public", index)
        physics = generated(world)
        assert world.best is not None
        for built in (world.best, world.history.designs[index % 16], design(physics.sheet)):
            exact = expected_survival(physics, built, stage)
            found = survival(physics, built, stage, Stream("flown", index, stage), DRONES)
            assert abs(found - exact) <= 3 * math.sqrt(exact * (1 - exact) / DRONES)


def test_more_than_the_best_design_is_not_found_by_luck() -> None:
    luck = Stream("random designs")
    for index in (at(1), at(2, shift="mild"), at(5, shift="strong")):
        world = cell_world("public", index)
        physics, sheet = generated(world), world.physics.sheet
        assert world.best is not None
        best = expected_survival(physics, world.best, "stage2")
        for _ in range(500):
            defs = [luck.below(sheet.def_range[1] + 1) for _ in sheet.names]
            if sum(defs) <= sheet.total_def_budget:
                tried = Design(tuple(defs), (("coating", luck.choice(tuple(physics.options))),))
                assert expected_survival(physics, tried, "stage2") <= best


# Worlds -------------------------------------------------------------------------------------------


def test_every_cell_is_there_once_with_all_its_seeds() -> None:
    found = Counter(tuple(cell_of(index).values()) for index in ALL)
    assert set(found) == set(product(LEVELS, repeat=len(FACTORS)))
    assert set(found.values()) == {SEEDS}
    for index in (-1, CELLS * SEEDS):
        with pytest.raises(ValueError, match="no instance"):
            cell_of(index)


def test_a_world_is_a_pure_function_of_its_coordinates() -> None:
    indices = (0, 41, 777, CELLS * SEEDS - 1)
    before = [past(cell_world("public", index)) for index in indices]
    signs = [cell_world("public", index).call_sign for index in indices]
    for cached in (factorial_suite._physics, factorial_suite._flown, factorial_suite._designs):
        cached.cache_clear()
    again = [cell_world("public", index) for index in reversed(indices)][::-1]
    assert [past(world) for world in again] == before
    assert [world.call_sign for world in again] == signs
    assert past(cell_world("another", 0)) != before[0]


@pytest.mark.slow
def test_worlds_are_fair() -> None:
    seen = set()
    for index in ALL:
        world = cell_world("public", index)
        physics, rules = generated(world), world.rules
        assert world.best is not None
        best = expected_survival(physics, world.best, "stage2")
        assert rules.threshold + max(0.05, 5 * math.sqrt(best * (1 - best) / 1000)) <= best
        assert rules.threshold == bar(physics, world.best)
        forecast = view(world).storms
        assert (forecast is None) == (cell_of(index)["shift"] == "off")
        key = (index % SEEDS, cell_of(index)["shift"])
        if key in seen:
            continue
        seen.add(key)
        assert reread(physics.sheet, world.best) == world.best
        for old in (*world.history.designs, design(physics.sheet)):
            assert reread(physics.sheet, old) == old
            assert expected_survival(physics, old, "stage2") < rules.threshold


def test_the_history_is_balanced() -> None:
    for seed in range(SEEDS):
        world = cell_world("public", seed)
        designs = [world.history.designs[place] for place in world.history.which]
        defs = np.array([found.defs for found in designs])
        options = [dict(found.equipment)["coating"] for found in designs]
        armoured = defs > numbers().history.rise / 2
        for one, other in product(range(6), repeat=2):
            if one < other:
                pairs = Counter(zip(armoured[:, one], armoured[:, other], strict=True))
                assert set(pairs.values()) == {len(designs) // 4}
        for one in range(6):
            pairs = Counter(zip(armoured[:, one], options, strict=True))
            assert set(pairs.values()) == {len(designs) // 8}


def test_cells_of_a_seed_share_physics_and_luck() -> None:
    calm, turned = (cell_world("public", i) for i in (at(4), at(4, selection="strong")))
    assert calm.best == turned.best
    assert (calm.history.flights.returned == turned.history.flights.returned).all()
    assert calm.history.kept.all()
    assert not turned.history.kept.all()
    shifted = cell_world("public", at(4, shift="strong"))
    assert generated(shifted).levers == generated(calm).levers
    assert (shifted.history.flights.returned == calm.history.flights.returned).all()
    same = design(calm.physics.sheet)
    first, second = (world.deploy(0, same, 50) for world in (calm, shifted))
    assert (first.flights.returned == second.flights.returned).all()


def test_selection_hides_wrecks_with_the_decoy_in_deployments_too() -> None:
    world = cell_world("public", at(2, selection="strong"))
    physics = generated(world)
    decoy = physics.roles["decoy"] + SUFFIX
    found = {}
    for value in (0, 15):
        built = design(physics.sheet, {decoy: value})
        lost = kept = 0
        for number in range(20):
            batch = world.deploy(number, built, 50)
            lost += int((~batch.flights.returned).sum())
            kept += int((batch.kept & ~batch.flights.returned).sum())
        found[value] = kept / lost
        assert found[value] == pytest.approx(
            keep_chance(world.rules, physics.sheet, built), abs=0.08
        )
    assert found[15] < found[0] - 0.3


def test_confounding_flies_the_decoy_in_clear_weather() -> None:
    shares = []
    for level in LEVELS:
        storms: dict[bool, list[float]] = {False: [], True: []}
        for seed in range(SEEDS):
            world = cell_world("public", at(seed, confounding=level))
            place = world.physics.sheet.index[generated(world).roles["decoy"]]
            which = np.array([found.defs[place] for found in world.history.designs])
            high = (which > numbers().history.rise / 2)[world.history.which]
            storm = world.history.flights.environment["is_storm"]
            for side, found in storms.items():
                found.append(float(storm[high == side].mean()))
        shares.append(float(np.mean(storms[True]) - np.mean(storms[False])))
    assert abs(shares[0]) < 0.03
    assert shares[2] < shares[1] - 0.1 < shares[0] - 0.2


def test_the_family_s_parameters_reach_the_records() -> None:
    index = at(1, selection="strong")
    hidden = cell_world("public", index, Parameters(keep_failed=0.0))
    assert (hidden.history.kept == hidden.history.flights.returned).all()


# What is told -------------------------------------------------------------------------------------


def test_what_is_told_does_not_depend_on_which_lever_is_which() -> None:
    for index in (0, at(9, shift="mild"), STRONGEST * SEEDS + 5):
        world = cell_world("public", index)
        physics, luck = generated(world), Stream("other roles", index)
        names = luck.shuffled(physics.sheet.names)
        moved = dict(zip(physics.sheet.names, names, strict=True))
        other = physics.model_copy(
            update={
                "levers": {moved[name]: lever for name, lever in physics.levers.items()},
                "roles": {role: moved[name] for role, name in physics.roles.items()},
                "options": dict(
                    zip(
                        luck.shuffled(tuple(physics.options)), physics.options.values(), strict=True
                    )
                ),
            }
        )
        assert view(replace(world, physics=other)) == view(world)


def test_every_role_falls_on_every_place_and_option_alike() -> None:
    places: dict[str, Counter[int]] = {role: Counter() for role in numbers().world.levers}
    helpful: Counter[tuple[int, bool]] = Counter()
    worlds = 300
    for number in range(worlds):
        physics = numbers().world.drawn(Stream("roles", number), 0.5)
        for role, name in physics.roles.items():
            places[role][physics.sheet.index[name]] += 1
        slot = physics.sheet.slots["coating"]
        best = max(physics.options, key=lambda name: physics.options[name])
        helpful[list(slot.options).index(best), slot.default == best] += 1
    for found in places.values():
        assert scipy.stats.chisquare([found[place] for place in range(6)]).pvalue > 0.001
    where = [helpful[place, True] + helpful[place, False] for place in range(4)]
    assert scipy.stats.chisquare(where).pvalue > 0.001
    default = sum(helpful[place, True] for place in range(4))
    assert scipy.stats.binomtest(default, worlds, 0.25).pvalue > 0.001


# The table ----------------------------------------------------------------------------------------


def past(world: World) -> Past:
    """Return the history as an agent reads it."""
    batch = world.history
    seen = measured(world, batch, ())
    drones = visible(world, batch, seen)
    letters = [letter(place) for place in range(len(batch.designs))]
    names = [f"INIT-{place + 1:03d}" for place in range(len(drones))]
    found = table(batch, seen, drones, names=names, letters=letters)
    return Past(dict(zip(letters, batch.designs, strict=True)), tuple(rows_of(found.frozen)))


def test_an_episode_shows_that_history() -> None:
    index = STRONGEST * SEEDS
    world = cell_world("public", index)
    episode = DroneEpisode(
        Instance("causalgame", "1", "knobs", "certified", "public", index), world, Parameters()
    )
    read = []

    def agent(state: AgentState) -> Moves:
        read.append((yield from state.history()))
        yield from state.deploy(state.default, 10)
        assert world.best is not None
        texts = dict.fromkeys(("success", "determinants", "failures", "conclusion"), "so")
        yield from state.submit(world.best, texts)

    play(episode, agent(AgentState(episode.view)))
    assert read == [past(world)]
    assert episode.won


def losses() -> Floats:
    """Return by how much the correlational design is worse than the best: parameters × seed."""
    found = np.zeros(CELLS * SEEDS)
    for index in ALL:
        world = cell_world("public", index)
        physics = generated(world)
        chosen = recommended(view(world), past(world))
        assert world.best is not None
        found[index] = expected_survival(physics, world.best, "stage2") - expected_survival(
            physics, chosen, "stage2"
        )
    return found.reshape(*(len(LEVELS) for _ in FACTORS), SEEDS)


@pytest.mark.slow
def test_with_each_parameter_off_the_correlational_agent_loses_less() -> None:
    """Means over all cells with a factor at a level, in points; errors are those over seeds."""
    points = 100 * losses()
    lines = [
        f"{'points lost':12}{'off':>7}{'mild':>7}{'strong':>7}{'strong - off':>16}{'alone':>7}"
    ]
    for axis, factor in enumerate(FACTORS):
        moved = np.moveaxis(points, axis, 0)
        means = moved.mean(axis=(1, 2, 3))
        off, mild, strong = means.mean(axis=1)
        gain = means[2] - means[0]
        error = gain.std(ddof=1) / math.sqrt(SEEDS)
        alone = moved[:, 0, 0, 0].mean(axis=1)
        lines.append(
            f"{factor:12}{off:7.1f}{mild:7.1f}{strong:7.1f}{gain.mean():9.1f} ± {error:.1f}"
            f"{alone[2]:9.1f}"
        )
        assert off < mild < strong
        assert gain.mean() >= 2
        assert gain.mean() > 3 * error
        assert alone[0] < alone[2]
    none, everything = points[0, 0, 0, 0].mean(), points[-1, -1, -1, -1].mean()
    print("\n".join([*lines, f"all off {none:.1f}, all strong {everything:.1f}"]))  # noqa: T201
    assert none <= 5
    assert everything >= 25
