"""The rules of an episode: actions and observations."""

from __future__ import annotations

from collections.abc import Mapping

from whybench.causal.canonical import Json, Record, freeze, thaw
from whybench.episode.action import Action, ActionSpec
from whybench.episode.episode import (
    ANSWERED,
    INVALID_ACTION,
    INVALID_ANSWER,
    TIMEOUT,
    Episode,
)
from whybench.episode.instance import Instance
from whybench.episode.observation import OK, Observation
from whybench.families.causalgame.arguments import LONGEST_TEXT, read_count, read_object
from whybench.families.causalgame.claims import Belief, beliefs
from whybench.families.causalgame.parameters import MOST_LOOKS, Parameters
from whybench.families.causalgame.prompts.action_specs import (
    ASK,
    LOOKS,
    OUTCOMES,
    QUESTIONS,
    action_specs,
)
from whybench.families.causalgame.view import View, view
from whybench.families.causalgame.world.design import SUFFIX, Design, design
from whybench.families.causalgame.world.physics.flight import Flights
from whybench.families.causalgame.world.records import (
    EARLIER,
    OWN,
    RELEASED_RESULTS,
    Cell,
    Measured,
    Table,
    letter,
    measured,
    pooled,
    table,
    tallied,
    visible,
)
from whybench.families.causalgame.world.variables import asked_for, variables
from whybench.families.causalgame.world.world import Batch, World

GUARD = "deploy at least one batch before you commit the fleet"
"""Why a fleet without a deployment is refused. By the released rules only the client that calls
tools refuses it, as in the paper."""

LONGEST_QUESTION = 500
"""Maximum number of characters of a question."""


class DroneRules(Episode):
    """Look at records, deploy small batches, submit one design for a fleet, and report."""

    __slots__ = (
        "batches",
        "beliefs",
        "discovered",
        "drones",
        "flights",
        "looks",
        "parameters",
        "questions",
        "report",
        "submitted",
        "view",
        "world",
    )

    def __init__(self, instance: Instance, world: World, parameters: Parameters) -> None:
        super().__init__(instance, parameters.max_errors)
        self.world = world
        self.parameters = parameters
        self.view: View = view(world)
        self.batches: list[Batch] = []
        self.drones = world.rules.drones
        """Number of drones that are left for exploration."""
        self.questions = world.rules.queries
        self.discovered: tuple[str, ...] = ()
        """Variables that the agent asked for; they are measured from then on."""
        self.looks = 0
        self.beliefs: list[tuple[int, tuple[Belief, ...]]] = []
        """Recorded beliefs, each with the number of deployments before it."""
        self.submitted: Design | None = None
        self.flights: Flights | None = None
        """Flights of the fleet."""
        self.report: Record | None = None

    @property
    def released(self) -> bool:
        """Whether the released rules apply."""
        return not self.world.drawn

    @property
    def deploys(self) -> int:
        """Number of deployments that are left."""
        return self.world.rules.deploys - len(self.batches)

    @property
    def survival_rate(self) -> float | None:
        """The share of the fleet that returned, once it has flown."""
        return None if self.flights is None else self.flights.survival_rate

    @property
    def won(self) -> bool:
        """Whether the share of the fleet that returned is at least the bar."""
        return self.survival_rate is not None and self.survival_rate >= self.view.threshold

    @property
    def actions(self) -> tuple[ActionSpec, ...]:
        """The actions that are offered; with given evidence only submit and report."""
        seen = self.view
        specs = action_specs(
            seen.components, seen.def_range, seen.slots, seen.switches, self.world.drawn
        )
        if self.evidence != "own":
            return tuple(spec for spec in specs if spec.final)
        return tuple(spec for spec in specs if self.view.queries or spec.name != ASK)

    def _carry_out(self, action: Action) -> Observation:
        if self.submitted is not None and action.name != "report":
            return Observation.refused(INVALID_ACTION, "the fleet has flown: only `report` is left")
        acting = {"deploy": self._deploy, "submit": self._submit, "report": self._report}
        if action.name in acting:
            return acting[action.name](action)
        if action.name == ASK and self.view.queries:
            return self._ask(action)
        if action.name in LOOKS:
            return self._look(action.name)
        return Observation.refused(INVALID_ACTION, f"there is no action {action.name[:40]!r}")

    # Looking.

    def _look(self, name: str) -> Observation:
        self.looks += 1
        if self.looks > MOST_LOOKS:
            self.outcome = TIMEOUT
        if name in ("get_status", "get_action_space"):
            return self._seen(self.status() if name == "get_status" else self.action_space())
        if name == "get_environments":
            return self._seen({"records": self.records(environments=True).frozen})
        return self._seen({"designs": self.legend(), "records": self.records().frozen})

    @staticmethod
    def _seen(data: Mapping[str, Json]) -> Observation:
        """Return an observation; large tables are frozen already."""
        frozen = ((n, v if isinstance(v, Record) else freeze(v)) for n, v in data.items())
        return Observation(OK, Record(frozen))

    def status(self) -> dict[str, Json]:
        """Return budgets, the goal, and what is measured."""
        shown: dict[str, Json] = {
            "drones_remaining": self.drones,
            "deployments_remaining": self.deploys,
            "victory_threshold": self.view.threshold,
            "fleet_size": self.view.fleet_size,
            "records": sum(map(len, self._visible())),
            "measured": [*self.world.history.flights.environment.visible, *self.discovered],
        }
        if self.view.queries:
            shown["questions_remaining"] = self.questions
        if self.released:
            shown["history_count"] = len(self.world.history) + sum(map(len, self.batches))
        return shown

    def action_space(self) -> dict[str, Json]:
        """Return the action space: what a design may be."""
        view = self.view
        low, high = view.def_range
        return {
            "design": [
                {"key": name + SUFFIX, "default": default, "min": low, "max": high}
                for name, default in zip(view.components, view.defaults, strict=True)
            ],
            "total_def_budget": view.total_def_budget,
            "equipment": [
                {"slot": slot, "default": default, "options": options}
                for slot, default, options in view.slots
            ],
            "switches": list(view.switches),
        }

    def legend(self) -> list[dict[str, Json]]:
        """Return the designs behind the letters."""
        names = [name + SUFFIX for name in self.view.components]
        return [
            {
                "design": letter(place),
                "defs": dict(zip(names, found.defs, strict=True)),
                "equipment": dict(found.equipment),
            }
            for place, found in enumerate(self._designs())
        ]

    def _designs(self) -> list[Design]:
        """Return all designs with records, each once: the history's, then the deployed ones."""
        flown = [*self.world.history.designs, *(batch.designs[0] for batch in self.batches)]
        return list(dict.fromkeys(flown))

    def _visible(self) -> list[list[int]]:
        """Return the drones with visible records, for each batch."""
        return [
            visible(self.world, batch, measured(self.world, batch, ()))
            for batch in (self.world.history, *self.batches)
        ]

    def records(self, environments: bool = False) -> Table:
        """Return every visible record: first the history's, then the deployments'."""
        designs, number = self._designs(), 0
        rows: list[tuple[Cell, ...]] = []
        columns: tuple[str, ...] = ()
        for batch in (self.world.history, *self.batches):
            seen = measured(self.world, batch, self.discovered)
            drones = visible(self.world, batch, seen)
            first = batch is self.world.history
            names = [
                f"INIT-{place + 1 if not self.released else drone + 1:03d}"
                if first
                else f"SESSION-{number + place + 1:03d}"
                for place, drone in enumerate(drones)
            ]
            number += 0 if first else len(drones)
            letters = [letter(designs.index(found)) for found in batch.designs]
            if self.world.drawn:
                whose = EARLIER if first else OWN
                found = tallied(batch, seen, drones, flown=whose, letters=letters)
            else:
                found = table(batch, seen, drones, names=names, letters=letters)
            columns = found.columns
            rows += found.rows
        if environments and self.world.drawn:
            return pooled(Table(columns, tuple(rows)))
        if environments:
            left = [place for place, name in enumerate(columns) if name not in OUTCOMES]
            columns = tuple(columns[place] for place in left)
            rows = [tuple(row[place] for place in left) for row in rows]
        return Table(columns, tuple(rows))

    # Asking.

    def _ask(self, action: Action) -> Observation:
        question = action.args.get("question")
        if not isinstance(question, str) or not question.strip():
            return Observation.refused(INVALID_ACTION, "`question` is a text")
        if len(question) > LONGEST_QUESTION:
            reason = f"a question has at most {LONGEST_QUESTION} characters"
            return Observation.refused(INVALID_ACTION, reason)
        if not self.questions:
            return Observation.refused(INVALID_ACTION, "no question is left")
        self.questions -= 1
        known = variables(self.world.physics.name)
        found = asked_for(question, known)
        if found is None:
            return self._seen({"variable": None, "questions_remaining": self.questions})
        new = found not in self.discovered
        if new:
            self.discovered = (*self.discovered, found)
        return self._seen(
            {
                "variable": found,
                "meaning": known[found].meaning,
                "new": new,
                "questions_remaining": self.questions,
            }
        )

    # Deploying.

    def _deploy(self, action: Action) -> Observation:
        try:
            built = self._read_design(action.args)
            count = read_count(action.args.get("count"), self.view.most_per_deploy)
            believed = self._read_beliefs(action.args)
        except ValueError as error:
            return Observation.refused(INVALID_ACTION, str(error))
        if not self.deploys:
            return Observation.refused(INVALID_ACTION, "no deployment is left: submit a design")
        if count > self.drones:
            reason = f"only {self.drones} drones are left for deployments"
            return Observation.refused(INVALID_ACTION, reason)
        batch = self.world.deploy(len(self.batches), built, count)
        self.batches.append(batch)
        self.drones -= count
        self._believe(believed)
        seen = measured(self.world, batch, self.discovered, results=True)
        return self._seen(self._results(batch, seen))

    def _results(self, batch: Batch, seen: Measured) -> dict[str, Json]:
        drones = visible(self.world, batch, seen)
        place = letter(self._designs().index(batch.designs[0]))
        names = [str(number + 1) for number in range(len(drones))]
        only = (*RELEASED_RESULTS, *self.discovered) if self.released else None
        drawn = self.world.drawn
        noise = self.world.rules.noise
        exact = noise is not None and not noise.everywhere
        returned = (batch.flights.returned if exact else seen.returned)[: len(batch)]
        hits = batch.flights.hit_count if exact else seen.columns["hit_count"]
        shown: dict[str, Json] = {"deployed": len(batch), "design": place}
        if self.view.counts:
            survived = int(returned.sum())
            shown |= {"survived": survived, "destroyed": len(batch) - survived}
            shown |= {} if drawn else {"average_hit_count": round(float(hits.mean()), 2)}
        shown["drones_remaining"] = self.drones
        shown["deployments_remaining"] = self.deploys
        if drawn:
            found = tallied(batch, seen, drones, flown=OWN, letters=[place])
        else:
            found = table(batch, seen, drones, names=names, letters=[place], only=only)
        shown["results"] = found.frozen
        return shown

    def _read_design(self, args: Record) -> Design:
        defs, equipment = read_object(args, "design"), read_object(args, "equipment")
        if defs is None:
            raise ValueError('`design` is an object like {"engine_def": 20, …}')
        return design(self.world.physics.sheet, defs, equipment, enforced=not self.released)

    @staticmethod
    def _read_beliefs(args: Record) -> tuple[Belief, ...] | None:
        found = args.get("beliefs")
        return None if found is None or found == "" else beliefs(thaw(found))

    def _believe(self, believed: tuple[Belief, ...] | None) -> None:
        if believed is not None:
            self.beliefs.append((len(self.batches), believed))

    # The end.

    def _submit(self, action: Action) -> Observation:
        try:
            built = self._read_design(action.args)
            believed = self._read_beliefs(action.args)
        except ValueError as error:
            return Observation.refused(INVALID_ANSWER, str(error))
        guard = not self.released if self.parameters.guard is None else self.parameters.guard
        if guard and not self.batches:
            return Observation.refused(INVALID_ACTION, GUARD)
        self._believe(believed)
        self.submitted = built
        self.flights = self.world.final(built)
        survived = int(self.flights.returned.sum())
        return self._seen(
            {
                "fleet_size": len(self.flights),
                "survived": survived,
                "survival_rate": self.flights.survival_rate,
                "victory_threshold": self.view.threshold,
                "won": self.won,
            }
        )

    def _report(self, action: Action) -> Observation:
        if self.submitted is None:
            reason = "the report comes after `submit`: submit a design first"
            return Observation.refused(INVALID_ACTION, reason)
        texts = {name: action.args.get(name) for name in QUESTIONS}
        if any(not isinstance(text, str) or not text.strip() for text in texts.values()):
            reason = f"a report has a text for each of {', '.join(QUESTIONS)}"
            return Observation.refused(INVALID_ANSWER, reason)
        if any(len(str(text)) > LONGEST_TEXT for text in texts.values()):
            reason = f"each part of a report has at most {LONGEST_TEXT} characters"
            return Observation.refused(INVALID_ANSWER, reason)
        try:
            believed = self._read_beliefs(action.args)
        except ValueError as error:
            return Observation.refused(INVALID_ANSWER, str(error))
        self._believe(believed)
        self.report = Record(texts.items())
        self.outcome = ANSWERED
        return Observation(OK)
