"""Slow, independent twin of CausalGame's physics: one drone at a time, numbers from the spec.

A drone is flown from its row of uniform numbers. A row has these columns, then `detection`, then
one number for each round:

antenna  weather_pattern wind_speed humidity temperature antenna camera gun wing engine body cockpit
zone     mission_zone emi wind_resistance signal_strength temperature engine_wind wing_wind
         comm_failure severity
default  wind_speed humidity temperature
weather  weather_pattern wind_speed humidity temperature weathered

A round's number u hits if u < p. Then x = u * (W / p), W being the sum of the weights in tenths of
the components that stood when the fight began; its whole part picks the target, and the rest f is
a critical hit if f < 0.2; f / 0.2 or (f - 0.2) / 0.8 spreads the damage. Nothing here is shared
with the package, so agreement is evidence.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

CRITICAL = ("engine", "cockpit", "wing", "body")
TENTHS = {
    "engine": 15,
    "cockpit": 15,
    "wing": 12,
    "body": 10,
    "antenna": 8,
    "camera": 5,
    "gun": 5,
    "shield": 10,
}
ANTENNA_HP = {
    "engine": 100,
    "cockpit": 100,
    "wing": 80,
    "body": 80,
    "antenna": 50,
    "camera": 20,
    "gun": 30,
}
ZONE_HP = ANTENNA_HP | {"camera": 30, "gun": 40, "shield": 30}
ANTENNA_COLUMNS = (
    "weather_pattern wind_speed humidity temperature antenna camera gun wing engine body cockpit"
)
ZONE_COLUMNS = (
    "mission_zone emi wind_resistance signal_strength temperature engine_wind wing_wind "
    "comm_failure severity"
)
COLUMNS = {
    "antenna": ANTENNA_COLUMNS.split(),
    "zone": ZONE_COLUMNS.split(),
    "env_shift": ZONE_COLUMNS.split(),
    "default": ["wind_speed", "humidity", "temperature"],
    "weather": ["weather_pattern", "wind_speed", "humidity", "temperature", "weathered"],
}
ZONES = [
    ("alpha", "high", 0.1, 0.15),
    ("beta", "medium", 0.4, 0.25),
    ("gamma", "low", 0.9, 0.35),
    ("delta", "low", 0.1, 0.10),
    ("epsilon", "high", 0.8, 0.15),
]
SHIFT = {
    "stage1": [
        ("alpha", "high", 0.1, 0.5),
        ("beta", "medium", 0.2, 0.2),
        ("gamma", "low", 0.3, 0.3),
    ],
    "stage2": [("delta", "low", 0.8, 0.5), ("epsilon", "high", 0.8, 0.5)],
}


@dataclass
class Outcome:
    returned: bool = False
    was_detected: bool = False
    hit_count: int = 0
    visible: dict[str, Any] = field(default_factory=dict)
    hidden: dict[str, Any] = field(default_factory=dict)
    hp: dict[str, int] = field(default_factory=dict)


@dataclass
class Situation:
    """What the SCM tells the combat engine."""

    damage: dict[str, int] = field(default_factory=dict)
    antenna: int = 0
    detection: float = 0.0
    rounds: float = 1.0
    accuracy: float = 1.0
    power: float = 1.0
    visible: dict[str, Any] = field(default_factory=dict)
    hidden: dict[str, Any] = field(default_factory=dict)


def uniform(low, high, u):
    return low + (high - low) * u


def lessened(raw, defence, per_def=0.9, cap=0.65):
    if raw == 0:
        return 0
    reduction = min(int(defence * per_def), int(raw * cap))
    return max(1, raw - reduction)


def fly(physics, defs, equipment, stage, row: Sequence[float]) -> Outcome:
    """Fly one drone; `defs` has every component, `equipment` is a dictionary, perhaps empty."""
    columns = COLUMNS[physics]
    u = dict(zip(columns, row, strict=False))
    detection_draw, luck = row[len(columns)], row[len(columns) + 1 :]
    extra, resistance, multiplier = effects(physics, equipment)
    defs = {name: int(value * multiplier) for name, value in defs.items()}
    if physics == "antenna":
        now = antenna(defs, u)
    elif physics == "weather":
        now = weather(defs, stage, u, -4)
    elif physics == "default":
        now = default(u)
    else:
        now = zone(physics, defs, equipment, resistance, stage, u)

    hp = dict(ZONE_HP if "shield" in defs else ANTENNA_HP)
    for name, raw in now.damage.items():
        hp[name] = max(0, hp[name] - lessened(raw, defs[name]))
    hp["antenna"] = max(0, hp["antenna"] - now.antenna)
    out = Outcome(visible=now.visible, hidden=now.hidden, hp=dict(hp))
    if hp["engine"] > 0 and hp["cockpit"] > 0:
        p = min(0.95, max(0.01, now.detection + extra))
        if detection_draw < p:
            out.was_detected = True
            agility = 1.0 if "weather" in physics else agility_of(sum(defs.values()))
            out.hit_count = combat(now, defs, hp, agility, luck)
    out.returned = all(hp[name] > 0 for name in CRITICAL)
    return out


def effects(physics, equipment):
    """Detection, EMI resistance, and DEF multiplier of all that is on board."""
    detection, resistance, multiplier = 0.0, 0.0, 1.0
    if not equipment:
        return detection, resistance, multiplier
    for option in equipment.values():
        if physics == "antenna" and option == "stealth":
            detection += -0.15
            multiplier *= 0.9
        if physics == "antenna" and option == "reflective":
            detection += 0.10
            multiplier *= 1.1
        if physics in ("zone", "default") and option == "signal_filter":
            resistance += 0.55
    if physics == "antenna":
        detection += 0.05
    return detection, min(1.0, resistance), multiplier


def agility_of(total):
    if total <= 0:
        return 1.0
    return min(1.0, max(0.1, 1 - 0.002 * total * math.exp(-total / 200) - 0.001 * total))


def combat(now, defs, hp, agility, luck):
    rounds = max(1, int(10 * now.rounds))
    p = min(0.95, max(0.05, 0.80 * now.accuracy * math.exp(0.1 * (1 - agility))))
    targets = [name for name in defs if hp[name] > 0]
    total = sum(TENTHS[name] for name in targets)
    raw = dict.fromkeys(targets, 0)
    hits = 0
    for u in luck[:rounds]:
        if not u < p:
            continue
        hits += 1
        x = u * (total / p)
        end = 0
        for target in targets:
            end += TENTHS[target]
            if x < end:
                break
        f = x - int(x)
        critical = f < 0.2
        g = f / 0.2 if critical else (f - 0.2) / (1 - 0.2)
        damage = int(70 * uniform(0.7, 1.3, g))
        if critical:
            damage = int(2 * damage)
        raw[target] += int(damage * now.power)
    for name, damage in raw.items():
        hp[name] = max(0, hp[name] - lessened(damage, defs[name]))
    return hits


def sky(storm_probability, u):
    drawn = u["weather_pattern"]
    storm = drawn > 1 - storm_probability
    visible = {
        "wind_speed": uniform(40, 80, u["wind_speed"])
        if storm
        else uniform(5, 30, u["wind_speed"]),
        "humidity": uniform(70, 95, u["humidity"]) if storm else uniform(30, 60, u["humidity"]),
        "temperature": uniform(10, 20, u["temperature"])
        if storm
        else uniform(20, 35, u["temperature"]),
    }
    return visible, {"weather_pattern": drawn if storm else 0.5 * drawn, "is_storm": storm}


def antenna(defs, u):
    visible, hidden = sky(0.8, u)
    wind, w = visible["wind_speed"], hidden["weather_pattern"]
    taken, left = {}, {}
    for name, strong, mild, factor in (
        ("antenna", (55, 75), (35, 55), 3.5),
        ("camera", (25, 40), (10, 25), 2.5),
        ("gun", (35, 50), (20, 35), 3.0),
    ):
        raw = 0
        if wind > 35:
            raw = int(uniform(*strong, u[name]))
        elif wind > 15:
            raw = int(uniform(*mild, u[name]))
        taken[name] = lessened(raw, defs[name], factor, 0.8)
        left[name] = max(0, ANTENNA_HP[name] - taken[name])
    damage = {"camera": taken["camera"], "gun": taken["gun"]}
    for name in ("wing", "engine", "body", "cockpit"):
        outer = name in ("wing", "engine")
        if (outer and wind > 50) or (not outer and w > 0.7):
            force = uniform(40, 70, u[name]) if outer else uniform(30, 55, u[name])
            if defs[name] < 15:
                force = force * (1 + (1 - defs[name] / 15))
            damage[name] = int(force)
    seen = 1 - 0.30 * (left["camera"] / 20) if left["camera"] > 0 else 6.0
    base = 0.20 * (1 - w) + 0.10 * w
    length = 0.3 * (1 - w) + 4.0 * w
    emitting = left["antenna"] > 0
    if emitting:
        detection = base + 0.75 * min(1, left["antenna"] / 50)
        length = length * 1.8
    else:
        detection = base * (0.30 * seen)
        length = length * 0.3
    return Situation(
        damage=damage,
        antenna=taken["antenna"],
        detection=detection,
        rounds=length,
        accuracy=seen,
        power=1 - 0.35 * (left["gun"] / 30) if left["gun"] > 0 else 4.0,
        visible=visible,
        hidden=hidden | {"antenna_emitting": emitting},
    )


def zone(physics, defs, equipment, resistance, stage, u):
    shifted = physics != "zone"
    zones = SHIFT[stage] if shifted else ZONES
    total = 0.0
    for name, altitude, emi, probability in zones:  # noqa: B007 - the last one stays
        total += probability
        if u["mission_zone"] < total:
            break
    if equipment.get("flight_profile") in ("low", "medium", "high"):
        altitude = equipment["flight_profile"]
    emi = min(1.0, max(0.0, emi + uniform(-0.1, 0.1, u["emi"])))
    visible = {
        "altitude_band": altitude,
        "wind_resistance": {"low": 0.2, "medium": 0.5, "high": 0.8}[altitude]
        + uniform(-0.1, 0.1, u["wind_resistance"]),
        "signal_strength": {"low": 0.9, "medium": 0.85, "high": 0.75}[altitude]
        + uniform(-0.05, 0.05, u["signal_strength"]),
        "temperature": uniform(
            *{"low": (15, 30), "medium": (10, 20), "high": (-5, 10)}[altitude], u["temperature"]
        ),
    }
    shield = 0.0 if shifted else min(0.015 * defs["shield"], 0.85)
    e = emi * (1 - min(0.95, shield + resistance))
    rate = 2.0 if shifted else 1.5
    q = 0.0 if e < 0.10 else rate * (e - 0.10)
    q = min(0.95, max(0.0, q + {"low": -0.05, "medium": 0.0, "high": 0.05}[altitude]))
    damage = {"engine": 0, "wing": 0, "body": 0, "cockpit": 0, "camera": 0}
    if altitude == "high":
        damage["engine"] += int(uniform(5, 15, u["engine_wind"]))
        damage["wing"] += int(uniform(8, 20, u["wing_wind"]))
    elif altitude == "medium":
        damage["wing"] += int(uniform(3, 10, u["wing_wind"]))
    burnt = int(80 * (e - 0.10)) if e > 0.10 else 0
    if e > 0.4:
        damage["camera"] += int(0.6 * burnt)
    failed = u["comm_failure"] < q
    if failed:
        severity = uniform(0.6, 1.0, u["severity"]) * q
        for part, most in (("engine", 60), ("wing", 50), ("body", 40), ("cockpit", 35)):
            damage[part] += int(most * severity)
    return Situation(
        damage=damage,
        antenna=burnt,
        detection=0.20 + 0.5 * q,
        rounds=1.8 if q > 0.5 else 1.0,
        power=1 + 0.5 * (e - 0.5) if e > 0.5 else 1.0,
        visible=visible,
        hidden={"mission_zone": name, "emi": emi, "effective_emi": e, "comm_failure_prob": q},
    )


def default(u):
    return Situation(
        detection=0.3,
        visible={
            "wind_speed": uniform(10, 40, u["wind_speed"]),
            "humidity": uniform(30, 70, u["humidity"]),
            "temperature": uniform(15, 30, u["temperature"]),
        },
    )


def weather(defs, stage, u, offset):
    visible, hidden = sky({"stage1": 0.7, "stage2": 0.3}[stage], u)
    a = defs["antenna"] / 30
    z = (2.5 * a if hidden["is_storm"] else -2.5 * a) + offset
    p = 1 / (1 + math.exp(-z)) + 0.3 * min(1, max(0, (defs["engine"] - 10) / 20))
    survives = u["weathered"] < min(1, max(0, p))
    return Situation(
        damage={} if survives else {"engine": 1000},
        detection=0.5,
        rounds=0.1,
        visible=visible,
        hidden=hidden,
    )
