"""An episode in programs: the model writes Python against a `client`, an interface runs it."""

from __future__ import annotations

import re

from whybench.causal.canonical import Json, thaw
from whybench.episode.action import Action, ActionSpec, Argument
from whybench.episode.cleaning import clean_text
from whybench.episode.observation import Observation
from whybench.episode.prompts.conversation import Turn, object_schema
from whybench.episode.prompts.extraction import json_objects
from whybench.episode.prompts.template import paragraphs
from whybench.episode.prompts.turn_limits import TurnLimits
from whybench.families.causalgame.episode import DroneEpisode
from whybench.families.causalgame.prompts.wording import Wording
from whybench.families.causalgame.rules import GUARD

TURNS = 50
"""Programs that may be written, as published."""

MORE_TURNS, GRACE, CALLS = 10, 3, 5
"""With tools: turns beyond the deployments, turns of grace after them, calls in a turn."""

LONGEST_OUTPUT = 20_000
"""Characters of a program's output that are shown."""

_FENCE = re.compile(r"^```([^\n`]*)\n(.*?)(?:^```[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_TAGS = {"", "py", "python", "python3"}


class Dialogue:
    """Tells an episode as a sequence of programs and what they print.

    An interface with a sandbox takes `program` out of a reply, runs it with a client whose calls
    are actions of the episode, and hands its output to `on_program_output`.
    """

    def __init__(self, episode: DroneEpisode, template: str) -> None:
        self._episode = episode
        self._tell = Wording(episode, template)
        self._said = ""
        self._programs = 0

    @property
    def system(self) -> str:
        """The rules, and how to write programs."""
        methods = "\n".join(_usage(spec) for spec in self._episode.actions)
        return paragraphs(self._tell.rules(), self._tell.say("code", methods=methods))

    def turn(self) -> Turn | None:
        """Return the next thing to say, or None when the episode or the turns have ended."""
        if self._episode.done or self._programs >= TURNS:
            return None
        ask = self._tell.say("code_turn", left=TURNS - self._programs, turns=TURNS)
        said = self._said or self._tell.situation()
        due = self._episode.submitted is not None
        report = self._tell.say("ask_report") if due else ""
        schema = object_schema({"program": {"type": "string"}})
        return Turn(paragraphs(said, report, ask), "program", schema)

    @property
    def data(self) -> Json:
        """What a program finds as `data`: all records that can be seen, designs and status."""
        episode = self._episode
        records = thaw(episode.records().frozen)
        return {"history": records, "designs": episode.legend(), "status": episode.status()}

    @property
    def analysis(self) -> ActionSpec:
        """The tool that runs a program on the records."""
        argument = Argument("program", self._tell.say("analyse_program"))
        return ActionSpec("analyse", self._tell.say("analyse"), (argument,))

    def program(self, text: str) -> str | None:
        """Return the last program in a reply; None if there is none."""
        text = clean_text(text)[0]
        plain = text.replace("\r\n", "\n")
        fences = [body for tag, body in _FENCE.findall(plain) if tag.strip().lower() in _TAGS]
        if fences:
            return str(fences[-1])
        told = (entry.value.get("program") for entry in json_objects(text))
        return next((program for program in told if isinstance(program, str)), None)

    def on_program_output(self, output: str, outcome: str) -> None:
        """Take what a program printed, and how it ended."""
        self._programs += 1
        shown = output[:LONGEST_OUTPUT]
        self._said = self._tell.say("code_output", output=shown, outcome=outcome)

    def reply(self, text: str) -> None:
        """Take a reply without a program: that is an error of the episode."""
        if self.program(text) is not None:
            raise ValueError(
                "a program needs an interface with a sandbox: use `program` and `on_program_output`"
            )
        self._programs += 1
        self._episode.note(clean_text(text)[1])
        self._episode.step(Action.malformed("there was no program in the reply"))
        self._said = self._tell.say("code_missing")

    def answer(self, observation: Observation) -> Json:
        """Return what a call of the client returns, or raise what it raises."""
        if observation.is_error:
            raise ValueError(str(observation.data.get("reason", observation.code)))
        return thaw(observation.data)

    def say(self, action: Action) -> tuple[str, bool]:
        """Put an action into a program."""
        args = ", ".join(f"{name}={value!r}" for name, value in thaw(action.args).items())
        return f"```python\nprint(client.{action.name}({args}))\n```", True


def turn_limits_of(episode: DroneEpisode, template: str) -> TurnLimits:
    """Return how a model that calls tools is led."""
    tell = Wording(episode, template)
    turns = episode.view.deploys + MORE_TURNS

    def opening(turn: int) -> str:
        if episode.submitted is not None:
            return tell.say("ask_report")
        left = {"drones": episode.drones, "deploys": episode.deploys}
        return tell.say("opening", turn=turn, turns=turns, **left)

    def late(left: int) -> str:
        return opening(turns) if episode.submitted is not None else tell.say("late", left=left)

    def guarded(name: str) -> str:
        client = episode.released and episode.parameters.guard is None
        return GUARD if client and name == "submit" and not episode.batches else ""

    names = ", ".join(spec.name for spec in episode.actions)
    return TurnLimits(
        turns, GRACE, CALLS, opening, late,
        spent=tell.say("spent"), closed=tell.say("closed"),
        redirect=tell.say("redirect", tools=names), guarded=guarded,
    )  # fmt: skip


def _usage(spec: ActionSpec) -> str:
    arguments = [f"{a.name}=None" if a.optional else a.name for a in spec.arguments]
    return f"client.{spec.name}({', '.join(arguments)}): {spec.meaning}"
