"""An episode in the words of a template."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from whybench import CANARY
from whybench.causal.canonical import thaw
from whybench.episode.observation import OVER, Observation
from whybench.episode.prompts.template import Words, load_templates, paragraphs
from whybench.families.causalgame.parameters import MOST_LOOKS
from whybench.families.causalgame.rules import DroneRules
from whybench.families.causalgame.world.design import SUFFIX
from whybench.families.causalgame.world.records import SAMPLE

template_named = load_templates("whybench.families.causalgame.prompts")


class Wording(Words):
    """What an agent is told, passage by passage."""

    def __init__(self, episode: DroneRules, template: str) -> None:
        self._episode = episode
        self._view = episode.view
        self._given = episode.evidence != "own"
        super().__init__(template_named(template))

    def _words(self) -> dict[str, object]:
        view = self._view
        low, high = view.def_range
        critical = [
            name for name, is_so in zip(view.components, view.critical, strict=True) if is_so
        ]
        before, after = view.storms or (0.0, 0.0)
        return {
            "critical": listed(critical),
            "drones": view.drones,
            "deploys": view.deploys,
            "most": view.most_per_deploy,
            "fleet": view.fleet_size,
            "threshold": percent(view.threshold),
            "share": percent(view.keep_failed),
            "sample": SAMPLE,
            "before": percent(before),
            "after": percent(after),
            "history": view.history,
            "questions": view.queries,
            "low": low,
            "high": high,
            "budget": view.total_def_budget,
            "errors": self._episode.max_errors,
            "looks": MOST_LOOKS,
            "first": view.components[0] + SUFFIX,
            "sign": self._episode.world.call_sign,
        }

    # Before the agent acts.

    def instructions(self) -> str:
        """Return all that is told before an agent acts through tools."""
        tools = self.say("tools_given" if self._given else "tools")
        return paragraphs(self.rules(), self.situation(), tools)

    def rules(self) -> str:
        """Return what is the same for all missions of a suite."""
        view = self._view
        slots = view.slots or view.switches
        parts = [
            self.say("rules"),
            self.say("task_given" if self._given else "task"),
            f"{self.say('limits')} {self.say('equipment' if slots else 'no_equipment')}",
            self._records_told(),
            self._noise_told(),
            self.say(view.warning) if view.warning else "",
            self.say("questions") if view.queries and not self._given else "",
            self.say("beliefs"),
            self.say("patience"),
        ]
        return paragraphs(*parts, CANARY)

    def _records_told(self) -> str:
        view = self._view
        which = "records_all" if view.keep_failed == 1 else "records_some"
        if view.keep_failed == 0:
            which = "records_none"
        elif self._episode.world.rules.concealed is not None:
            which = "records_few"
        told = self.say("counts" if view.counts else "no_counts")
        return self.say(which) if self._given else f"{self.say(which)} {told}"

    def _noise_told(self) -> str:
        noise = self._episode.world.rules.noise
        if noise is None:
            return ""
        return self.say("noise" if noise.everywhere else "noise_released")

    def situation(self) -> str:
        """Return what is this mission's own: its sheet, its history, and given experiments."""
        view, episode = self._view, self._episode
        parts = [
            self.say("sheet", parts=self._sheet(), equipment_told=self._equipment()),
            "" if self._given else self.say("history" if view.history else "no_history"),
        ]
        if episode.released:
            parts.append(self.say("released_rate", rate=percent(self._rate_on_record())))
        if self._given:
            given = [step.observation for step in episode.trace.steps[: episode.given]]
            parts += [self.observation(seen, asked=False) for seen in given]
        return paragraphs(*parts)

    def _sheet(self) -> str:
        view = self._view
        rows = [("component", "default DEF"), *zip(view.components, view.defaults, strict=True)]
        return "\n".join(
            f"{name + SUFFIX if n else name}, {value}" for n, (name, value) in enumerate(rows)
        )

    def _equipment(self) -> str:
        view = self._view
        lines = [f"{slot}: {listed(options, 'or')}" for slot, _, options in view.slots]
        lines += [f"{name}: true or false" for name in view.switches]
        return "\n".join(lines)

    def _rate_on_record(self) -> float:
        status = [row[2] for row in self._episode.records().rows]
        return status.count("RETURNED") / len(status) if status else 0.0

    # Observations.

    def observation(self, observation: Observation, asked: bool = True) -> str:
        """Return an observation in words; after a deployment, with a question if one is asked."""
        data: Any = thaw(observation.data)
        if observation.code == OVER:
            return self.say("over")
        if observation.is_error:
            return self.say("refused", reason=data["reason"])
        if "deployed" in data:
            return self._deployed(data, asked)
        if "won" in data:
            return self._flown(data)
        if "variable" in data:
            return self._asked(data)
        if "victory_threshold" in data:
            return self._status(data)
        if "total_def_budget" in data:
            return paragraphs(self.say("limits"), self._sheet(), self._equipment())
        if "records" in data:
            return self._records(data)
        return self.say("reported")

    def _deployed(self, data: Mapping[str, Any], asked: bool) -> str:
        table = data["results"]
        rows = table["rows"]
        words = {
            "deployed": data["deployed"],
            "letter": data["design"],
            "drones": data["drones_remaining"],
            "deploys": data["deployments_remaining"],
        }
        if "survived" in data:
            counted = {name: data[name] for name in ("survived", "destroyed")}
            head = self.say("deployed", **words, **counted, hits=data["average_hit_count"])
        else:
            head = self.say("deployed_uncounted", **words)
        shown = f"{self.say('results')}\n{lines(table)}" if rows else self.say("no_results")
        return paragraphs(head, shown, self.say("analyse_deployment") if asked else "")

    def _flown(self, data: Mapping[str, Any]) -> str:
        return self.say(
            "flown",
            survived=data["survived"],
            rate=percent(data["survival_rate"]),
            verdict=self.say("won" if data["won"] else "lost"),
        )

    def _asked(self, data: Mapping[str, Any]) -> str:
        left = data["questions_remaining"]
        if data["variable"] is None:
            return self.say("asked_nothing", questions=left)
        return self.say(
            "asked" if data["new"] else "asked_before",
            variable=data["variable"],
            meaning=data["meaning"],
            questions=left,
        )

    def _status(self, data: Mapping[str, Any]) -> str:
        left = data.get("questions_remaining")
        return self.say(
            "status",
            drones=data["drones_remaining"],
            deploys=data["deployments_remaining"],
            records=data["records"],
            measured=listed(data["measured"]),
            questions_left="" if left is None else self.say("status_questions", questions=left),
        )

    def _records(self, data: Mapping[str, Any]) -> str:
        table = data["records"]
        if not table["rows"]:
            return self.say("no_records")
        if "designs" not in data:
            return lines(table)
        return f"{self.say('records', legend=self._legend(data['designs']))}\n{lines(table)}"

    def _legend(self, designs: Sequence[Mapping[str, Any]]) -> str:
        told = []
        for entry in designs:
            values = [*entry["defs"].items(), *entry["equipment"].items()]
            told.append(f"{entry['design']}: {', '.join(f'{k} {v}' for k, v in values)}")
        return "\n".join(told)


def percent(share: float) -> str:
    """Return a share in words.

    >>> percent(0.7), percent(0.725)
    ('70 %', '72.5 %')
    """
    return f"{round(100 * share, 1):g} %"


def listed(names: Sequence[object], joint: str = "and") -> str:
    """Return names as a list in words.

    >>> listed(["engine", "wing", "body"])
    'engine, wing and body'
    """
    *first, last = map(str, names)
    return f"{', '.join(first)} {joint} {last}" if first else last


def lines(table: Mapping[str, Any]) -> str:
    """Return a table as lines of values with commas in between."""
    rows = [table["columns"], *table["rows"]]
    return "\n".join(", ".join(_plain(value) for value in row) for row in rows)


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
