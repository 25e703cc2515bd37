"""The five problems of `docs/prism.md`; inputs are variables 0 and 1, all rules are monotone."""

from fractions import Fraction

from whybench.causal.version_space import Rule, System
from whybench.families.prism.world.world import Answer, Question, Trial, World

COPY, AND, OR = 2, 8, 14
"""Tables of rules of one and of two arguments."""


def trials(*rows: str) -> tuple[Trial, ...]:
    """Read rows such as `01 1* 0`: the inputs, then the driven variables."""
    found = []
    for row in rows:
        first, *driven = row.split(" ")
        held = tuple((v, int(cell[0])) for v, cell in enumerate(driven, 2) if "*" in cell)
        values = (*map(int, first), *(int(cell[0]) for cell in driven))
        found.append(Trial(values[:2], held, values))
    return tuple(found)


def example(
    rows: tuple[str, ...], question: Question, truth: System, answer: Answer, yes: Fraction
) -> World:
    """Return a problem with two inputs and two driven variables."""
    return World(4, 2, "mono", 0, trials(*rows), question, truth, answer, yes, question.kind)


EXAMPLES = {
    "do": example(
        ("01 1* 1*", "10 1 0"),
        Question("do", 3, 1, inputs=(1, 0), held=((2, 0),)),
        (Rule((0, 1), OR), Rule((0, 1), AND)),
        "no",
        Fraction(0),
    ),
    "direct": example(
        ("00 0 0*", "11 1* 0*", "10 0 1", "00 0* 1*", "01 0 0", "10 1* 1*"),
        Question("direct", 2, x=0),
        (Rule((0, 1), AND), Rule((0, 2), OR)),
        "cannot",
        Fraction(2, 3),
    ),
    "goal": example(
        ("00 0 0", "01 1 1"),
        Question("goal", 2, 0, inputs=(0, 1), holdable=(3,), most=1),
        (Rule((1, 3), AND), Rule((1,), COPY)),
        "cannot",
        Fraction(3, 10),
    ),
    "ancestor": example(
        ("01 1* 1", "10 0* 1*", "01 0 0", "11 1 1", "00 0 0", "10 1* 0*"),
        Question("ancestor", 3, x=2),
        (Rule((0,), COPY), Rule((1, 2), AND)),
        "yes",
        Fraction(1),
    ),
    "case": example(
        ("10 1 1", "00 1* 0*", "11 1 1*", "01 0* 0", "10 1* 0*", "01 1 0", "00 0 0"),
        Question("case", 3, 1, x=2, held=((2, 1),), noted=((1, 0), (2, 0), (3, 0))),
        (Rule((0, 1), OR), Rule((0, 2), AND)),
        "no",
        Fraction(0),
    ),
}
"""Kind → the problem. The instance of each is its number in this list."""
