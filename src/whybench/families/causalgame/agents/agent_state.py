"""What a reference agent knows so far, and how it acts."""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from whybench.episode.action import Action
from whybench.episode.observation import Observation
from whybench.episode.trace import Step
from whybench.families.causalgame.view import View
from whybench.families.causalgame.world.design import SUFFIX, Design
from whybench.families.causalgame.world.physics.flight import STATUS
from whybench.families.causalgame.world.records import COUNTS, EARLIER, Cell

T = TypeVar("T")
Acting: TypeAlias = Generator[Action, Observation, T]
"""Actions of an agent that end in a result."""

Row: TypeAlias = dict[str, Cell]


@dataclass(frozen=True, slots=True)
class Trial:
    """A deployment as the agent saw it."""

    design: Design
    count: int
    survived: int | None
    """None if survivors are not counted."""
    records: tuple[Row, ...]
    """The visible records, by column."""


@dataclass(frozen=True, slots=True)
class Past:
    """The history as the agent saw it: records, and the designs named by letters."""

    designs: dict[str, Design]
    records: tuple[Row, ...]


@dataclass
class AgentState:
    """What one agent knows so far, and how it acts."""

    view: View
    given: Sequence[Step] | None = None
    """Experiments given to the agent, after which it may only submit."""
    trials: list[Trial] = field(default_factory=list)
    drones: int = 0
    """Number of drones that are left."""
    deploys: int = 0

    def __post_init__(self) -> None:
        self.drones, self.deploys = self.view.drones, self.view.deploys
        for step in self.given or ():
            if step.action.name == "deploy":
                self._note(self._design(step.action), step.observation)

    def design(self, defs: Sequence[int], equipment: dict[str, Any] | None = None) -> Design:
        """Return a design; the caller keeps to the limits."""
        return Design(tuple(defs), tuple((equipment or {}).items()))

    @property
    def default(self) -> Design:
        """The default design."""
        return Design(self.view.defaults)

    def deploy(self, design: Design, count: int, **more: Any) -> Acting[Trial | None]:
        """Fly some drones; None if the request was rejected."""
        action = Action.of("deploy", **arguments(self.view, design), count=str(count), **more)
        observation = yield action
        return None if observation.is_error else self._note(design, observation)

    def history(self) -> Acting[Past]:
        """Read the records of earlier flights, without the agent's own deployments."""
        observation = yield Action.of("get_history")
        data = observation.data
        designs = {
            str(entry["design"]): self.read(entry["defs"].asdict(), entry["equipment"].asdict())
            for entry in data.get("designs", ())
        }
        rows = rows_of(data.get("records"))
        return Past(designs, tuple(row for row in rows if _earlier(row)))

    def ask(self, question: str) -> Acting[str | None]:
        """Ask about the environment; return the variable that is measured from now on."""
        observation = yield Action.of("query_environment", question=question)
        found = observation.data.get("variable")
        return found if isinstance(found, str) else None

    def submit(self, design: Design, why: dict[str, str], **more: Any) -> Acting[None]:
        """Submit the design, then report."""
        yield Action.of("submit", **arguments(self.view, design), **more)
        yield Action.of("report", **why)

    def read(self, defs: dict[str, Any], equipment: dict[str, Any]) -> Design:
        """Return the design that arguments of an action describe."""
        named = dict(zip(self.view.components, self.view.defaults, strict=True))
        named |= {key.removesuffix(SUFFIX): int(value) for key, value in defs.items()}
        return Design(tuple(named.values()), tuple(equipment.items()))

    def _design(self, action: Action) -> Design:
        equipment = action.args.get("equipment")
        return self.read(
            json.loads(action.args["design"]), json.loads(equipment) if equipment else {}
        )

    def _note(self, design: Design, observation: Observation) -> Trial:
        data = observation.data
        trial = Trial(
            design, data["deployed"], data.get("survived"), tuple(rows_of(data["results"]))
        )
        self.trials.append(trial)
        self.drones -= trial.count
        self.deploys -= 1
        return trial


def rows_of(table: Any) -> list[Row]:
    """Return the rows of a table by column, one for each record; counted records are repeated."""
    if not table:
        return []
    rows = [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
    return [one for row in rows for one in _each(row)]


def _each(row: Row) -> list[Row]:
    """Return the records that a row counts; a row without counts is one record."""
    if COUNTS[0] not in row:
        return [row]
    same = {name: value for name, value in row.items() if name not in COUNTS}
    return [
        {**same, "status": status}
        for status, name in zip(reversed(STATUS), COUNTS, strict=True)
        for _ in range(int(row[name]))
    ]


def _earlier(row: Row) -> bool:
    """Tell whether a record is from before the agent's own deployments."""
    return str(row.get("id", row.get("flown"))).startswith(("INIT", EARLIER))


def arguments(view: View, design: Design) -> dict[str, str]:
    """Return a design as the arguments of an action."""
    named = {name + SUFFIX: value for name, value in zip(view.components, design.defs, strict=True)}
    found = {"design": json.dumps(named)}
    if design.equipment:
        found["equipment"] = json.dumps(dict(design.equipment))
    return found
