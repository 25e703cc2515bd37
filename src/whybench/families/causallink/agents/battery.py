"""The battery: guessers that answer from little evidence, most of them learned.

A learned guesser is a tree. Each node looks at the picture that the agent has seen so far, ignoring
names, and either answers or acts. The answers come from worlds of a training seed. `best_K` also
learns which entity to act on: dynamic programming over the training worlds finds the best plan with
at most K interventions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import log
from typing import TypeAlias

from whybench.episode.action import Action
from whybench.episode.episode import Moves
from whybench.episode.family import Suite
from whybench.episode.guesser import Guesser, Player, unlearned
from whybench.families.causallink.agents.strategies import answer, seen
from whybench.families.causallink.prompts.theme import read_theme
from whybench.families.causallink.proof.plan import right_answer
from whybench.families.causallink.world.world import State, View, World

TRAINING = 3000
"""Training worlds, at least; a suite goes on in blocks if it is shorter."""

Kind: TypeAlias = tuple[object, ...]
"""What an agent has seen of one entity: is it x, is it y, when acted on, when on, and whether it is
out of reach."""

Picture: TypeAlias = tuple[Kind, ...]
"""The kinds of all entities, sorted: all that an agent has seen, ignoring names and places."""

Act: TypeAlias = tuple[bool | None, Kind | str]
"""Start, stop or toggle (None) the first listed entity of a kind, or `x`, `y`, `first`, `last`."""

Plan: TypeAlias = Sequence[Act] | int
"""A fixed sequence, or the number of interventions to be chosen."""


@dataclass(frozen=True, slots=True)
class History:
    """What an agent has done and seen."""

    view: View
    states: tuple[State, ...]
    acted: tuple[int, ...] = ()

    def kind(self, v: int) -> Kind:
        """Return what was seen of an entity."""
        view, on = self.view, tuple(state >> v & 1 for state in self.states)
        return v == view.x, v == view.y, tuple(u == v for u in self.acted), on, view.fixed >> v & 1

    def picture(self) -> Picture:
        """Return all that was seen, ignoring names and places."""
        return tuple(sorted(self.kind(v) for v in range(self.view.n)))

    def chosen(self, act: Act) -> tuple[bool, int]:
        """Return whether an act is a start, and its entity."""
        starts, which = act
        view = self.view
        movable = [u for u in range(view.n) if not view.fixed >> u & 1]
        others = [u for u in movable if u not in (view.x, view.y)] or movable
        named = {"x": view.x, "y": view.y, "first": others[0], "last": others[-1]}
        if isinstance(which, str):
            v = named[which]
        else:
            v = next(u for u in range(view.n) if self.kind(u) == which)
        return not self.states[-1] >> v & 1 if starts is None else starts, v

    def after(self, v: int, state: State) -> History:
        """Return the history with one more intervention."""
        return History(self.view, (*self.states, state), (*self.acted, v))


@dataclass(frozen=True, slots=True)
class Node:
    """What a learned tree does with a picture: act, or answer."""

    says: str
    act: Act | None = None
    then: dict[Picture, Node] = field(default_factory=dict)


Sample: TypeAlias = tuple[World, History]


def _learned(plan: Plan) -> Callable[[Suite], Player]:
    """Return the `fit` of a tree."""

    def fit(suite: Suite) -> Player:
        samples = [(world, History(world.view, (world.view.start,))) for world in _worlds(suite)]
        says = _majority(samples)
        trees = {seen: _grown(group, plan)[1] for seen, group in _grouped(samples).items()}

        def play(view: View) -> Moves:
            history = History(view, (view.start,))
            node = trees.get(history.picture(), Node(says))
            while node.act is not None and len(history.acted) < view.budget:
                starts, v = history.chosen(node.act)
                if view.fixed >> v & 1:
                    break
                theme = read_theme(view.theme)
                verb = theme.start if starts else theme.stop
                shown = yield Action.of(verb, **{theme.noun: view.names[v]})
                history = history.after(v, seen(view, shown))
                node = node.then.get(history.picture(), Node(node.says))
            yield answer(node.says)

        return lambda instance: play(suite.family.world(instance).view)

    return fit


@lru_cache(maxsize=2)
def _worlds(suite: Suite) -> tuple[World, ...]:
    """Return the training worlds."""
    rows = range(max(len(suite), TRAINING))
    return tuple(suite.family.world(suite.row(number)) for number in rows)


def _grown(samples: list[Sample], plan: Plan) -> tuple[int, Node]:
    """Return the tree for samples with one picture, and how many it would get right.

    Each sample is judged by the others, so a tree gains nothing by learning samples by heart.
    """
    says = _majority(samples)
    counts = Counter(right_answer(world) for world, _ in samples)
    most = counts[says]
    if isinstance(plan, int):
        alone = all(count < most for word, count in counts.items() if word != says)
        best = most if alone else 0, Node(says)
        kinds = dict.fromkeys(samples[0][1].picture())
        acts: Iterable[Act] = [(None, kind) for kind in kinds if not kind[-1]]
        rest: Plan = plan - 1
    else:
        best = -1, Node(says)
        acts, rest = plan[:1], plan[1:]
    if plan == 0 or (isinstance(plan, int) and len(counts) == 1):
        return best
    for act in acts:
        right, then = 0, {}
        for picture, group in _grouped(_acted(samples, act)).items():
            count, then[picture] = _grown(group, rest)
            right += count
        if right > best[0]:
            best = right, Node(says, act, then)
    return (most, best[1]) if best[0] < 0 else best


def _acted(samples: list[Sample], act: Act) -> list[Sample]:
    """Carry out an act in every training world."""
    done = []
    for world, history in samples:
        starts, v = history.chosen(act)
        now = history.states[-1]
        if world.view.fixed >> v & 1:
            done.append((world, history))
            continue
        state = world.after_start(now, v) if starts else world.after_stop(now, v)
        done.append((world, history.after(v, state)))
    return done


def _grouped(samples: list[Sample]) -> dict[Picture, list[Sample]]:
    groups: dict[Picture, list[Sample]] = {}
    for world, history in samples:
        groups.setdefault(history.picture(), []).append((world, history))
    return groups


def _majority(samples: list[Sample]) -> str:
    """Return the commonest answer; the first of `no`, `yes`, `cannot` if there are several."""
    counts = Counter(right_answer(world) for world, _ in samples)
    return max(("no", "yes", "cannot"), key=counts.__getitem__)


# Guessers that read names and places.


def _read(marks: Callable[[View], Sequence[object]]) -> Callable[[Suite], Player]:
    """Return the `fit` of a naive Bayes reader of what is shown before the first action."""

    def fit(suite: Suite) -> Player:
        counts: dict[str, Counter[object]] = {"no": Counter(), "yes": Counter()}
        for world in _worlds(suite):
            said = counts.setdefault(right_answer(world), Counter())
            said.update(["all", *enumerate(marks(world.view))])

        def weight(word: str, view: View) -> float:
            marked = ["all", *enumerate(marks(view))]
            return sum(log(counts[word][mark] + 1) for mark in marked)

        def play(view: View) -> Moves:
            yield answer(max(counts, key=lambda word: round(weight(word, view), 9)))

        return lambda instance: play(suite.family.world(instance).view)

    return fit


def _surface(view: View) -> Sequence[object]:
    x, y, names = view.x, view.y, view.names
    return (names[x], names[y], x, y, (view.n, x), (view.n, y), x - y, names[x] < names[y], names)


BATTERY: tuple[Guesser, ...] = (
    Guesser("constant_yes", "answers yes at once", 0, unlearned("null")),
    Guesser("constant_no", "answers no at once", 0, unlearned("null_no")),
    Guesser("constant_cannot", "answers cannot at once, if it may", 0, unlearned("null_cannot")),
    Guesser("first_listed", "yes if x is listed before y", 0, unlearned("first_listed")),
    Guesser("last_listed", "yes if x is listed after y", 0, unlearned("last_listed")),
    Guesser("names_only", "yes if x comes first in the alphabet", 0, unlearned("names_only")),
    Guesser("prior_only", "the more frequent answer of the training seed", 0, _read(lambda _: ())),
    Guesser(
        "memory",
        "the answer remembered for the two names asked about",
        0,
        _read(lambda view: [(view.names[view.x], view.names[view.y])]),
    ),
    Guesser("surface", "learned from names, places and sizes (naive Bayes)", 0, _read(_surface)),
    Guesser("lookup0", "learned table of the starting picture, ignoring names", 0, _learned([])),
    Guesser("hold_x", "stops x; learned table of the result", 1, _learned([(False, "x")])),
    Guesser("hold_y", "stops y; learned table of the result", 1, _learned([(False, "y")])),
    Guesser("hold_other", "stops the first other one; table", 1, _learned([(False, "first")])),
    Guesser("hold_last", "stops the last other one; table", 1, _learned([(False, "last")])),
    Guesser("move_x", "starts x; learned table of the result", 1, _learned([(True, "x")])),
    Guesser("move_y", "starts y; learned table of the result", 1, _learned([(True, "y")])),
    Guesser("move_other", "starts the first other one; table", 1, _learned([(True, "first")])),
    Guesser("best_1", "the best plan with one intervention, learned", 1, _learned(1)),
    *(
        Guesser(name, meaning, experiments, _learned(plan), counts=False, reason=reason)
        for reason in ["with two interventions it is an experimenter"]
        for name, meaning, experiments, plan in (
            ("hold_x_y", "stops x, then y; table", 2, [(False, "x"), (False, "y")]),
            ("hold_other_x", "stops an other, then x; table", 2, [(False, "first"), (False, "x")]),
            ("hold_other_y", "stops an other, then y; table", 2, [(False, "first"), (False, "y")]),
            ("hold_others", "stops two others; table", 2, [(False, "first"), (False, "last")]),
            ("best_2", "the best plan with two interventions, learned", 2, 2),
            ("best_3", "the best plan with three interventions, learned", 3, 3),
        )
    ),
    Guesser(
        "random",
        "makes up to n random interventions, then tosses a coin",
        None,
        unlearned("random"),
    ),
)
"""All guessers. Those with two or more chosen interventions are listed, but do not count."""
