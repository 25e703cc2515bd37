"""Actions and observations: the episode."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import lru_cache

from whybench import CANARY
from whybench.causal.canonical import Record
from whybench.episode.action import Action, ActionSpec, Argument
from whybench.episode.episode import (
    ANSWERED,
    INVALID_ACTION,
    INVALID_ANSWER,
    TIMEOUT,
    Episode,
)
from whybench.episode.instance import Instance
from whybench.episode.observation import OK, Observation
from whybench.episode.prompts.template import PromptTemplate, load_templates, paragraphs
from whybench.families.replayscm.lab import Lab, SettingError
from whybench.families.replayscm.submission import Judged, answer_schema, judge
from whybench.families.replayscm.world.gold_scm import MOST_TARGETS
from whybench.families.replayscm.world.world import (
    Asked,
    Table,
    Task,
    Told,
    View,
    World,
    names,
)

template_named = load_templates("whybench.families.replayscm.prompts")


class ReplayEpisode(Episode):
    """Read worlds, choose more of them in the laboratory, and submit mechanisms."""

    __slots__ = ("_lab", "judged", "seen", "world")

    def __init__(self, instance: Instance, world: World, max_errors: int, lab: Lab | None) -> None:
        super().__init__(instance, max_errors)
        self.world = world
        self.seen: tuple[Table, ...] = ()
        """The worlds of the experiments so far."""
        self.judged: Judged | None = None
        """The validation of the last answer."""
        self._lab = lab

    @property
    def view(self) -> View:
        """Everything that the agent has been shown so far."""
        view = self.world.view
        return replace(view, train=(*view.train, *self.seen)) if self.seen else view

    @property
    def lab(self) -> Lab | None:
        """The laboratory, if the episode has one and the agent makes its own experiments."""
        return self._lab if self.evidence == "own" else None

    @property
    def left(self) -> int:
        """How many experiments are left."""
        return 0 if self.lab is None else self.lab.budget - len(self.seen)

    @property
    def actions(self) -> tuple[ActionSpec, ...]:
        """`submit`, and in an open laboratory also `experiment`."""
        view = self.world.view
        specs = action_specs(view.task, view.told, view.display)
        return specs if self.lab is not None else specs[-1:]

    def _carry_out(self, action: Action) -> Observation:
        if action.name == "submit":
            return self._submit(action)
        if action.name == "experiment" and self._lab is not None:
            return self._experiment(action, self._lab)
        return Observation.refused(INVALID_ACTION, f"there is no action {action.name[:40]!r}")

    def _submit(self, action: Action) -> Observation:
        self.judged = judge(self.view, action.args.get("answer"))
        if self.judged.failed is not None:
            return Observation.refused(INVALID_ANSWER, self.judged.reason, stage=self.judged.failed)
        self.outcome = ANSWERED
        return Observation(OK)

    def _experiment(self, action: Action, lab: Lab) -> Observation:
        if len(self.seen) >= lab.budget:
            self.outcome = TIMEOUT
            return Observation.refused(TIMEOUT, f"all {lab.budget} experiments are used up")
        try:
            table = lab.run(action.args.get("setting"), len(self.seen))
        except SettingError as error:
            return Observation.refused(INVALID_ACTION, str(error))
        self.seen = (*self.seen, table)
        rows = tuple(format(row, f"0{self.view.n}b")[::-1] for row in table.rows())
        return Observation(OK, Record.of(targets=table.targets, mode=table.mode, rows=rows))

    # Words.

    def instructions(self, template: str) -> str:
        """Return the rules, the disclosed structure, all worlds, and how to answer."""
        words = template_named(template)
        how = [self.form(words), words.say("tools")]
        if self.lab is not None:
            how = [words.say("tools_lab", **self._words())]
        return paragraphs(self.rules(words), self.situation(words), *how)

    def rules(self, words: PromptTemplate) -> str:
        """Return what is the same for every problem of a suite."""
        task = self.view.task if self._lab is None or self.lab is None else "lab_task"
        given = self._lab_words()
        language = words.say("language") if self.view.asked is None else ""
        return paragraphs(words.say("rules"), words.say(task, **given), language, CANARY)

    def situation(self, words: PromptTemplate) -> str:
        """Return this problem: disclosed structure, worlds seen, reference."""
        view = self.view
        given = self._words()
        told = [words.say(f"told_{view.disclosure}", **given)]
        if not view.released:
            told.append(words.say("bound", k=view.told.k))
        parts = [" ".join(told)]
        if self.lab is None and view.asked is None:
            own = f"worlds_{view.task}"
            passage = own if own in words.passages else "worlds"
            parts.append(words.say(passage, trained=len(view.train), heldout=view.heldout))
        parts += [self.table(words, number, table) for number, table in enumerate(view.train, 1)]
        if view.task == "alternative":
            parts.append(words.say("reference", mechanisms=self._reference()))
        if view.asked is not None:
            parts.append(words.say("question", **self._question(view.asked)))
        if self.lab is not None:
            parts.append(self.remaining(words))
        return paragraphs(*parts)

    def form(self, words: PromptTemplate) -> str:
        """Return how to answer."""
        kind = "roots" if self.view.disclosure == "roots" else self.view.task
        return words.say(f"answer_{'lab' if self.lab is not None else kind}", **self._words())

    def remaining(self, words: PromptTemplate) -> str:
        """Return how many experiments are left."""
        return words.say("left", left=self.left) if self.left else words.say("nothing_left")

    def describe(self, observation: Observation, template: str) -> str:
        """Return an observation in words."""
        words = template_named(template)
        if observation.is_error:
            reason = observation.data.get("reason", "the episode is over")
            return words.say("error", reason=reason)
        if self.done:
            return words.say("end")
        number = len(self.view.train)
        return paragraphs(self.table(words, number, self.seen[-1]), self.remaining(words))

    def table(self, words: PromptTemplate, number: int, table: Table) -> str:
        """Return a world in words, its columns in display order."""
        view = self.view
        shown, names = view.display, view.names
        cells = _cells(words.name, names)
        gap = words.passages.get("gap", " ")
        rows = [
            gap.join([cells[v][table.columns[v] >> r & 1] for v in shown])
            for r in range(table.size)
        ]
        if "row" in words.passages:
            rows = [words.say("row", unit=f"{r:02d}", cells=row) for r, row in enumerate(rows)]
        targets = [v for v in shown if table.targets >> v & 1]
        if table.mode == "none" or not targets:
            intervention = words.say("none")
        elif table.mode == "hard_constant":
            settings = ", ".join(f"{names[v]} = {table.columns[v] & 1}" for v in targets)
            intervention = words.say("constant", settings=settings)
        else:
            intervention = words.say("assigned", targets=", ".join(names[v] for v in targets))
        header = words.say("header", names=" ".join(names[v] for v in shown))
        constant = table.mode == "hard_constant"
        return words.say(
            "world",
            number=number,
            place=f"{number - 1:02d}",
            intervention=intervention,
            mode=table.mode if targets else "none",
            assigned=json.dumps([] if constant else [names[v] for v in targets]),
            constants=json.dumps(
                {names[v]: table.columns[v] & 1 for v in targets} if constant else {}
            ),
            header=header,
            rows="\n".join(rows),
        )

    def _reference(self) -> str:
        names = self.view.names
        return "\n".join(
            f"{names[v]} = {self.view.reference[v]}"
            for v in self.view.display
            if self.view.reference[v]
        )

    def _question(self, asked: Asked) -> dict[str, object]:
        view = self.view
        values = {v: f"{view.names[v]} = {asked.row >> v & 1}" for v in view.display}
        roots = [text for v, text in values.items() if (view.told.roots or 0) >> v & 1]
        targets = [text for v, text in values.items() if asked.targets >> v & 1]
        return {
            "settings": ", ".join(targets),
            "values": ", ".join(roots),
            "name": view.names[asked.variable],
        }

    def _words(self) -> dict[str, object]:
        """Return the values of a template's placeholders."""
        view = self.view
        names, shown = view.names, view.display
        roots = view.told.roots or 0
        return {
            **self._lab_words(),
            "names": ", ".join(names[v] for v in shown),
            "roots": ", ".join(names[v] for v in shown if roots >> v & 1),
            "own": ", ".join(names[v] for v in shown if not roots >> v & 1),
            "count": view.told.root_count,
            "order": ", ".join(names[v] for v in view.order),
            "blocks": " < ".join(
                "{" + ", ".join(names[v] for v in block) + "}" for block in view.blocks
            ),
        }

    def _lab_words(self) -> dict[str, object]:
        rows = self.world.view.train[0].size
        budget = 0 if self._lab is None else self._lab.budget
        return {"budget": budget, "targets": MOST_TARGETS, "rows": rows}


@lru_cache(maxsize=64)
def _cells(template: str, names: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Return how a template writes each variable at 0 and at 1."""
    say = template_named(template).say
    return tuple(
        (say("cell", name=name, value=0), say("cell", name=name, value=1)) for name in names
    )


@lru_cache(maxsize=1024)
def action_specs(task: Task, told: Told, display: tuple[int, ...]) -> tuple[ActionSpec, ...]:
    """Return the kinds of action; variables come in their order of display."""
    value = {"anyOf": [{"type": "integer", "enum": [0, 1]}, {"type": "string"}]}
    setting = {
        "type": "object",
        "properties": {names(told.n)[v]: value for v in display},
        "additionalProperties": False,
    }
    meaning = 'object of targets, such as {"X1": 1, "X2": "010011"}'
    return (
        ActionSpec(
            "experiment",
            "Run an experiment and see its world.",
            (Argument("setting", meaning, schema=setting),),
        ),
        ActionSpec(
            "submit",
            "Hand in the answer. If it is valid, this ends the task.",
            (Argument("answer", "the answer", schema=answer_schema(task, told, display)),),
            final=True,
        ),
    )
