"""The actions of the laboratory, as they are offered."""

from __future__ import annotations

from whybench.episode.action import ActionSpec, Argument

HYPOTHESIS = Argument("hypothesis", "your present hypothesis, as JSON text", optional=True)

SPECS = (
    ActionSpec(
        "intervene",
        "Set one property of the manipulator's crystal and measure everything.",
        (
            Argument("property", "the property to set"),
            Argument("value", "the number to set it to"),
            HYPOTHESIS,
        ),
    ),
    ActionSpec(
        "propose",
        "Record a hypothesis without an experiment; this costs nothing.",
        (Argument("hypothesis", "the hypothesis, as JSON text"),),
    ),
    ActionSpec(
        "open_reactor",
        "See the reactor's crystal. The manipulator is locked for good.",
        (HYPOTHESIS,),
    ),
    ActionSpec(
        "submit",
        "Predict the frequency of the reactor's crystal. This ends the task.",
        (
            Argument("frequency", "the predicted frequency, a number"),
            Argument("hypothesis", "your final hypothesis, as JSON text", optional=True),
        ),
        final=True,
    ),
)
