"""The surfaces: how a template writes names, trials and questions.

A surface is drawn for each instance: names for the variables, and the order in which they are
listed. Two templates never share a name in an instance unless they share the whole drawing, so an
episode understands the names of every surface.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache

from whybench.causal.seeds import Stream
from whybench.episode.instance import Instance
from whybench.episode.prompts.template import PromptTemplate, load_templates, paragraphs
from whybench.families.prism.world.world import Question, Trial, World

template_named = load_templates("whybench.families.prism.prompts")

SWITCH = ("off", "on")
"""The last word of a passage for the values 0 and 1."""

MARKS = (30, 70)
"""The lowest and the highest mark of a meter."""

NEAR = 19
"""The largest distance of a reading from its mark."""

TEMPLATES = (
    "table", "shapes", "board", "game", "prose", "table_again", "board_numbers", "prose_long",
    "compact",
)  # fmt: skip
"""All surfaces."""

NAMING = TEMPLATES[:6]
"""The surfaces with names of their own."""


class Surface:
    """The words of one instance in one template."""

    def __init__(self, template: PromptTemplate, key: tuple[str | int, ...], n: int) -> None:
        self.words = template
        self._key, self._n = key, n
        self._again = template.name.endswith("_again")
        self._drawn_as = template.passages["drawn_as"]
        self._away: dict[int, list[int]] = {}
        """Trial → the distance of each reading from its mark."""

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the variables."""
        pool = self.words.passages["names"].split()
        first = self._n if self._again else 0
        return tuple(self._stream("names", self._drawn_as).sample(pool, first + self._n)[first:])

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The variables in the order in which they are listed."""
        listing = self._stream("listing", self.words.name if self._again else self._drawn_as)
        return tuple(listing.shuffled(range(self._n)))

    def _stream(self, *path: str | int) -> Stream:
        return Stream("prism", "surface", *self._key, *path)

    def named(self, v: int) -> str:
        """Return a variable's name as it stands in a sentence."""
        return self.words.say("name", name=self.names[v])

    def listed(self, variables: Sequence[int]) -> str:
        """Return names in listing order, with commas."""
        return ", ".join(self.names[v] for v in self.order if v in variables)

    # Sentences.

    def clauses(self, manner: str, values: Mapping[int, int], trial: int = 0) -> list[str]:
        """Say what some variables were, in listing order.

        Variables of one value share a clause if the phrase has a form for several names.

        Args:
            manner: `set`, `held` or `free`.
            values: Variable → value.
            trial: The number of the trial, from 1; 0 for the trial of a question.

        Returns:
            The clauses, without full stops.

        """
        groups: dict[object, list[int]] = {}
        for v in (v for v in self.order if v in values):
            grouped = "|" in self.words.passages[f"{manner}_{SWITCH[values[v]]}"]
            groups.setdefault(values[v] if grouped else (v,), []).append(v)
        return [self._clause(manner, group, values[group[0]], trial) for group in groups.values()]

    def _clause(self, manner: str, group: list[int], value: int, trial: int) -> str:
        phrase = self.words.passages[f"{manner}_{SWITCH[value]}"]
        one, _, many = phrase.partition("|")
        if "$reading" in one:
            one = one.replace("$reading", str(self.reading(group[0], value, trial)))
        return f"{joined([self.named(v) for v in group])} {many if len(group) > 1 else one}"

    @cached_property
    def marks(self) -> tuple[int, ...]:
        """The marks of the meters, for surfaces with readings."""
        stream = self._stream("marks")
        return tuple(MARKS[0] + stream.below(MARKS[1] - MARKS[0] + 1) for _ in range(self._n))

    def reading(self, v: int, value: int, trial: int) -> int:
        """Return what a meter reads; the distance from the mark says nothing."""
        if trial not in self._away:
            stream = self._stream("readings", trial)
            self._away[trial] = [stream.below(NEAR) for _ in range(self._n)]
        away = self._away[trial][v]
        return self.marks[v] + away if value else self.marks[v] - 1 - away

    # Trials.

    def trial(self, number: int, trial: Trial) -> str:
        """Return a trial as text."""
        held = dict(trial.held)
        cells = [f"{trial.values[v]}{'*' if v in held else ''}" for v in self.order]
        inputs = dict(enumerate(trial.inputs))
        free = {v: x for v, x in enumerate(trial.values) if v not in held and v not in inputs}
        parts = self.clauses("held", held), self.clauses("free", free, number)
        said = [f"{capital(joined(part))}." for part in parts if part]
        return self.words.say(
            "trial",
            number=number,
            row=self.words.passages.get("gap", " ").join(cells),
            inputs=joined(self.clauses("set", inputs)),
            rest=" ".join([*said, *self._aside(number)]),
        )

    def _aside(self, number: int) -> list[str]:
        """Return one or two sentences that say nothing, if the template has such sentences."""
        pool = self.words.passages.get("asides", "").splitlines()
        if not pool:
            return []
        stream = self._stream("asides", number)
        return stream.sample(pool, 1 + stream.below(2))

    def shown(self, trials: Sequence[Trial], first: int = 1) -> str:
        """Return trials; the first one of all has the heading."""
        said = self.words.say
        head = said("header", names=" ".join(self.names[v] for v in self.order))
        lines = [self.trial(number, trial) for number, trial in enumerate(trials, first)]
        title = said("trials") if first == 1 else ""
        return "\n".join(line for line in (title, head, *lines) if line)

    def things(self, world: World) -> str:
        """Return the names, and which of them are inputs."""
        driven = [v for v in self.order if v >= world.roots]
        return self.words.say(
            "things",
            names=self.listed(range(world.n)),
            inputs=self.listed(range(world.roots)),
            marks=", ".join(f"{self.names[v]} {self.marks[v]}" for v in driven),
        )

    def question(self, world: World) -> str:
        """Return the question."""
        asked: Question = world.question
        y, switch = self.named(asked.y), SWITCH[asked.value]
        held = capital(joined(self.clauses("held", dict(asked.held))))
        inputs = {v: x for v, x in asked.noted if v < world.roots}
        others = {v: x for v, x in asked.noted if v >= world.roots}
        noted = [*self.clauses("set", inputs), *self.clauses("free", others)]
        x = "" if asked.x is None else self.named(asked.x)
        every = self.words.say("every") if world.hidden_inputs else ""
        other = SWITCH[asked.held[0][1]] if asked.held else "on"
        said = self.words.say(
            f"kind_{asked.kind}",
            x=x,
            y=y,
            inputs=joined(self.clauses("set", dict(enumerate(asked.inputs)))),
            held=held or self.words.say("none_held"),
            noted="; ".join(noted),
            holdable=self.listed(asked.holdable),
            most=asked.most,
            number=0 if asked.trial is None else asked.trial + 1,
            had=self.words.say(f"had_{other}"),
            ask=self.words.say(f"ask_{switch}", y=y),
            choice=self.words.say(f"choice_{switch}", y=y),
            would=self.words.say(f"would_{switch}", y=y),
            every=f" {every}" if every else "",
        )
        return self.words.say("ask", question=said)


@lru_cache(maxsize=4096)
def _surface(template: str, key: tuple[str | int, ...], n: int) -> Surface:
    return Surface(template_named(template), key, n)


def surface_of(instance: Instance, n: int, template: str) -> Surface:
    """Return the surface of an instance in a template; it does not depend on the hidden system."""
    return _surface(template, (instance.stream_seed, instance.suite, instance.index), n)


def numbers(instance: Instance, n: int) -> dict[str, int]:
    """Return the names of all surfaces of an instance, in lower case → the variable."""
    surfaces = [surface_of(instance, n, template) for template in NAMING]
    return {name.casefold(): v for one in surfaces for v, name in enumerate(one.names)}


def rules(words: PromptTemplate, world: World) -> str:
    """Return the rules, and what the three answers mean: the same for all problems of a suite."""
    hidden = f" {words.say('hidden')}" if world.hidden_inputs else ""
    kinds = words.say(f"class_{world.cls.replace('3', '_three')}")
    verdict = words.say("verdict" if world.lab is None else "verdict_lab")
    return paragraphs(words.say("rules", hidden=hidden, **{"class": kinds}), verdict)


def joined(parts: Sequence[str]) -> str:
    """Join names or clauses.

    >>> joined(["a"]), joined(["a", "b"]), joined(["a", "b", "c"]), joined(["a and b", "c"])
    ('a', 'a and b', 'a, b and c', 'a and b, and c')
    """
    if len(parts) < 2:
        return "".join(parts)
    link = ", and " if any(" and " in part for part in parts) else " and "
    return f"{', '.join(parts[:-1])}{link}{parts[-1]}"


def capital(text: str) -> str:
    """Return a text with a capital first letter.

    >>> capital("the gate")
    'The gate'
    """
    return text[:1].upper() + text[1:]
