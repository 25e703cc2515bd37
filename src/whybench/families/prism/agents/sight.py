"""What an agent sees of a problem, and how it writes answers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from whybench.causal.boolean import Tree, render
from whybench.causal.version_space import Design, Row, Rule, Space, System
from whybench.episode.action import Action
from whybench.episode.instance import Instance
from whybench.episode.observation import Observation
from whybench.episode.trace import Step
from whybench.families.prism.prompts.surface import surface_of
from whybench.families.prism.submission import HIDDEN
from whybench.families.prism.world.world import Answer, Lab, Question, World

Given = Sequence[Step] | None
"""Given steps: experiments, or the opening of a record to fetch from; None if there are none."""


@dataclass(frozen=True)
class Sight:
    """What is shown to every agent, with the names of the default template."""

    space: Space
    rows: tuple[Row, ...]
    question: Question
    lab: Lab | None
    names: tuple[str, ...]

    @classmethod
    def of(cls, instance: Instance, world: World) -> Sight:
        """Return what a world shows."""
        names = surface_of(instance, world.n, "table").names
        return cls(world.space, world.rows, world.question, world.lab, (*names, HIDDEN))

    def seen(self, observation: Observation) -> Row:
        """Return the trial that an observation shows."""
        data = observation.data
        values = sum(data["values"][name] << v for v, name in enumerate(self.names[:-1]))
        held = sum(1 << v for v, name in enumerate(self.names) if name in data["held"])
        return Row(held, values)

    def experiment(self, design: Design) -> Action:
        """Return the action that runs a design."""
        inputs, held = (
            {self.names[v]: design.values >> v & 1 for v in range(self.space.n) if some >> v & 1}
            for some in ((1 << self.space.roots) - 1, design.targets)
        )
        return Action.of("try", inputs=json.dumps(inputs), held=json.dumps(held))

    def written(self, system: System) -> dict[str, str]:
        """Return a system as formulas."""
        return {
            self.names[v]: render(_tree(rule), self.names)
            for v, rule in enumerate(system, self.space.roots)
        }


def answer(
    said: Answer,
    probability: Fraction | None = None,
    trials: Sequence[int] | None = None,
    systems: Sequence[dict[str, str]] | None = None,
) -> Action:
    """Return the final action; trials are numbered from 0 here, and from 1 in the action."""
    args: dict[str, str] = {"answer": said}
    if probability is not None:
        args["probability"] = json.dumps(round(float(probability), 6))
    if trials is not None:
        args["trials"] = json.dumps([t + 1 for t in trials])
    if systems is not None:
        args["systems"] = json.dumps(list(systems))
    return Action.of("answer", **args)


def _tree(rule: Rule) -> Tree:
    """Return a rule as an `or` of the cases in which it is 1."""
    cases: list[Tree] = []
    for cell in range(1 << len(rule.arguments)):
        if rule.table >> cell & 1:
            terms: list[Tree] = [
                v if cell >> i & 1 else ("not", v) for i, v in enumerate(rule.arguments)
            ]
            cases.append(terms[0] if len(terms) == 1 else ("and", *terms))
    return cases[0] if len(cases) == 1 else ("or", *cases)
