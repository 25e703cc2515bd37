"""Reference agents: they fetch or run trials where needed, and answer."""

from __future__ import annotations

from collections.abc import Callable

from whybench.causal.seeds import Stream
from whybench.causal.version_space import Row
from whybench.episode.action import Action
from whybench.episode.episode import Moves
from whybench.families.prism.agents.judges import JUDGES, Judge
from whybench.families.prism.agents.sight import Given, Sight, answer
from whybench.families.prism.proof.certify import listed
from whybench.families.prism.proof.closure import Closure, closure_for
from whybench.families.prism.rules import OPEN
from whybench.families.prism.world.questions import decided, tally, witnesses
from whybench.families.prism.world.world import ANSWERS, World

Strategy = Callable[[Sight, Stream, Given], Moves]
"""A reference agent; it sees what every agent sees, and nothing more."""


def gathered(sight: Sight, given: Given) -> Moves:
    """Fetch all trials of a record, if the record must be fetched."""
    if given and given[0].action == OPEN:
        for _ in sight.rows:
            yield Action.of("next")


def shown(sight: Sight, given: Given) -> tuple[Row, ...]:
    """Return the trials of the problem, and given experiments."""
    steps = [] if not given or given[0].action == OPEN else given
    return (*sight.rows, *(sight.seen(step.observation) for step in steps))


def judging(judge: Judge) -> Strategy:
    """Return the agent that answers by a judge, without experiments of its own."""

    def strategy(sight: Sight, _: Stream, given: Given = None) -> Moves:
        yield from gathered(sight, given)
        yield answer(judge(sight, shown(sight, given)))

    return strategy


def random(sight: Sight, stream: Stream, given: Given = None) -> Moves:
    """Run random experiments in a laboratory, then draw an answer."""
    yield from gathered(sight, given)
    if sight.lab is not None and given is None:
        closure = _closure(sight)
        for _ in range(stream.below(sight.lab.budget + 1)):
            yield sight.experiment(stream.choice(closure.designs))
    yield answer(stream.choice(ANSWERS))


def exact(sight: Sight, _: Stream, given: Given = None) -> Moves:
    """Give the verdict of all systems that fit, with a proof; experiment by the best plan."""
    yield from gathered(sight, given)
    if sight.lab is not None:
        yield from _searched(sight, given)
        return
    rows = sight.rows
    found = listed(sight.space, rows)
    told = decided(found, sight.question, rows)
    if told.answer == "cannot":
        pair = [sight.written(found.system(i)) for i in witnesses(found, sight.question, rows)]
        yield answer("cannot", told.posterior, systems=pair)
    else:
        yield answer(told.answer, told.posterior, trials=range(len(rows)))


def _closure(sight: Sight) -> Closure:
    return closure_for(sight.space, sight.rows, sight.question, sight.lab)


def _searched(sight: Sight, given: Given) -> Moves:
    """Run the best plan until the label is certain."""
    closure, rows = _closure(sight), list(shown(sight, given))
    state = closure.every
    for row in rows[len(sight.rows) :]:
        state = closure.after(state, row)
    while given is None and len(closure.left(state)) > 1:
        design = closure.designs[closure.best(state)]
        rows.append(sight.seen((yield sight.experiment(design))))
        state = closure.after(state, rows[-1])
    likely = max(ANSWERS, key=lambda label: closure.weight(state & closure.of_label.get(label, 0)))
    yield answer(likely, closure.posterior(state, *tally(closure.found, sight.question, rows)))


STRATEGIES: dict[str, Strategy] = {
    **{name: judging(judge) for name, judge in JUDGES.items()},
    "random": random,
    "exact": exact,
}


def oracle(sight: Sight, world: World, given: Given) -> Moves:
    """Answer with the gold answer; for tests and ceilings only."""
    yield from gathered(sight, given)
    yield answer(world.answer)
