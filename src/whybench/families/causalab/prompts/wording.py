"""The texts of an episode, from a prompt template."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from whybench import CANARY
from whybench.episode.observation import Observation
from whybench.episode.prompts.template import Words, load_templates, paragraphs
from whybench.families.causalab.numbers import reading_of, shown
from whybench.families.causalab.rules import LabRules
from whybench.families.causalab.world.world import FREQUENCY, Reading

EXAMPLE = (
    '{"base": 12, "c_b": 1.5}',
    '{"base": 12, "c_b_1": 0.01, "c_b_2": -1.5}',
)
"""Coefficients of the worked example, linear and quadratic."""

EQUATION = ("c_b*b", "c_b_1*b^2 + c_b_2*b")
"""The terms of its equation."""

template_named = load_templates("whybench.families.causalab.prompts")


class Wording(Words):
    """The texts that an agent receives, passage by passage."""

    def __init__(self, episode: LabRules, template: str) -> None:
        self._episode = episode
        self._view = episode.view
        self._given = episode.evidence != "own"
        super().__init__(template_named(template))

    def instructions(self) -> str:
        """Return the instructions of the protocol `tools`."""
        return paragraphs(self.rules(), self.situation(), self.language(), self._by_case("tools"))

    def _by_case(self, passage: str) -> str:
        """Return a passage, in its form for own experiments, no budget or given evidence."""
        if self._given:
            return self.say(f"{passage}_given")
        return self.say(passage if self._view.budget else f"{passage}_no_budget")

    def rules(self) -> str:
        """Return the text that is the same for all instances of a suite."""
        view, parameters = self._view, self._episode.parameters
        law = self.say("quadratic" if view.quadratic else "linear")
        if view.rounded:
            law = joined(law, self.say("rounded"))
        elif view.quadratic and not view.released:
            law = joined(law, self.say("weakest_quadratic"))
        elif not view.quadratic and not (view.disturbance and view.released):
            law = joined(law, self.say("exact_but" if view.disturbance else "exact"))
        parts = [
            self.say("rules"),
            law,
            self.say(view.semantics),
            self.say("sink" if view.sink else "no_sink"),
            self._disturbance(),
            self._by_case("task"),
            self.say("verdicts") if view.observed else "",
            self.say("patience", errors=parameters.max_errors),
        ]
        if parameters.verify and not self._given:
            parts.append(self.say("verify_told"))
        return paragraphs(*parts, CANARY)

    def _disturbance(self) -> str:
        view = self._view
        if not view.disturbance:
            return ""
        where = self.say("anything" if view.frequency_disturbed else "properties")
        return joined(
            self.say("disturbance", where=where),
            "" if view.released else self.say("one_draw"),
            self.say("disturbed_set") if view.semantics == "set" else "",
        )

    def language(self) -> str:
        """Return the description of the hypothesis format."""
        asked = self.say("candidates") if self._episode.parameters.candidates else ""
        return paragraphs(self.say("language"), asked)

    def record(self) -> str:
        """Return the description of the record format."""
        forgets = ""
        if self._episode.parameters.context == "state":
            forgets = self.say("forgets_released" if self._view.released else "forgets")
        text = self.say("record", experiment=self._by_case("record_experiment"))
        return paragraphs(text, forgets)

    def situation(self) -> str:
        """Return the text of this instance: records, crystals and remaining interventions."""
        view = self._view
        seen = [view.baseline]
        seen += [
            reading_of(view, step.action, step.observation)
            for step in self._episode.evidence_given or ()
        ]
        return paragraphs(
            self.given(),
            self._table("manipulator", seen),
            self.reactor() if self._episode.in_reactor else self.remaining(),
        )

    def given(self) -> str:
        """Return the names of all quantities, and the earlier measurements."""
        records = self._view.records
        told = self._table("records", records) if records else self.say("no_records")
        return paragraphs(self.quantities(), told)

    def quantities(self) -> str:
        """Return the names of all quantities, and which of them cannot be set."""
        partial = self._view.controllable not in (0, self._view.properties)
        return paragraphs(self.say("quantities"), self.say("partial") if partial else "")

    def _table(self, passage: str, readings: Sequence[Reading]) -> str:
        """Return readings, one a line, every number written the same way."""
        view = self._view
        columns = (*view.display, FREQUENCY)
        lines = []
        for reading in readings:
            done = self.say("untouched")
            if reading.target is not None:
                name = view.names[reading.target]
                done = self.say("touched", name=name, value=shown(reading.setting))
            cells = [self._read(reading.values[v]) for v in columns]
            shown_as = {"cells": " | ".join(cells), "spaced": " ".join(cells)}
            crystal = self.say("crystal", number=reading.crystal + 1)
            lines.append(self.say("row", crystal=crystal, done=done, **shown_as))
        head = self.say("head", names=" | ".join(view.names[v] for v in columns))
        return self.say(passage, rows="\n".join(lines), head=head)

    def reactor(self) -> str:
        """Return the reactor's crystal."""
        values, shows = self._episode.world.shown(), self._view.display
        return self._readings("reactor", {v: self._read(values[v]) for v in shows})

    def _readings(self, passage: str, cells: Mapping[int, str]) -> str:
        """Return a passage with readings: each with its name, or the numbers alone."""
        listed = ", ".join(f"{self._view.names[v]} {cell}" for v, cell in cells.items())
        return self.say(passage, listed=listed, spaced=" ".join(cells.values()))

    def remaining(self) -> str:
        """Return the text about the remaining interventions."""
        left = self._episode.left
        return self.say("left" if left else "nothing_left", left=left)

    def observation(self, observation: Observation) -> str:
        """Return an observation."""
        data = observation.data
        if observation.is_error:
            return self.say("error", reason=data.get("reason", "the episode is over"))
        if self._episode.done:
            return self.say("end")
        if data.get("check"):
            return self.say("verify")
        if data.get("activated") is not None:
            return self.say("not_activated")
        if data.get("reactor") is not None:
            return self.reactor()
        if not data:
            return self.say("noted")
        names = self._view.names
        columns = (*self._view.display, FREQUENCY)
        cells = {v: self._cell(v, data[names[v]]) for v in columns}
        return paragraphs(self._readings("reading", cells), self.remaining())

    def _cell(self, v: int, value: float) -> str:
        """Return a reading as text; the released rules reveal which values were moved."""
        return repr(value) if self._episode.shifted >> v & 1 else self._read(value)

    def _read(self, value: float) -> str:
        """Return a reading; rounded ones have two decimals, so that none looks like a setting."""
        return f"{value + 0.0:.2f}" if self._view.rounded else shown(value)

    def _words(self) -> dict[str, object]:
        """Return the values of a template's placeholders."""
        view, say = self._view, self._template.say
        held = (view.names[v] for v in view.display if not view.controllable >> v & 1)
        tolerance = f"{view.tolerance:g}"
        return {
            "names": ", ".join(view.names[v] for v in view.display),
            "held": ", ".join(held),
            "limits": say("unlimited") if view.limit is None else f"0-{view.limit:g}",
            "size": f"{view.disturbance:g}",
            "near": say("nearly", tolerance=tolerance) if view.tolerance else say("exactly"),
            "entries": say("quadratic_entries" if view.quadratic else "linear_entries"),
            "coefficients": EXAMPLE[view.quadratic],
            "example": EQUATION[view.quadratic],
        }


def joined(*parts: str) -> str:
    """Join the sentences that are not empty."""
    return " ".join(part for part in parts if part)
