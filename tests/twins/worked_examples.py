"""The five worked examples of the CausalLink paper (its section 5.3), as data."""

from dataclasses import dataclass

from .causallink_twin import Answer, State, Verb


@dataclass(frozen=True)
class Example:
    """One worked example of the paper's section 5.3; the states read (m) and (s) in order."""

    label: str
    shapes: tuple[str, ...]
    start: str
    turns: tuple[tuple[Verb, str, str], ...]
    cause: str
    effect: str
    answer: Answer


EXAMPLES = {
    "root cause": Example(
        "root_cause_bias",
        ("triangle", "square", "circle"),
        "mmm",
        (("hold", "square", "mmm"), ("hold", "triangle", "sss")),
        "square",
        "circle",
        "no",
    ),
    "correlation, always alike": Example(
        "correlation_bias",
        ("triangle", "octagon", "rectangle", "circle"),
        "mmmm",
        (
            ("hold", "octagon", "mmmm"),
            ("hold", "rectangle", "mmmm"),
            ("hold", "circle", "mmmm"),
            ("hold", "triangle", "ssss"),
        ),
        "octagon",
        "triangle",
        "yes",
    ),
    "correlation, effect already moving": Example(
        "correlation_bias",
        ("triangle", "square", "circle"),
        "mss",
        (("move", "circle", "msm"),),
        "circle",
        "triangle",
        "yes",
    ),
    "illusive confounder": Example(
        "illusive_confounder_bias",
        ("triangle", "square", "circle"),
        "mmm",
        (("hold", "triangle", "sss"),),
        "triangle",
        "circle",
        "no",
    ),
    "reverse collider": Example(
        "reverse_collider_bias",
        ("square", "ellipse", "hexagon", "circle"),
        "mmmm",
        (("hold", "square", "smmm"),),
        "square",
        "hexagon",
        "no",
    ),
}
VERDICTS = {
    "root cause": "undecided",
    "correlation, always alike": "no",
    "correlation, effect already moving": "undecided",
    "illusive confounder": "yes",
    "reverse collider": "undecided",
}


def read(states_shown: str) -> State:
    """The moving shapes of a state written with m and s."""
    return frozenset(node for node, mark in enumerate(states_shown) if mark == "m")
