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
from whybench.families.causalgame.world.drawn.draw import numbers, stories
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
            "critical": listed(critical) if critical else "",
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
            "count": len(view.components),
            "errors": self._episode.max_errors,
            "looks": MOST_LOOKS,
            "first": view.components[0] + SUFFIX,
            "keys": ", ".join(name + SUFFIX for name in view.components),
            "sign": self._episode.world.call_sign,
            **self._strata(),
        }

    # Before the agent acts.

    def instructions(self) -> str:
        """Return all that is told before an agent acts through tools."""
        tools = self.say("tools_given" if self._given else "tools")
        return paragraphs(self.rules(), self.situation(), tools)

    def rules(self) -> str:
        """Return what is the same for all missions of a suite."""
        view = self._view
        parts = [
            self.say("rules_drawn" if view.law else "rules"),
            self.say("task_given" if self._given else "task"),
            self._limits(),
            self._law(),
            self._records_told(),
            self._noise_told(),
            self._warning(),
            self.say("questions") if view.queries and not self._given else "",
            self.say("beliefs_drawn" if view.law else "beliefs"),
            self.say("patience"),
        ]
        return paragraphs(*parts, CANARY)

    def _limits(self) -> str:
        view = self._view
        if view.law:
            return self.say("limits_drawn")
        if "limits_told" in self._template.passages:
            return self.say("limits_told")
        slots = view.slots or view.switches
        return f"{self.say('limits')} {self.say('equipment' if slots else 'no_equipment')}"

    def _records_told(self) -> str:
        view = self._view
        which = "records_all" if view.keep_failed == 1 else "records_some"
        if view.keep_failed == 0:
            which = "records_none"
        told = self.say("counts" if view.counts else "no_counts")
        return self.say(which) if self._given else f"{self.say(which)} {told}".strip()

    def _law(self) -> str:
        """Return the class of drawn systems, with all its numbers."""
        view = self._view
        if not view.law:
            return ""
        story, known = stories()[view.law], numbers()
        faded = [abs(share) for share in story.moody_calm]
        faint = self.say("part_of_that", part=span(sorted(faded)))
        words: dict[str, object] = {
            "column": story.column, **{str(role): n for role, n in story.roles.items()},
            "steady": span(known.steady), "steady_calm": span(known.steady_calm),
            "moody": span(known.moody), "option": span(known.option),
            "option_spread": span(known.option_spread), "option_calm": percent(known.option_calm),
            "survives": span(known.survives.rough), "survives_calm": span(known.survives.calm),
            "margin": round(100 * known.margin), "margin_most": round(100 * known.margin) + 1,
            "shares": span(story.rough, "and"), "misread": percent(story.misread),
            "opposite": faint if any(faded) else self.say("none_of_that"),
        }  # fmt: skip
        told = (
            ("law", "law_opposite" if story.fleet else "law_one", "law_event"),
            ("law_strengths",),
            (
                "" if view.margin is None else "law_bar",
                "" if view.storms else "law_shares",
                "law_shown" if story.shown else "law_hidden",
                "law_misread" if story.misread else "",
            ),
        )
        return paragraphs(
            *(" ".join(self.say(name, **words) for name in names if name) for names in told)
        )

    def _strata(self) -> dict[str, object]:
        """Return the two strata of a drawn system in words, and as records name them."""
        if not self._view.law:
            return {}
        story = stories()[self._view.law]
        names = ("rough", "calm", "first_value", "second_value")
        return dict(zip(names, (*story.where, *story.strata), strict=True))

    def _noise_told(self) -> str:
        noise = self._episode.world.rules.noise
        if noise is None:
            return ""
        return self.say("noise" if noise.everywhere else "noise_released")

    def _warning(self) -> str:
        view = self._view
        if not view.warning:
            return ""
        return self.say("forecast_drawn" if view.law else view.warning)

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
        lines = []
        for slot, default, options in view.slots:
            said = f" {self.say('default_option', option=default)}" if view.law else ""
            lines.append(f"{slot}: {listed(options, 'or')}{said}")
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
            limits = self.say("limits_drawn" if self._view.law else "limits")
            return paragraphs(limits, self._sheet(), self._equipment())
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
            hits = data.get("average_hit_count")
            name = "deployed_drawn" if hits is None else "deployed"
            head = self.say(name, **words, **counted, hits=hits)
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
            measured=listed(data["measured"]) if data["measured"] else self.say("none_measured"),
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


def span(bounds: Sequence[float], joint: str = "to") -> str:
    """Return bounds in words.

    >>> span((0.45, 0.65))
    '45 to 65 %'
    """
    low, high = (f"{round(100 * bound, 1):g}" for bound in bounds)
    return f"{low} {joint} {high} %"


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
