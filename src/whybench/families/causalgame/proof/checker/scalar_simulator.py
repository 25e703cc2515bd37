"""Simulate one drone at a time for `check`: which drones of a fleet return.

The numbers of a physics are its own. The code that combines them is written again, drone by drone
and round by round. Nothing is shared with `flight`, `combat`, `formulas` and the methods of the
physics.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from whybench.causal.seeds import Stream
from whybench.families.causalgame.world.design import Design
from whybench.families.causalgame.world.fleet import Stage
from whybench.families.causalgame.world.physics.antenna import Antenna, Stress
from whybench.families.causalgame.world.physics.default import Default
from whybench.families.causalgame.world.physics.deployment_zone import ZonePhysics
from whybench.families.causalgame.world.physics.formulas import Formulas
from whybench.families.causalgame.world.physics.physics import Physics
from whybench.families.causalgame.world.physics.weather import Weather
from whybench.families.causalgame.world.physics.weather_state import Sky
from whybench.families.causalgame.world.sheet import Effect, Sheet
from whybench.families.causalgame.world.world import World

Draws = Mapping[str, float]
STAGE: Stage = "stage2"
"""The fleet that is scored."""


@dataclass(slots=True)
class Danger:
    """What a drone meets before combat."""

    raw: dict[str, int] = field(default_factory=dict)
    """Damage that DEF reduces."""
    sure: dict[str, int] = field(default_factory=dict)
    """Damage that DEF does not reduce."""
    detection: float = 0.0
    rounds: float = 1.0
    accuracy: float = 1.0
    power: float = 1.0


@dataclass(frozen=True, slots=True)
class Built:
    """A design with the effects of its equipment."""

    defs: Mapping[str, int]
    equipment: Mapping[str, str | bool]
    detection: float
    resistance: float


def fleet_rows(world: World) -> list[list[float]]:
    """Return the random numbers of the fleet, one row for each drone."""
    layout, size = world.physics.layout, world.rules.fleet_size
    numbers = Stream(*world.path, "fleet").uniforms(size * layout.width)
    rows: list[list[float]] = numbers.reshape(size, layout.width).tolist()
    return rows


def returns(physics: Physics, design: Design, rows: Iterable[Sequence[float]]) -> list[bool]:
    """Return for each drone of a fleet whether it returns."""
    built, sheet, formulas = _built(physics.sheet, design), physics.sheet, physics.formulas
    danger = _danger_of(physics, built)
    purposes = physics.layout.purposes
    agile = _agility(physics, sum(built.defs.values()))
    vital = [name for name, part in sheet.components.items() if part.critical]
    unhurt = {name: part.hp for name, part in sheet.components.items()}
    bounds, combat = formulas.detection, formulas.combat
    cells = {n: [n] * round(combat.weights[n] / combat.weight_unit) for n in sheet.components}
    found = []
    for row in rows:
        now = danger(dict(zip(purposes, row, strict=False)))
        hp = dict(unhurt)
        for name, damage in now.raw.items():
            hp[name] = max(0, hp[name] - _left(formulas, damage, built.defs[name]))
        for name, damage in now.sure.items():
            hp[name] = max(0, hp[name] - damage)
        if all(hp[name] for name in formulas.grounding):
            seen = min(bounds.most, max(bounds.least, now.detection + built.detection))
            if row[len(purposes)] < seen:
                targets = [cell for name, left in hp.items() if left for cell in cells[name]]
                _fight(formulas, now, built, hp, targets, agile, row[len(purposes) + 1 :])
        found.append(all(hp[name] for name in vital))
    return found


def _built(sheet: Sheet, design: Design) -> Built:
    effects: list[Effect] = []
    if design.equipment and sheet.effects_work:
        offered = {o: e for slot in sheet.slots.values() for o, e in slot.options.items()}
        for _, choice in design.equipment:
            if isinstance(choice, str) and choice in offered:
                effects.append(offered[choice])
        chosen = dict(design.equipment)
        for name, switch in sheet.booleans.items():
            on = chosen.get(name) if switch.settable else None
            if on if isinstance(on, bool) else switch.default:
                effects.append(switch.effect)
    multiplier = math.prod((effect.def_multiplier for effect in effects), start=1.0)
    return Built(
        {n: int(d * multiplier) for n, d in zip(sheet.names, design.defs, strict=True)},
        dict(design.equipment),
        sum((effect.detection_modifier for effect in effects), 0.0),
        min(1.0, sum((effect.emi_resistance for effect in effects), 0.0)),
    )


def _spread(u: float, bounds: tuple[float, float]) -> float:
    return bounds[0] + (bounds[1] - bounds[0]) * u


def _left(formulas: Formulas, raw: int, armour: int) -> int:
    """Return the damage that remains after armour."""
    rule = formulas.mitigation
    return _lessened(raw, armour, rule.per_def, rule.most, rule.least_damage) if raw else 0


def _lessened(raw: int, armour: int, per_def: float, most: float, least: int) -> int:
    return max(least, raw - min(int(armour * per_def), int(raw * most))) if raw else 0


def _agility(physics: Physics, total: int) -> float:
    """Return the agility of a drone with this total DEF."""
    rule = physics.agility
    found = 1 - rule.bend * total * math.exp(-total / rule.scale) - rule.slope * total
    return min(rule.most, max(rule.least, found)) if total else rule.most


def _fight(
    formulas: Formulas,
    now: Danger,
    built: Built,
    hp: dict[str, int],
    cells: Sequence[str],
    agile: float,
    luck: Sequence[float],
) -> None:
    """Attack a drone round by round; damage is summed and then reduced by armour.

    `cells` are the equally likely targets: each component as often as its weight says.
    """
    rule = formulas.combat
    drag = math.exp(rule.agility_exponent * (1 - agile))
    p = rule.hit_chance * now.accuracy * drag
    p = min(rule.most_hit_chance, max(rule.least_hit_chance, p))
    taken = dict.fromkeys(hp, 0)
    scale, last, power = len(cells) / p, len(cells) - 1, now.power
    c, low, span = rule.critical_chance, rule.spread[0], rule.spread[1] - rule.spread[0]
    usual, factor = rule.damage, rule.critical_factor
    for x in [u * scale for u in luck[: max(1, int(rule.rounds * now.rounds))] if u < p]:
        cell = int(x)
        f = x - cell
        if f < c:
            damage = factor * int(usual * (low + span * (f / c)))
        else:
            damage = int(usual * (low + span * ((f - c) / (1 - c))))
        taken[cells[cell if cell < last else last]] += int(damage * power)
    for name, damage in taken.items():
        hp[name] = max(0, hp[name] - _left(formulas, damage, built.defs[name]))


def _danger_of(physics: Physics, built: Built) -> Callable[[Draws], Danger]:
    """Return what a drone meets, as a function of its random numbers."""
    if isinstance(physics, Antenna):
        return lambda u: _antenna(physics, built, u)
    if isinstance(physics, ZonePhysics):
        return lambda u: _zone(physics, built, u)
    if isinstance(physics, Weather):
        return lambda u: _weather(physics, built, u)
    if isinstance(physics, Default):
        return lambda _: Danger(detection=physics.detection, rounds=physics.rounds_modifier)
    raise TypeError(f"no drone is flown singly under {physics.name}")


def _stormy(sky: Sky, u: Draws) -> bool:
    return u["weather_pattern"] > 1 - sky.storm_probability[STAGE]


def _antenna(physics: Antenna, built: Built, u: Draws) -> Danger:
    storm = _stormy(physics.sky, u)
    pattern = u["weather_pattern"] * (1 if storm else physics.sky.clear_pattern)
    winds = physics.sky.wind_speed
    wind = _spread(u["wind_speed"], winds.storm if storm else winds.clear)
    taken, share = {}, {}
    for name, rule in physics.exposed.items():
        bounds = rule.strong if wind > physics.strong_wind else rule.mild
        raw = int(_spread(u[name], bounds)) if wind > physics.mild_wind else 0
        most, least = physics.exposed_most_mitigated, physics.formulas.mitigation.least_damage
        taken[name] = _lessened(raw, built.defs[name], rule.per_def, most, least)
        whole = physics.sheet.components[name].hp
        share[name] = max(0, whole - taken[name]) / whole
    raw_damage = {"camera": taken["camera"], "gun": taken["gun"]}
    stress: tuple[tuple[Stress, float], ...] = (
        (physics.wind_stress, wind),
        (physics.pattern_stress, pattern),
    )
    for hard, level in stress:
        for name in hard.components if level > hard.above else ():
            armour = built.defs[name]
            frail = 1 + (1 - armour / physics.frail_below) if armour < physics.frail_below else 1.0
            raw_damage[name] = int(_spread(u[name], hard.damage) * frail)
    seeing, lasting, hitting = physics.detection, physics.rounds, physics.damage
    accuracy = 1 - seeing.camera_relief * share["camera"] if share["camera"] else seeing.blind
    base = seeing.calm * (1 - pattern) + seeing.wild * pattern
    length = lasting.calm * (1 - pattern) + lasting.wild * pattern
    emits = share["antenna"] > 0
    return Danger(
        raw=raw_damage,
        sure={"antenna": taken["antenna"]},
        detection=base + seeing.emission * share["antenna"]
        if emits
        else base * (seeing.stealth * accuracy),
        rounds=length * (lasting.emitting if emits else lasting.silent),
        accuracy=accuracy,
        power=1 - hitting.gun_relief * share["gun"] if share["gun"] else hitting.unarmed,
    )


def _zone(physics: ZonePhysics, built: Built, u: Draws) -> Danger:
    total = 0.0
    for zone in physics.zones.values():
        total += zone.probability[STAGE]
        if zone.probability[STAGE]:
            here = zone
        if u["mission_zone"] < total:
            break
    chosen = built.equipment.get(physics.altitude_slot)
    band = str(chosen) if chosen in physics.altitudes else here.altitude
    at = physics.altitudes[band]
    emi = min(1.0, max(0.0, here.emi + _spread(u["emi"], physics.emi_spread)))
    shield = built.defs["shield"] if physics.shield_works else 0
    kept = min(physics.shield_effectiveness * shield, physics.most_shield_reduction)
    e = emi * (1 - min(physics.most_reduction, kept + built.resistance))
    over = e - physics.emi_threshold
    q = (0.0 if over < 0 else physics.emi_base_failure_rate * over) + at.failure_shift
    q = min(physics.most_failure, max(0.0, q))
    burnt = int(physics.antenna_damage * over) if over > 0 else 0
    raw = dict.fromkeys((*physics.failure_damage, "engine", "wing"), 0)
    if u["comm_failure"] < q:
        severity = _spread(u["severity"], physics.severity) * q
        for name, most in physics.failure_damage.items():
            raw[name] += int(most * severity)
    raw["engine"] += int(_spread(u["engine_wind"], at.engine_wind))
    raw["wing"] += int(_spread(u["wing_wind"], at.wing_wind))
    raw["camera"] = int(physics.camera_share * burnt) if e > physics.camera_above else 0
    worse = physics.emi_hurts * (e - physics.emi_hurts_above)
    return Danger(
        raw=raw,
        sure={"antenna": burnt},
        detection=physics.detection + physics.detection_per_failure * q,
        rounds=physics.long_fight if q > physics.long_fight_above else 1.0,
        power=1 + worse if e > physics.emi_hurts_above else 1.0,
    )


def _weather(physics: Weather, built: Built, u: Draws) -> Danger:
    slopes = physics.antenna_slope
    slope = slopes.storm if _stormy(physics.sky, u) else slopes.clear
    z = slope * (built.defs["antenna"] / physics.antenna_scale) + physics.offset
    engine = (built.defs["engine"] - physics.engine_from) / physics.engine_span
    chance = 1 / (1 + math.exp(min(700.0, -z))) + physics.engine_bonus * min(1, max(0, engine))
    wrecked = u["weathered"] >= chance
    raw = {"engine": physics.wreck} if wrecked else {}
    return Danger(raw=raw, detection=physics.detection, rounds=physics.rounds_modifier)
