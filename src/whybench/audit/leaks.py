"""Look for the truth where an agent can see it before its first action.

Each test returns what leaks, one sentence each, or None where it does not apply.

- `look_alikes`: hidden systems that the family says look the same must give the same instructions
  and first turn in every template.
- `tools`: the same for the schemas of the tools.
- `order`: where names are listed, causes are as often before their effects as after them. Only
  links between quantities that have both causes and effects count, because roles may be stated. It
  does not apply where the instructions are the evidence, which may be in causal order.
- `formats`: the number of decimals in which a quantity is shown does not predict whether it
  has causes.
- `ids`: digits of ids and clusters, and the index, do not predict the answer, nor whether the first
  quantity in the alphabet has causes.
- `sequence`: the answers of earlier instances do not predict the next one. It matters to an agent
  that remembers other samples.

The last four are look-ups or counts that are fitted on one seed and tested on another one.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from whybench.causal.canonical import canonical_json
from whybench.episode.annotated import Arrow
from whybench.episode.episode import Episode, play
from whybench.episode.family import Suite
from whybench.episode.instance import Instance
from whybench.episode.trace import Trace
from whybench.interfaces.session import tool_schema
from whybench.stats.interval import mean_interval

LEVEL = 0.9999
"""Confidence of a leak: many look-ups are tried."""
FEWEST = 40
"""Fewest values that a test needs."""
SLACK = 0.05
"""How far a share may be from one half in the test of order."""

Found = list[str] | None


@dataclass(frozen=True)
class Seen:
    """An instance with what is visible of it, and its truth."""

    suite: Suite
    instance: Instance

    @cached_property
    def episode(self) -> Episode:
        """A fresh episode."""
        return self.suite.family.open(self.instance)

    @cached_property
    def text(self) -> str:
        """The instructions in the first template."""
        return self.episode.instructions(self.suite.family.template_for(self.suite.profile))

    @cached_property
    def truth(self) -> Trace:
        """The trace of the agent that sees the truth."""
        family = self.suite.family
        return play(family.open(self.instance), family.agent("oracle", self.instance))

    @cached_property
    def arrows(self) -> tuple[Arrow, ...]:
        """The true links."""
        return self.suite.family.annotate(self.instance, self.truth).truth

    @property
    def answer(self) -> str:
        """The right answer."""
        final = self.suite.family.final_action
        return canonical_json([one.to_json() for one in self.truth.actions if one.name == final])

    @property
    def role(self) -> str:
        """Whether the first quantity in the alphabet has causes; empty without links."""
        effects = {arrow.effect for arrow in self.arrows}
        names = sorted({arrow.cause for arrow in self.arrows} | effects)
        return str(names[0] in effects) if names else ""

    @property
    def cluster(self) -> str:
        """The unit of statistics."""
        return f"{self.suite.seed}/{self.instance.cluster}"


def leaks(suites: Sequence[Suite], count: int) -> dict[str, Found]:
    """Run all tests on the first instances of each suite; return what leaks by test."""
    seen = [Seen(suite, suite.row(n)) for suite in suites for n in range(count)]
    return {name: test(seen) for name, test in TESTS.items()}


def look_alikes(seen: Sequence[Seen]) -> Found:
    """Compare all words before the first action."""

    def words(episode: Episode) -> Iterator[tuple[str, object]]:
        family = seen[0].suite.family
        for template in family.templates:
            talk = family.conversation(episode, template)
            yield template, (episode.instructions(template), talk.system, talk.turn())

    return _compared(seen, words, "words in template")


def tools(seen: Sequence[Seen]) -> Found:
    """Compare the tools before the first action."""

    def schemas(episode: Episode) -> Iterator[tuple[str, object]]:
        yield "tools", [tool_schema(spec) for spec in episode.actions]

    return _compared(seen, schemas, "schemas of")


def _compared(
    seen: Sequence[Seen], parts: Callable[[Episode], Iterator[tuple[str, object]]], what: str
) -> Found:
    found, any_there = [], False
    for one in seen:
        for other in one.suite.family.look_alikes(one.instance):
            any_there = True
            for (name, here), (_, there) in zip(parts(one.episode), parts(other), strict=True):
                if here != there:
                    found.append(f"{one.instance.id}: {what} `{name}` differ between look-alikes")
    return found if any_there else None


def order(seen: Sequence[Seen]) -> Found:
    """Count how often a cause is listed before its effect."""
    if all(spec.final for spec in seen[0].episode.actions):
        return None
    values, clusters = [], []
    for one in seen:
        causes, effects = ({getattr(a, end) for a in one.arrows} for end in ("cause", "effect"))
        for arrow in one.arrows:
            if arrow.cause not in effects or arrow.effect not in causes:
                continue
            first, second = _place(one.text, arrow.cause), _place(one.text, arrow.effect)
            if first is not None and second is not None:
                values.append(float(first < second))
                clusters.append(one.cluster)
    if len(values) < FEWEST:
        return None
    share = mean_interval(values, clusters, LEVEL)
    if share.low > 0.5 + SLACK or share.high < 0.5 - SLACK:
        return [f"causes are listed before their effects in {share.estimate:.3f} of links"]
    return []


def _place(text: str, name: str) -> int | None:
    found = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)
    return found.start() if found else None


def formats(seen: Sequence[Seen]) -> Found:
    """Predict from the decimals of its numbers whether a quantity has causes."""
    rows: list[Row] = []
    roles: dict[str, set[bool]] = defaultdict(set)
    for one in seen:
        effects = {arrow.effect for arrow in one.arrows}
        names = {arrow.cause for arrow in one.arrows} | effects
        for name, cells in _columns(one.text, names):
            forms = tuple(sorted({len(cell.partition(".")[2]) for cell in cells}))  # decimals
            roles[name].add(name in effects)
            rows.append(Row(forms, str(name in effects), one.cluster, name))
    free = [row for row in rows if len(roles[row.name]) > 1]  # the role of others may be stated
    return _predicts(free, "the number of decimals", "whether a quantity has causes")


def _columns(text: str, names: set[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the numbers below each name in the tables of a text."""
    head: list[str] = []
    found: dict[str, list[str]] = defaultdict(list)
    for line in text.splitlines():
        separator = next((one for one in ("|", ",") if one in line), None)
        cells = [cell.strip() for cell in line.split(separator)]
        if len(names.intersection(cells)) > 1:
            head = cells
        elif len(cells) != len(head):
            head = []
        else:
            for name, cell in zip(head, cells, strict=True):
                if name in names and re.fullmatch(r"[-+]?\d+(\.\d+)?", cell):
                    found[name].append(cell)
    yield from found.items()


@dataclass(frozen=True, slots=True)
class Row:
    """One value to predict."""

    seen: Hashable
    target: str
    cluster: str
    name: str = ""


def ids(seen: Sequence[Seen]) -> Found:
    """Predict the answer from parts of the id, of the cluster and of the index."""
    if not _drawn(seen):
        return None  # the same list under every seed: the index names the case
    parts: dict[str, Callable[[Instance], Hashable]] = {
        "the first digit of the id": lambda one: one.id.rpartition("-")[2][:1],
        "the last digit of the id": lambda one: one.id[-1:],
        "the first digit of the cluster": lambda one: one.cluster[:1],
        "the last digit of the cluster": lambda one: one.cluster[-1:],
        **{f"the index modulo {m}": _place_in(m) for m in GROUPS},
    }
    return _together(
        _predicts([Row(part(one.instance), goal(one), one.cluster) for one in seen], name, target)
        for name, part in parts.items()
        for target, goal in TARGETS.items()
    )


def _place_in(size: int) -> Callable[[Instance], Hashable]:
    return lambda one: one.index % size


def sequence(seen: Sequence[Seen]) -> Found:
    """Predict an answer from those before it in groups of instances, such as balanced ones."""
    if not _drawn(seen):
        return None

    def rows(size: int, goal: Callable[[Seen], str]) -> Iterator[Row]:
        for place, one in enumerate(seen):
            past = one.instance.index % size
            before = seen[max(0, place - past) : place]
            known = tuple(sorted(goal(other) for other in before))
            # each row is a cluster of its own: dependence between rows is what is tested
            yield Row((past, known), goal(one), str(place))

    return _together(
        _predicts(list(rows(size, goal)), f"what precedes it in its group of {size}", target)
        for size in GROUPS
        for target, goal in TARGETS.items()
    )


GROUPS = (2, 3, 4, 5, 6, 10)
"""Sizes of groups of instances within which answers could be balanced."""

TARGETS: dict[str, Callable[[Seen], str]] = {
    "the answer": lambda one: one.answer,
    "whether the first quantity has causes": lambda one: one.role,
}


def _together(tests: Iterable[Found]) -> Found:
    """Return what any test found; None if none of them applies."""
    applied = [found for found in tests if found is not None]
    return [leak for found in applied for leak in found] if applied else None


def _drawn(seen: Sequence[Seen]) -> bool:
    """Return whether another seed gives other problems, not only other names."""

    def content(one: Seen) -> str:
        family = one.suite.family
        return canonical_json(family.problem(family.world(one.instance)))

    seeds = dict.fromkeys(one.suite.seed for one in seen)
    firsts = [[content(one) for one in seen if one.suite.seed == seed][:5] for seed in seeds]
    return len(seeds) < 2 or firsts[0] != firsts[1]


def _predicts(rows: Sequence[Row], what: str, target: str) -> Found:
    """Fit a look-up on the first half of rows; say whether it beats the most frequent value."""
    half = len(rows) // 2
    targets = {row.target for row in rows}
    if half < FEWEST or len(targets) < 2 or len(targets) > half // 10:
        return None
    table: dict[Hashable, Counter[str]] = defaultdict(Counter)
    for row in rows[:half]:
        table[row.seen][row.target] += 1
    common = Counter(row.target for row in rows[:half]).most_common(1)[0][0]
    gains = [
        float(_most(table.get(row.seen), common) == row.target) - float(common == row.target)
        for row in rows[half:]
    ]
    gain = mean_interval(gains, [row.cluster for row in rows[half:]], LEVEL)
    if gain.low > 0:
        return [f"{what} predicts {target}: {gain.estimate:.3f} above the most frequent one"]
    return []


def _most(counts: Counter[str] | None, otherwise: str) -> str:
    return counts.most_common(1)[0][0] if counts else otherwise


TESTS: dict[str, Callable[[Sequence[Seen]], Found]] = {
    "look_alikes": look_alikes,
    "tools": tools,
    "order": order,
    "formats": formats,
    "ids": ids,
    "sequence": sequence,
}
