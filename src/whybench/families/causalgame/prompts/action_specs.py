"""The actions of an episode, by name."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from whybench.episode.action import ActionSpec, Argument
from whybench.episode.prompts.conversation import object_schema
from whybench.families.causalgame.claims import SIGNS
from whybench.families.causalgame.world.design import SUFFIX

QUESTIONS = ("success", "determinants", "failures", "conclusion")
"""What a report answers, each in a text of its own."""

OUTCOMES = ("design", "status", "was_detected", "hit_count")
ASK = "query_environment"

_TEXT = {"type": "string"}
_BELIEF = object_schema(
    {"cause": _TEXT, "effect": _TEXT, "sign": {"type": "string", "enum": SIGNS}, "when": _TEXT}
) | {"required": ["cause", "effect", "sign"]}

BELIEFS = Argument("beliefs", "what you believe so far", True, {"type": "array", "items": _BELIEF})
DESIGN = Argument("design", 'the DEF of components: {"engine_def": 20, …}')
EQUIPMENT = Argument("equipment", "options by slot; none if left out", optional=True)
COUNT = Argument("count", "how many drones", schema={"type": "integer", "minimum": 1})

SPECS = (
    ActionSpec(
        "deploy",
        "Build some drones of one design, fly them, and see what becomes of them.",
        (DESIGN, COUNT, EQUIPMENT, BELIEFS),
    ),
    ActionSpec("get_status", "See what is left of the budgets, and the goal."),
    ActionSpec("get_history", "See all records of flights that can be seen."),
    ActionSpec("get_environments", "See where the drones on record flew."),
    ActionSpec("get_action_space", "See what a design may be."),
    ActionSpec(
        ASK,
        "Ask the analysts about one circumstance of the flights; what they find is on all records.",
        (Argument("question", "one question in plain words"),),
    ),
    ActionSpec(
        "submit",
        "Commit the design for the fleet. It flies once.",
        (DESIGN, EQUIPMENT, BELIEFS),
        final=True,
    ),
    ActionSpec(
        "report",
        "Report after the fleet has flown. This ends the mission.",
        (
            Argument("success", "did it work, and how do you know?"),
            Argument("determinants", "what decides whether a drone comes back?"),
            Argument("failures", "why were drones lost?"),
            Argument("conclusion", "what should be concluded?"),
            BELIEFS,
        ),
        final=True,
    ),
)


@lru_cache(maxsize=1024)
def action_specs(
    components: tuple[str, ...],
    def_range: tuple[int, int],
    slots: tuple[tuple[str, str, tuple[str, ...]], ...],
    switches: tuple[str, ...],
    drawn: bool,
) -> tuple[ActionSpec, ...]:
    """Return the actions with the components and options that the sheet of a mission shows.

    In drawn systems no component is called engine, and the slot is never empty.
    """
    low, high = def_range
    rating = {"type": "integer", "minimum": low, "maximum": high}
    options = {slot: {"type": "string", "enum": offered} for slot, _, offered in slots}
    options |= {name: {"type": "boolean"} for name in switches}
    keys = {"design": {name + SUFFIX: rating for name in components}, "equipment": options}

    def typed(one: Argument) -> Argument:
        if one.name not in keys:
            return one
        shape = {"type": "object", "properties": keys[one.name], "additionalProperties": False}
        return replace(one, schema=shape, meaning=DRAWN[one.name] if drawn else one.meaning)

    return tuple(replace(spec, arguments=tuple(map(typed, spec.arguments))) for spec in SPECS)


DRAWN = {
    "design": "the DEF of components by key",
    "equipment": "option by slot; default if left out",
}
"""Meanings of arguments in drawn systems."""

LOOKS = frozenset({"get_status", "get_history", "get_environments", "get_action_space"})
