"""The hidden system, the trials that are shown, and the question about them.

Variables are numbers: the inputs 0 … r−1, then the driven variables r … n−1. A hidden input, if
there is one, has the number n. Prompt templates give them names and a listing order.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

from whybench.causal.version_space import Row, Space, System, bits_of

Kind = Literal["see", "do", "direct", "ancestor", "goal", "case", "had"]
"""`see`: an undisturbed trial. `do`, `direct`, `ancestor`, `goal`: interventions. `case`, `had`:
what would have happened in a trial that did happen."""

KINDS: tuple[Kind, ...] = get_args(Kind)

RUNGS: dict[Kind, int] = {
    "see": 1, "do": 2, "direct": 2, "ancestor": 2, "goal": 2, "case": 3, "had": 3,
}  # fmt: skip
"""Kind → the rung of the causal ladder."""

RULES = {
    "mono": "a copy of one variable, or `and` or `or` of two",
    "any": "any function that needs each of its one or two arguments",
    "mono3": "any monotone function that needs each of its one to three arguments",
}
"""Class → its rules in words."""

Answer = Literal["yes", "no", "cannot"]

ANSWERS: tuple[Answer, ...] = get_args(Answer)

Values = tuple[tuple[int, int], ...]
"""Some variables with their values, sorted by variable."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One trial: what was set, what was held, and what every observed variable was."""

    inputs: tuple[int, ...]
    """The values of the inputs."""
    held: Values
    """The driven variables that were held, with their values; their own rules were off."""
    values: tuple[int, ...]
    """The values of all n variables."""

    @classmethod
    def of(cls, space: Space, row: Row) -> Trial:
        """Return a trial from its bits."""
        values = bits_of(row.values, space.n)
        held = tuple((v, values[v]) for v in range(space.n) if row.targets >> v & 1)
        return cls(values[: space.roots], held, values)

    @property
    def row(self) -> Row:
        """The trial as bits."""
        targets = sum(1 << v for v, _ in self.held)
        return Row(targets, sum(x << v for v, x in enumerate(self.values)))


@dataclass(frozen=True, slots=True)
class Question:
    """A question about the hidden system; which fields are used depends on the kind.

    | kind | asks |
    |---|---|
    | `see` | in a new undisturbed trial only `noted` was seen: is `y` = `value`? |
    | `do` | with these `inputs` and `held`: is `y` = `value`? |
    | `direct` | is `x` an argument of the rule of `y`? |
    | `ancestor` | does a chain of rules lead from `x` to `y`? |
    | `goal` | with these `inputs`, can holding at most `most` of `holdable` make `y` = `value`? |
    | `case` | undisturbed trial, only `noted` was seen: with also `held`, would `y` be `value`? |
    | `had` | shown trial number `trial`, from 0: with also `held`, would `y` be `value`? |

    In the last two, `held` is the other value of `x`, and everything else is as it was.
    """

    kind: Kind
    y: int
    value: int = 1
    x: int | None = None
    inputs: tuple[int, ...] = ()
    held: Values = ()
    noted: Values = ()
    holdable: tuple[int, ...] = ()
    most: int = 0
    trial: int | None = None


@dataclass(frozen=True, slots=True)
class Lab:
    """What an agent that runs its own experiments may do."""

    holdable: tuple[int, ...]
    """The driven variables that may be held, at most two at once."""
    budget: int
    """The most experiments."""
    minimax: int
    """The worst case of the best plan."""


@dataclass(frozen=True, slots=True)
class World:
    """One problem: the shown trials, the question, the gold answer, and the hidden truth.

    With a `lab`, the agent runs experiments of its own after the shown trials, and the gold answer
    `cannot` means that no allowed experiment can settle the question.
    """

    n: int
    roots: int
    cls: str
    """Which rules are possible: `mono`, `any` or `mono3`; see `causal.version_space`."""
    hidden_inputs: int
    trials: tuple[Trial, ...]
    """The shown trials, in the order in which they are listed."""
    question: Question
    truth: System
    """The hidden system, drawn from the posterior; no gold answer depends on it without a lab."""
    answer: Answer
    posterior: Fraction
    """The exact probability of yes, given the shown trials."""
    base: str
    """What the members of a matched triple share."""
    lab: Lab | None = None
    last: int | None = None
    """The number of the trial, from 0, in which the members of a triple differ."""

    @property
    def space(self) -> Space:
        """The class of hidden systems that the instructions state."""
        return Space(self.n, self.roots, self.cls, self.hidden_inputs)

    @property
    def rows(self) -> tuple[Row, ...]:
        """The shown trials as bits."""
        return tuple(trial.row for trial in self.trials)

    @property
    def hypotheses(self) -> str:
        """The class of hidden systems in words."""
        hidden = "; one hidden input, a fair coin in each trial, drives at most two"
        said = f"acyclic systems with {self.roots} inputs; every other rule is {RULES[self.cls]}"
        return said + hidden * self.hidden_inputs
