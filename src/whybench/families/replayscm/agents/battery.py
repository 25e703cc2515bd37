"""The battery: guessers that any honest score must beat.

None of them solves the inference that the task asks for. They know the generator, remember other
problems, look at a part of what is shown, or fit rules that are too simple.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator
from dataclasses import replace
from functools import lru_cache

from whybench.causal.graph import members
from whybench.causal.seeds import Stream
from whybench.episode.action import Action
from whybench.episode.episode import Moves
from whybench.episode.family import Suite
from whybench.episode.guesser import Guesser, Player, unlearned
from whybench.episode.instance import Instance
from whybench.episode.observation import Observation
from whybench.families.replayscm.agents.cell_guessing import AnswerReader, features, nearest
from whybench.families.replayscm.agents.guessing import (
    Floats,
    Reader,
    all_features,
    answered,
    most_frequent,
    parity,
    prior_features,
    target_features,
)
from whybench.families.replayscm.agents.strategies import said, seen_table, smallest_that_fits
from whybench.families.replayscm.alternative import candidate_of
from whybench.families.replayscm.parameters import POOLS, in_lab
from whybench.families.replayscm.proof.certify import right_answer
from whybench.families.replayscm.proof.fit import INPUTS, formulas
from whybench.families.replayscm.world.generation.best_rules import Parents, best_rules
from whybench.families.replayscm.world.gold_scm import MOST_TARGETS
from whybench.families.replayscm.world.replay import replay
from whybench.families.replayscm.world.world import Rows, Sheet, View, World, descendants

QUESTIONS = 300
"""Questions about cells of the training seed that are learned from."""
TRAINED = 24
"""Problems of the training seed that are learned from; making them takes most of the time."""

Given = Callable[[View, Stream], Action]
"""Answers a problem from what is shown of it."""


def _roots(view: View) -> int:
    """Return the roots; if they are not disclosed, the first variables shown."""
    if view.told.roots is not None:
        return view.told.roots
    return sum(1 << v for v in view.display[: view.told.root_count])


def _player(suite: Suite, answer: Given) -> Player:
    """Return a player that submits at once."""

    def moves(instance: Instance) -> Moves:
        view: View = suite.family.world(instance).view
        yield answer(view, Stream("guess", instance.id))

    return moves


def _plain(answer: Given) -> Callable[[Suite], Player]:
    return lambda suite: _player(suite, answer)


@lru_cache(maxsize=4)
def _trained(suite: Suite) -> tuple[World, ...]:
    family = suite.family
    return tuple(family.world(suite.row(number)) for number in range(TRAINED))


# Without a look at the rows, or with a simple one.


def _all_roots(view: View, _: Stream) -> Action:
    roots = _roots(view)
    some = sum(1 << v for v in list(members(roots))[: min(view.told.k, INPUTS)])
    return most_frequent(view, [some] * view.n, roots)


def _usual_value(view: View, _: Stream) -> Action:
    """Say of each variable that it always has its more frequent value."""
    roots = _roots(view)
    first = view.names[next(members(roots))]
    texts = []
    for v in range(view.n):
        free = [t for t in view.train if not t.targets >> v & 1]
        ones = sum(t.columns[v].bit_count() for t in free)
        often = 2 * ones > sum(t.size for t in free)
        texts.append(f"(or {first} (not {first}))" if often else f"(and {first} (not {first}))")
    return answered(view, texts, roots)


def _rules(most: int) -> Given:
    return lambda view, _: most_frequent(
        view, *best_rules(view.told, Rows.of(view.n, view.train), most)
    )


def _edited(view: View, stream: Stream) -> Action:
    """Change the reference at one random pattern, without a look whether it was shown."""
    if view.task != "alternative":
        return _all_roots(view, stream)
    base = candidate_of(view.reference)
    v = stream.choice(base.order)
    others = view.told.admissible[v] & ~descendants(base.parents, v) & ~base.parents[v]
    spare = list(members(others))
    more = stream.sample(spare, min(len(spare), view.told.k - base.parents[v].bit_count()))
    literals = [
        view.names[u] if stream.below(2) else f"(not {view.names[u]})"
        for u in [*members(base.parents[v]), *more]
    ]
    texts = list(view.reference)
    texts[v] = f"(xor {texts[v]} (and {' '.join(literals)}))"
    return answered(view, texts, base.roots)


# Learned.


def _constant(suite: Suite) -> Player:
    """Give every variable the same formula of the roots: the one that was right most often."""
    forms = ("{0}", "(not {0})", "(and {0} {1})", "(or {0} {1})", "(xor {0} {1})", "(iff {0} {1})")

    def texts(view: View, form: str) -> tuple[str, ...]:
        roots = _roots(view)
        text = form.format(*(view.names[v] for v in members(roots)))
        return tuple("" if roots >> v & 1 else text for v in range(view.n))

    def right(form: str) -> float:
        return sum(_right(world.view, texts(world.view, form)) for world in _trained(suite))

    best = max(forms, key=right)
    return _player(suite, lambda view, _: answered(view, texts(view, best), _roots(view)))


def _right(view: View, texts: tuple[str, ...]) -> float:
    """Return the share of shown cells that mechanisms replay correctly."""
    return replay(candidate_of(texts), Sheet.of(view.n, view.train, ()))[0].accuracy


def _memory(suite: Suite) -> Player:
    """Submit the remembered SCM that replays most of what is shown, roots put on roots."""
    known = _trained(suite)

    def answer(view: View, stream: Stream) -> Action:
        roots = _roots(view)
        called = [*members(roots), *_places(view, view.told.every & ~roots)]
        tried = []
        for world in known:
            if world.view.n == view.n and (view.released or world.view.told.k <= view.told.k):
                old = world.gold
                order = [*members(old.roots), *candidate_of(world.formulas).order]
                new = {f"X{a + 1}": f"X{b + 1}" for a, b in zip(order, called, strict=True)}
                texts = [""] * view.n
                for a, b in zip(order, called, strict=True):
                    parts = re.split(r"(X\d+)", world.formulas[a])
                    texts[b] = "".join(new.get(part, part) for part in parts)
                tried.append(tuple(texts))
        if not tried:
            return _all_roots(view, stream)
        best = max(tried, key=lambda texts: _right(view, texts))
        return answered(view, best, roots)

    return _player(suite, answer)


def _places(view: View, own: int) -> list[int]:
    """Return variables in the disclosed order, or as shown if none is disclosed."""
    listed = view.order or tuple(v for block in view.blocks for v in block) or view.display
    return [v for v in listed if own >> v & 1]


def _reader(
    features: Callable[[View], Floats], form: Callable[[View, Parents, int], Action]
) -> Callable[[Suite], Player]:
    def fit(suite: Suite) -> Player:
        seen = [(w.view, features(w.view), w.gold.parents) for w in _trained(suite)]
        reader = Reader.fitted(seen)
        return _player(suite, lambda view, _: form(view, *reader.read(view, features(view))))

    return fit


# Questions about a cell.


def _on_cells(answer: Callable[[View], str]) -> Given:
    """Return a guesser that answers questions about a cell; elsewhere it is `all_roots`."""
    return lambda view, stream: said(answer(view)) if view.asked else _all_roots(view, stream)


def _cell_reader(suite: Suite) -> Player:
    if POOLS[suite.name].task != "rows":
        return _player(suite, _all_roots)
    views = [suite.family.world(suite.row(number)).view for number in range(QUESTIONS)]
    reader = AnswerReader.fitted([(features(view), right_answer(view)) for view in views])
    return _player(suite, _on_cells(reader.read))


# With a part of the worlds, or with experiments that are not thought out.


def _smallest(worlds: int, experiments: int) -> Callable[[Suite], Player]:
    """Submit the smallest SCM that fits the first worlds; in `lab`, random experiments follow."""

    def fit(suite: Suite) -> Player:
        def moves(instance: Instance) -> Moves:
            view: View = suite.family.world(instance).view
            stream = Stream("guess", instance.id)
            view = replace(view, train=view.train[:worlds])
            if in_lab(instance):
                for _ in range(min(experiments, suite.family.params(instance).budget)):
                    view = yield from _tried(
                        view, stream.sample(range(view.n), MOST_TARGETS), stream
                    )
            found = smallest_that_fits(view)
            yield answered(view, formulas(found), found.roots)

        return moves

    return fit


def _swept(suite: Suite) -> Player:
    """Set each variable once, alone, then give each variable its best rule of two inputs."""

    def moves(instance: Instance) -> Moves:
        view: View = suite.family.world(instance).view
        stream = Stream("guess", instance.id)
        if in_lab(instance):
            for v in range(min(view.n, suite.family.params(instance).budget)):
                view = yield from _tried(view, [v], stream)
        yield _rules(2)(view, stream)

    return moves


def _tried(view: View, targets: list[int], stream: Stream) -> Generator[Action, Observation, View]:
    """Set some variables at random in each row; return the view with the new world."""
    size = view.train[0].size
    setting = {
        view.names[v]: "".join(str(stream.below(2)) for _ in range(size)) for v in sorted(targets)
    }
    shown = yield Action.of("experiment", setting=json.dumps(setting))
    return replace(view, train=(*view.train, seen_table(view, shown)))


BATTERY: tuple[Guesser, ...] = (
    Guesser("null", "every variable copies the first root", 0, unlearned("null")),
    Guesser("random", "random formulas of two admissible variables", 0, unlearned("random")),
    Guesser(
        "constant", "the same formula of roots for all variables, the best of six", 0, _constant
    ),
    Guesser(
        "prior_only",
        "likely parents from the disclosed structure alone, joined by `xor`",
        0,
        _reader(prior_features, parity),
    ),
    Guesser(
        "targets",
        "likely parents from targets, roots and places, without a value; joined by `xor`",
        0,
        _reader(target_features, parity),
    ),
    Guesser(
        "lookup0",
        "likely parents from all that is shown, correlations included; most frequent values",
        0,
        _reader(all_features, most_frequent),
    ),
    Guesser(
        "memory", "the SCM of a training problem that replays most of what is shown", 0, _memory
    ),
    Guesser("all_roots", "every root is a parent of every variable", 0, _plain(_all_roots)),
    Guesser(
        "majority", "every variable always has its more frequent value", 0, _plain(_usual_value)
    ),
    Guesser("single", "for each variable the best rule of one input", 0, _plain(_rules(1))),
    Guesser("pair", "for each variable the best rule of two inputs", 0, _plain(_rules(2))),
    Guesser(
        "first_world",
        "the smallest SCM that fits the world without intervention",
        0,
        _smallest(1, 0),
    ),
    Guesser(
        "one_experiment",
        "in `lab`, runs one random experiment; the smallest SCM that fits the first world and it",
        1,
        _smallest(1, 1),
    ),
    Guesser(
        "two_worlds",
        "the smallest SCM that fits two worlds; in `lab`, one is a random experiment",
        1,
        _smallest(2, 1),
        counts=False,
        reason="It runs the exact agent's search over the whole class on a part of the worlds with "
        "interventions, which is the inference that is measured. In `lab` it is "
        "`one_experiment`, which counts.",
    ),
    Guesser(
        "three_worlds",
        "the smallest SCM that fits three worlds; in `lab`, two are random experiments",
        2,
        _smallest(3, 2),
        counts=False,
        reason="It runs the exact agent's search over the whole class on a part of the worlds with "
        "interventions. In `lab` it chooses two experiments, which makes it an experimenter, as in "
        "CausalLink.",
    ),
    Guesser(
        "sweep",
        "in `lab`, sets each variable once; then the best rules of two inputs",
        None,
        _swept,
        counts=False,
        reason="In `lab` it is an experimenter: it runs one experiment per variable, about as many "
        "as the exact agent. Elsewhere it is `pair`.",
    ),
    Guesser(
        "blind_edit",
        "for an alternative, changes the reference at one random pattern; else `all_roots`",
        0,
        _plain(_edited),
    ),
    Guesser("cannot", "in `rows`, always `cannot`", 0, _plain(_on_cells(lambda _: "cannot"))),
    Guesser(
        "nearest",
        "in `rows`, the value of most of the shown rows that agree best with the further row",
        0,
        _plain(_on_cells(nearest)),
    ),
    Guesser(
        "cell_reader",
        "in `rows`, a regression on counts of rows that agree with parts of the further row",
        0,
        _cell_reader,
    ),
    Guesser(
        "local",
        "for each variable the best rule of up to k inputs",
        0,
        _plain(_rules(INPUTS)),
        counts=False,
        reason="For each variable it tries every set of up to k inputs on all rows. This is the "
        "inference that is measured; only cycles are not settled by it.",
    ),
)
