"""The actions of an episode, by name."""

from __future__ import annotations

from dataclasses import replace

from whybench.episode.action import ActionSpec, Argument

QUESTIONS = ("success", "determinants", "failures", "conclusion")
"""What a report answers, each in a text of its own."""

OUTCOMES = ("design", "status", "was_detected", "hit_count")
ASK = "query_environment"

BELIEFS = Argument(
    "beliefs",
    'what you believe so far, as JSON text: [{"cause": …, "effect": …, "sign": "raises"}, …]',
    optional=True,
)
DESIGN = Argument("design", 'the DEF of components, as JSON text: {"engine_def": 20, …}')
EQUIPMENT = Argument("equipment", "options by slot, as JSON text; none if left out", optional=True)

SPECS = (
    ActionSpec(
        "deploy",
        "Build some drones of one design, fly them, and see what becomes of them.",
        (DESIGN, Argument("count", "how many drones"), EQUIPMENT, BELIEFS),
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

DRAWN = {
    "design": replace(DESIGN, meaning="the DEF of components by key, as JSON text"),
    "equipment": replace(EQUIPMENT, meaning="option by slot, as JSON text; default if left out"),
}
DRAWN_SPECS = tuple(
    replace(spec, arguments=tuple(DRAWN.get(one.name, one) for one in spec.arguments))
    for spec in SPECS
)
"""The same for drawn systems: no component is called engine, and the slot is never empty."""

LOOKS = frozenset({"get_status", "get_history", "get_environments", "get_action_space"})
