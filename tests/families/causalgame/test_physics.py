"""The physics against a twin that flies one drone at a time, and against the spec's figures."""

from collections import Counter
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import pytest
import scipy
from tests.tables import sampled
from tests.twins import causalgame_twin as twin

from whybench.causal.seeds import Stream
from whybench.families.causalgame.world.design import Design, design
from whybench.families.causalgame.world.fleet import Stage, fleet, fleets
from whybench.families.causalgame.world.physics.catalogue import KINDS, physics
from whybench.families.causalgame.world.physics.combat import Fight
from whybench.families.causalgame.world.physics.flight import Flights, fly, survival
from whybench.families.causalgame.world.physics.physics import Physics

DRONES = 100_000
DESIGNS, EACH = 150, 20
"""Designs that are compared with the twin in each physics and stage, and drones of each."""

SLOTS = ("coating", "enhancement_module", "flight_profile", "signal_filter", "nowhere")
OPTIONS = ("stealth", "reflective", "standard", "signal_filter", "low", "medium", "high", "unheard")


def built(world: Physics, numbers: str, equipment: Mapping[str, Any] | None = None) -> Design:
    """Read a design as the spec writes it: engine cockpit wing body antenna camera gun [shield]."""
    values = dict(zip(world.sheet.names, map(int, numbers.split()), strict=False))
    defs = {f"{name}_def": value for name, value in values.items()}
    return design(world.sheet, defs, equipment, enforced=False)


def changed(world: Physics, equipment: Mapping[str, Any] | None = None, **defs: int) -> Design:
    """Return the default design with some DEF changed."""
    given = {f"{name}_def": value for name, value in defs.items()}
    return design(world.sheet, given, equipment, enforced=False)


# Against the twin --------------------------------------------------------------------------------


def random_equipment(stream: Stream, world: Physics) -> dict[str, Any]:
    kind = stream.below(3)
    if kind == 0:
        return {}
    if kind == 1:
        slots = stream.sample(SLOTS, 1 + stream.below(2))
        return {slot: stream.choice(OPTIONS) for slot in slots}
    found: dict[str, Any] = {
        slot: stream.choice(list(offered.options)) for slot, offered in world.sheet.slots.items()
    }
    return found | {name: bool(stream.below(2)) for name in world.sheet.booleans}


def random_design(stream: Stream, world: Physics) -> Design:
    most = stream.choice((10, 30, 50, 50, 400))
    given = {f"{name}_def": stream.below(most + 1) for name in world.sheet.names if stream.below(5)}
    return design(world.sheet, given, random_equipment(stream, world), enforced=False)


@pytest.mark.parametrize("stage", ["stage1", "stage2"])
@pytest.mark.parametrize("name", sampled(KINDS, 2))
def test_every_drone_flies_as_in_the_twin(name: str, stage: Stage) -> None:
    world, stream = physics(name), Stream("twin", name, stage)
    seen = 0
    for number in range(DESIGNS):
        plan = random_design(stream, world)
        path = ("twin", name, stage, number)
        flights = fly(world, fleet(world.layout, Stream(*path), EACH), plan, stage)
        rows = Stream(*path).uniforms(EACH * world.layout.width).reshape(EACH, -1).tolist()
        defs = dict(zip(world.sheet.names, plan.defs, strict=True))
        for i, row in enumerate(rows):
            expected = twin.fly(name, defs, dict(plan.equipment), stage, row)
            assert entry(flights, i, expected) == expected, (plan, i)
            seen += expected.was_detected
    assert seen > DESIGNS * EACH / 50


def entry(flights: Flights, i: int, like: twin.Outcome) -> twin.Outcome:
    """Return what became of one drone in the twin's words."""
    where = flights.environment
    known = {**where.hidden, **flights.hidden}
    hidden = {
        key: where.column(key)[i].item() if key in where.hidden else known[key][i].item()
        for key in like.hidden
    }
    assert (flights.status[i] == "RETURNED") == flights.returned[i]
    return twin.Outcome(
        bool(flights.returned[i]),
        bool(flights.was_detected[i]),
        int(flights.hit_count[i]),
        {key: where.column(key)[i].item() for key in where.visible},
        hidden,
        {key: int(flights.hidden[f"{key}_hp"][i]) for key in like.hp},
    )


def test_the_layout_is_as_documented() -> None:
    widths = {"antenna": 84, "zone": 28, "env_shift": 28, "default": 14, "weather": 7}
    for name, width in widths.items():
        assert physics(name).layout.width == width
        assert list(physics(name).layout.purposes) == twin.COLUMNS[name]


# Against the spec's §9 ---------------------------------------------------------------------------

STEALTH = {"coating": "stealth"}
RADAR = {"enhancement_module": "radar_boost"}
FILTER = {"enhancement_module": "signal_filter"}

BEST_ANTENNA, BEST_STEALTH = "18 9 20 17 0 11 12", "14 9 25 19 0 11 9"
BEST_ZONE, BEST_WEATHER = "0 27 10 8 0 0 0 23", "30 4 13 13 30 0 0"


def figures() -> dict[str, dict[str, tuple[Design, float]]]:
    """Return the spec's designs with their survival in per cent, by physics."""
    antenna, zone, default, shift, weather = map(
        physics, ("antenna", "zone", "default", "env_shift", "weather")
    )
    return {
        "antenna": {
            "default": (changed(antenna), 54.3),
            "trap": (changed(antenna, antenna=30), 34.5),
            "intended": (changed(antenna, antenna=0), 82.9),
            "best": (built(antenna, BEST_ANTENNA), 92.8),
            "best with stealth": (built(antenna, BEST_STEALTH, STEALTH), 94.9),
            "history of high_def": (built(antenna, "35 35 30 30 25 20 20"), 37.1),
            "history of local_optima": (built(antenna, "20 20 15 15 5 10 10"), 80.3),
            "paradox, one group": (changed(antenna, antenna=20), 34.5),
            "paradox, the other": (changed(antenna, antenna=25), 34.6),
            "camera is the second lever": (built(antenna, "20 20 15 15 0 10 10"), 92.6),
            "range only": (built(antenna, "50 50 50 50 0 50 50"), 95.5),
            "nothing": (built(antenna, "0 0 0 0 0 0 0"), 23.6),
        },
        "zone": {
            "default": (changed(zone), 50.5),
            "trap": (changed(zone, RADAR, engine=30, wing=25), 50.7),
            "intended": (changed(zone, FILTER, shield=25), 80.2),
            "best": (built(zone, BEST_ZONE, FILTER), 80.1),
            "no filter": (built(zone, "0 0 13 7 0 0 0 50"), 76.6),
            "history of high_def": (built(zone, "30 30 25 25 20 15 15 0", RADAR), 50.6),
            "history of local_optima": (built(zone, "35 30 30 25 15 10 10 5", FILTER), 72.5),
            "low": (changed(zone, {"flight_profile": "low"}), 51.8),
            "medium": (changed(zone, {"flight_profile": "medium"}), 50.8),
            "high": (changed(zone, {"flight_profile": "high"}), 49.4),
        },
        "default": {
            "default": (changed(default), 71.4),
            "trap": (changed(default, RADAR, engine=30, wing=25), 71.6),
            "intended": (changed(default, FILTER, shield=25), 71.4),
        },
        "env_shift": {
            "default": (changed(shift), 32.4),
            "trap": (changed(shift, engine=30, wing=25), 32.4),
            "intended": (changed(shift, shield=30), 32.4),
            "best": (changed(shift, {"signal_filter": "adaptive"}, shield=50), 32.5),
        },
        "weather": {
            "default": (changed(weather), 15.9),
            "trap": (changed(weather, antenna=30), 19.4),
            "intended": (changed(weather, antenna=8), 15.8),
            "best": (built(weather, BEST_WEATHER), 33.8),
        },
    }


@cache
def measured(name: str, n: int = DRONES) -> dict[str, float]:
    """Return the survival of the spec's designs in per cent, all on the same drones of stage 2."""
    return rates(name, {key: plan for key, (plan, _) in figures()[name].items()}, n)


def rates(name: str, designs: Mapping[str, Design], n: int) -> dict[str, float]:
    world = physics(name)
    returned = dict.fromkeys(designs, 0)
    for part in fleets(world.layout, Stream("table", name), n):
        for key, plan in designs.items():
            returned[key] += int(fly(world, part, plan, "stage2").returned.sum())
    return {key: 100 * count / n for key, count in returned.items()}


@pytest.mark.parametrize(
    ("name", "key"), [(name, key) for name, table in figures().items() for key in table]
)
def test_the_table_of_the_spec(name: str, key: str) -> None:
    assert measured(name)[key] == pytest.approx(figures()[name][key][1], abs=0.5)


def test_antenna_dose_and_response() -> None:
    said = [83, 82.5, 81, 80.5, 78, 76, 72, 69, 63, 59, 54, 50.5, 45.5, 42, 39, 37]
    world = physics("antenna")
    found = rates("antenna", {str(d): changed(world, antenna=d) for d in range(16)}, 30_000)
    assert list(found.values()) == pytest.approx(said, abs=1.0)  # they are given to the half


def test_shield_sweep() -> None:
    world = physics("zone")
    radar = dict(zip((0, 25, 40, 50), (50.5, 61, 71, 76.7), strict=True))
    filtered = dict(zip((0, 5, 10, 15, 20, 25), (69, 72, 75, 78, 80, 80), strict=True))
    for module, said in ((RADAR, radar), (FILTER, filtered)):
        designs = {str(shield): changed(world, module, shield=shield) for shield in said}
        found = rates("zone", designs, 50_000)
        assert list(found.values()) == pytest.approx(list(said.values()), abs=1.0)


def test_how_the_default_antenna_drone_dies() -> None:
    world = physics("antenna")
    flights = fly(world, fleet(world.layout, Stream("deaths"), 50_000), changed(world), "stage2")
    seen, storm = flights.was_detected, flights.environment["is_storm"]
    assert seen.mean() == pytest.approx(0.53, abs=0.01)
    assert 1 - flights.returned[seen].mean() == pytest.approx(0.87, abs=0.01)
    assert flights.returned[~seen].all()
    assert flights.returned[storm].mean() == pytest.approx(0.55, abs=0.01)
    assert flights.returned[~storm].mean() == pytest.approx(0.50, abs=0.015)


def test_survival_by_zone() -> None:
    world = physics("zone")
    flights = fly(world, fleet(world.layout, Stream("zones"), 100_000), changed(world), "stage2")
    zone = flights.environment.column("mission_zone")
    for name, rate in zip(world.zones, (0.77, 0.59, 0.32, 0.80, 0.33), strict=True):
        assert flights.returned[zone == name].mean() == pytest.approx(rate, abs=0.015)
    assert flights.returned[~flights.was_detected].all()


def test_the_environment_shifts_between_the_stages() -> None:
    rate = {
        name: [
            survival(world, changed(world), stage, Stream("shift"), 50_000)
            for stage in ("stage1", "stage2")
        ]
        for name, world in ((name, physics(name)) for name in KINDS)
    }
    assert rate["env_shift"][0] == pytest.approx(35.9 / 50, abs=0.01)
    for name in ("antenna", "zone", "default"):
        assert rate[name][0] == rate[name][1]
    assert rate["weather"][0] != rate["weather"][1]


# Defects of the release, kept in profile `published` ---------------------------------------------


def same(world: Physics, one: Design, other: Design, stage: Stage = "stage2") -> bool:
    part = fleet(world.layout, Stream("same", world.name), 2000)
    a, b = (fly(world, part, plan, stage) for plan in (one, other))
    return bool((a.returned == b.returned).all() and (a.hit_count == b.hit_count).all())


def test_env_shift_reads_neither_shield_nor_equipment() -> None:
    all_on = {
        "comm_protocol": "hardened",
        "power_mode": "electronics",
        "signal_filter": "adaptive",
        "hull_coating": "shielded",
        "reinforced_shielding": True,
    }
    world = physics("env_shift")
    plans = [changed(world), changed(world, all_on)]
    part = fleet(world.layout, Stream("inert"), 500)
    for plan in [*plans, changed(world, shield=50)]:
        assert (fly(world, part, plan, "stage2").hidden["comm_failure_prob"] == 0.95).all()
    assert same(world, *plans)
    assert not same(world, plans[0], changed(world, {"flight_profile": "low"}), "stage1")


def test_any_equipment_lights_the_beacon() -> None:
    world = physics("antenna")
    part = fleet(world.layout, Stream("beacon"), 500)

    def seen(equipment: dict[str, Any] | None) -> Any:
        return fly(world, part, changed(world, equipment), "stage2").hidden["detection_prob"]

    bare = seen(None)
    assert (seen({}) == bare).all()
    for inert in ({"coating": "standard"}, {"what": "ever"}, {"emergency_beacon": False}):
        assert np.allclose(seen(inert), np.clip(bare + 0.05, 0.01, 0.95))
    stealth = seen({"coating": "stealth"})
    assert (seen({"anywhere": "stealth"}) == stealth).all()
    assert stealth.mean() < bare.mean() - 0.05


def test_camera_and_gun_are_mitigated_twice() -> None:
    world = physics("antenna")
    part = fleet(world.layout, Stream("twice"), 2000)
    flights = fly(world, part, changed(world), "stage2")
    # Camera DEF 5 takes 12 of 25 … 39 away, then 4 more: what is predicted dead may still stand.
    blind = flights.environment["wind_speed"] > 35
    damage = (25 + 15 * part.draws["camera"]).astype(int) - 12
    assert (flights.hidden["camera_hp"] == np.maximum(0, 20 - (damage - 4)))[blind].all()


def test_the_default_scm_has_no_lever() -> None:
    world = physics("default")
    assert same(world, changed(world), changed(world, FILTER))
    assert world.sheet == physics("zone").sheet
    assert set(
        fly(
            world, fleet(world.layout, Stream("x"), 2), changed(world), "stage2"
        ).environment.visible
    ) == {"wind_speed", "humidity", "temperature"}


def test_no_defence_is_too_large_for_the_released_server() -> None:
    for name in KINDS:
        world = physics(name)
        huge = changed(world, **dict.fromkeys(world.sheet.names, 10**400))
        assert same(world, huge, changed(world, **dict.fromkeys(world.sheet.names, 10**9)))


# One number for a round --------------------------------------------------------------------------


def test_one_number_gives_hit_target_and_damage_as_independent_draws_would() -> None:
    combat = physics("zone").formulas.combat
    names = physics("zone").sheet.names
    weights = [combat.units[name] for name in names]
    n, chance, fallen = 400_000, 0.37, 5
    hp = np.full((len(names), n), 10)
    hp[fallen] = 0  # nobody aims at a component that was lost before
    luck = Stream("round").words(n).reshape(n, 1)
    whole_fight = Fight(luck, np.full(n, chance), np.ones(n, int), np.ones(n), hp)
    hit = whole_fight.hits()
    raw = whole_fight._blows(combat, names, hit, tuple(range(len(names)))).damage(combat, 0, 1)
    assert scipy.stats.binomtest(int(hit.sum()), n, chance).pvalue > 1e-4
    assert ((raw > 0).sum(axis=0) == hit[:, 0]).all()
    # The number of damages 49 … 90 and, twice that, of critical hits, for each target.
    shares = dict.fromkeys(range(49, 91), 0.8 / 42) | {2 * d: 0.2 / 42 for d in range(49, 91)}
    aimed = [c for c in range(len(names)) if c != fallen]
    total = sum(weights[c] for c in aimed)
    seen = [Counter(raw[c][raw[c] > 0].tolist()) for c in aimed]
    assert set().union(*seen) == set(shares)
    found = [seen[i][d] for i in range(len(aimed)) for d in shares]
    said = [hit.sum() * weights[c] / total * shares[d] for c in aimed for d in shares]
    assert scipy.stats.chisquare(found, said).pvalue > 1e-4


# Common random numbers ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", KINDS)
def test_a_fleet_is_the_beginning_of_a_larger_one(name: str) -> None:
    world, plan = physics(name), changed(physics(name))
    large = fly(world, fleet(world.layout, Stream("prefix"), 500), plan, "stage2")
    for part in (
        fleet(world.layout, Stream("prefix"), 120),
        fleet(world.layout, Stream("prefix"), 300).first(120),
    ):
        small = fly(world, part, plan, "stage2")
        assert len(small) == 120
        for field in ("returned", "was_detected", "hit_count"):
            assert (getattr(small, field) == getattr(large, field)[:120]).all()
        for key, values in small.environment.visible.items():
            assert (values == large.environment.visible[key][:120]).all()
    parts = list(fleets(world.layout, Stream("prefix"), 500, batch=170))
    assert [len(part) for part in parts] == [170, 170, 160]
    joined = np.concatenate([fly(world, part, plan, "stage2").returned for part in parts])
    assert (joined == large.returned).all()
    assert large.survival_rate == survival(world, plan, "stage2", Stream("prefix"), 500)


@pytest.mark.parametrize("name", KINDS)
def test_two_designs_meet_the_same_environment(name: str) -> None:
    world, stream = physics(name), Stream("common", name)
    part = fleet(world.layout, Stream("fleet"), 200)
    kept = {key: draw.copy() for key, draw in part.draws.items()} | {"": part.rounds.copy()}
    first = fly(world, part, changed(world), "stage2")
    for _ in range(10):
        plan = random_design(stream, world)
        other = fly(world, part, Design(plan.defs), "stage2")
        for key, values in {**other.environment.visible, **other.environment.hidden}.items():
            assert (values == first.environment[key]).all()
    assert all((draw == kept[key]).all() for key, draw in part.draws.items())
    assert (part.rounds == kept[""]).all()


def test_common_drones_make_comparisons_sharper() -> None:
    world = physics("antenna")
    one, other = changed(world, antenna=0), changed(world, antenna=0, camera=6)
    shared, apart = [], []
    for i in range(60):
        a = fly(world, fleet(world.layout, Stream("crn", i), 200), one, "stage2").survival_rate
        b = fly(world, fleet(world.layout, Stream("crn", i), 200), other, "stage2").survival_rate
        c = fly(world, fleet(world.layout, Stream("new", i), 200), other, "stage2").survival_rate
        shared.append(b - a)
        apart.append(c - a)
    assert np.var(shared) < np.var(apart) / 2


def test_an_environment_can_be_given() -> None:
    world = physics("zone")
    part = fleet(world.layout, Stream("given"), 1000)
    drawn = fly(world, part, changed(world), "stage2")
    again = fly(world, part, changed(world), "stage2", drawn.environment)
    assert (again.returned == drawn.returned).all()


def test_an_empty_fleet_flies() -> None:
    for name in KINDS:
        world = physics(name)
        assert not len(fly(world, fleet(world.layout, Stream("e"), 0), changed(world), "stage1"))
    with pytest.raises(ValueError, match="draw a larger one"):
        fleet(world.layout, Stream("e"), 3).first(4)


# Designs -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("defs", "equipment", "said"),
    [
        ({"engine": 5}, None, "'engine' is no component: use engine_def, cockpit_def"),
        ({"shield_def": 5}, None, "'shield_def' is no component"),
        ({"engine_def": -1}, None, "engine_def is -1: give 0 or more"),
        ({"engine_def": 2.5}, None, "engine_def must be a whole number"),
        ({"engine_def": True}, None, "engine_def must be a whole number"),
        ({"engine_def": "20"}, None, "engine_def must be a whole number"),
        ({"engine_def": 51}, None, "engine_def is 51: give 0 to 50"),
        ({"engine_def": 21}, None, "add up to 91.*the budget is 90, so take away 1"),
        ({}, {"coat": "stealth"}, "'coat' is no slot.*there are coating, antenna_mode"),
        ({}, {"emergency_beacon": False}, "'emergency_beacon' is no slot that can be set"),
        ({}, {"coating": "velvet"}, "'velvet' does not fit coating: choose one of standard, ste"),
        ({}, {"coating": True}, "'True' does not fit coating"),
        ({}, {"coating": ["stealth"]}, "must be an option's id: give it as text"),
    ],
)
def test_a_bad_design_is_told_how_to_mend_it(
    defs: dict[str, object], equipment: dict[str, object] | None, said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        design(physics("antenna").sheet, defs, equipment)


def test_the_released_server_checks_next_to_nothing() -> None:
    sheet = physics("antenna").sheet
    assert design(sheet, {"engine_def": 5000}, {"x": "y"}, enforced=False).defs[0] == 5000
    for defs in ({"engine": 5}, {"engine_def": -1}):
        with pytest.raises(ValueError, match="engine"):
            design(sheet, defs, enforced=False)


def test_what_is_left_out_keeps_its_default() -> None:
    for name, total in (("antenna", 90), ("zone", 70), ("env_shift", 90), ("weather", 90)):
        assert design(physics(name).sheet).total == total
    assert design(physics("zone").sheet, {"engine_def": 12.0}).defs == (12, 15, 10, 10, 10, 5, 5, 0)


def test_no_equipment_can_be_set_where_there_is_none() -> None:
    with pytest.raises(ValueError, match="leave equipment out"):
        design(physics("weather").sheet, {}, {"sensor_mode": "wide"})


def test_an_unknown_physics_is_not_replaced_in_silence() -> None:
    with pytest.raises(ValueError, match=r"Unknown physics 'moon'\. Choose one of antenna, zone"):
        physics("moon")


def test_hidden_variables_stay_apart() -> None:
    for name in KINDS:
        world = physics(name)
        flights = fly(world, fleet(world.layout, Stream("h"), 5), changed(world), "stage1")
        assert not set(flights.environment.visible) & {*flights.environment.hidden, *flights.hidden}
        assert "detection_prob" in flights.hidden
