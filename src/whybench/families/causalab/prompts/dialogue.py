"""The protocol `record`: each turn has memory, thought, past data, hypothesis, experiment."""

from __future__ import annotations

import json
from typing import Any

from whybench.causal.canonical import Json
from whybench.episode.action import Action
from whybench.episode.observation import Observation
from whybench.episode.prompts.conversation import object_schema
from whybench.episode.prompts.dialogue import JsonDialogue
from whybench.episode.prompts.extraction import Found, is_bare_object, json_objects
from whybench.episode.prompts.template import paragraphs
from whybench.families.causalab.episode import LabEpisode
from whybench.families.causalab.hypothesis import HypothesisError, hypothesis_schema, loaded
from whybench.families.causalab.numbers import number
from whybench.families.causalab.prompts.wording import Wording, template_named

FIELDS = ("memory", "thought", "past_data", "hypothesis", "experiment")

ENDS = {"experiment", "prediction"}
"""Fields of an action; a record with neither only proposes its hypothesis."""

CARRIED = ("memory", "past_data", "hypothesis")
"""Fields that a record passes to the next turn."""

LONGEST, LONGEST_RELEASED = 12_000, 4_000
"""Maximum number of characters of each passed field; the release passes fewer."""


class Dialogue(JsonDialogue[LabEpisode]):
    """Run a CausaLab episode in which each reply is one JSON object, in both phases.

    With `context=state`, a turn shows only the rules, the previous record and the last observation.
    In profile `published` every turn also repeats the given records, as the paper does. In profile
    `certified` they appear in the first turn only. With `context=full`, the agent sees all turns.
    """

    find_template = staticmethod(template_named)
    _kind = "record"

    def __init__(self, episode: LabEpisode, template: str) -> None:
        super().__init__(episode, template)
        self._tell = Wording(episode, template)
        self._state: dict[str, str] = {}
        """The fields passed to the next turn, as JSON text."""
        self._seen: Observation | None = None
        """The last observation without an error; it is repeated after an error."""

    @property
    def system(self) -> str:
        """The rules, and the format of records, as the system message."""
        tell = self._tell
        return tell.say(
            "system", rules=tell.rules(), language=tell.language(), record=tell.record()
        )

    def _fresh(self) -> bool:
        return self._episode.parameters.context == "state" and self._last is not None

    def _prompt(self) -> str:
        episode, tell = self._episode, self._tell
        fresh = episode.parameters.context == "state"
        parts = []
        last, seen = self._last, self._seen
        if last is None or (fresh and seen is None):
            parts.append(tell.situation())
        elif fresh:
            parts.append(tell.given() if episode.view.released else tell.quantities())
        if last is not None:
            if fresh:
                parts.append(self._state_text())
                if seen is not None and seen is not last:
                    parts.append(tell.observation(seen))
            parts.append(tell.observation(last))
            if last.is_error and not fresh and not episode.in_reactor:
                parts.append(tell.remaining())
            if fresh and seen is not None and episode.in_reactor and not seen.data.get("reactor"):
                parts.append(tell.reactor())
        return paragraphs(*parts, tell.say("ask_reactor" if episode.in_reactor else "ask"))

    def _state_text(self) -> str:
        longest = LONGEST_RELEASED if self._episode.view.released else LONGEST
        lines = [f"{field}: {self._state.get(field, 'null')[:longest]}" for field in CARRIED]
        return self._tell.say("state", state="\n".join(lines))

    def reply(self, text: str) -> None:
        """Take a record: the last object with an experiment or a prediction counts."""
        super().reply(text)
        if self._last is not None and not self._last.is_error:
            self._seen = self._last

    def _read(self, text: str) -> Action:
        """Return the action of a reply, and store the fields for the next turn."""
        wanted = "prediction" if self._episode.in_reactor else "experiment"
        found = _last_with(wanted, text) or _last_with("hypothesis", text)
        if found is not None and wanted not in found.value and ENDS & found.value.keys():
            found = None
        if found is None:
            return Action.malformed(f"there is no JSON object with `{wanted}` in the reply")
        try:
            kept = {field: found.value[field] for field in CARRIED if field in found.value}
            self._state |= {field: _text(value) for field, value in kept.items()}
            action = self._action(found)
        except (ValueError, RecursionError):
            return Action.malformed("the object is nested too deeply")
        return action.read(strictly=is_bare_object(text) and set(FIELDS) <= found.value.keys())

    def _action(self, found: Found) -> Action:
        record = found.value
        args: dict[str, Any] = {}
        if record.get("hypothesis") not in (None, {}):
            hypothesis = record["hypothesis"]
            if isinstance(hypothesis, dict) and "candidates" in record:
                hypothesis = hypothesis | {"candidates": record["candidates"]}
            args["hypothesis"] = json.dumps(hypothesis)
        if not ENDS & record.keys():
            return Action.of("propose", **args)
        if self._episode.in_reactor:
            return Action.of("submit", frequency=_argument(record["prediction"]), **args)
        experiment = record["experiment"]
        if experiment in (None, {}, [], ""):
            return Action.of("open_reactor", **args)
        if not isinstance(experiment, dict):
            return Action.malformed(
                "`experiment` is an object with `target_prop` and `target_value`"
            )
        named = experiment.get("target_prop"), experiment.get("target_value")
        return Action.of("intervene", property=named[0], value=_argument(named[1]), **args)

    def say(self, action: Action) -> tuple[str, bool]:
        """Return an action as a record."""
        args = action.args
        record: dict[str, Json] = {
            "memory": "",
            "thought": "",
            "past_data": [],
            "hypothesis": None,
            "experiment": {},
        }
        if args.get("hypothesis"):
            try:
                record["hypothesis"] = dict(loaded(args["hypothesis"]))
            except HypothesisError:
                record["hypothesis"] = args["hypothesis"]
        if action.name == "propose":
            del record["experiment"]
        if action.name == "intervene":
            record["experiment"] = {
                "target_prop": args["property"],
                "target_value": _plain(args["value"]),
            }
        if action.name == "submit":
            record["prediction"] = _plain(args["frequency"])
        return json.dumps(record), True

    def _schema(self) -> Json:
        """Return the JSON schema of a record."""
        text = {"type": "string"}
        episode = self._episode
        hypothesis = hypothesis_schema(episode.names, episode.parameters.candidates)
        properties: dict[str, Any] = {
            "memory": text,
            "thought": text,
            "past_data": {"type": "array", "items": {"type": "object"}},
            "hypothesis": {"anyOf": [hypothesis, {"type": "null"}]},
            "experiment": {
                "type": "object",
                "properties": {"target_prop": text, "target_value": {"type": "number"}},
            },
        }
        if self._episode.in_reactor:
            properties["prediction"] = {"type": "number"}
        return object_schema(properties)


def _last_with(field: str, text: str) -> Found | None:
    """Return the last object with a field that lies inside no other such object."""
    last: Found | None = None
    for found in json_objects(text):
        if field in found.value and (last is None or found.end >= last.end):
            last = found
    return last


def _text(value: Json) -> str:
    """Return JSON text that is valid UTF-8; lone surrogates become question marks."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace").decode("utf-8")


def _argument(value: Json) -> Json:
    """Return a number as its text, as the arguments of tools are."""
    return repr(value) if isinstance(value, int | float) else value


def _plain(value: Json) -> Json:
    """Return an argument as a number, or unchanged if it is not a number."""
    found = number(value)
    return value if found is None else found
