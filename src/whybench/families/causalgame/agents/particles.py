"""The exact agent of drawn systems: Bayes' rule over the class that the instructions state.

A hypothesis says which part has which role, the sign of the moody part, and which option is right.
Strengths are drawn from the stated ranges, so that the best design lies as far above the bar as
stated. The probability of a hypothesis is the mean likelihood of its strengths. Hypotheses that
flights have made improbable are dropped, and those that are left get more strengths.

It asks first for the mediator of the moody part: records then show whether that part was active,
which it is more often the more DEF it has. A deployment flies the corner whose flights tell most
about the hypotheses, by the mutual information of one flight. The corner that wins with the highest
probability is submitted. Earlier records are not used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import permutations, product

import numpy as np

from whybench.causal.seeds import Stream
from whybench.families.causalgame.agents.agent_state import Acting, AgentState, Row, Trial
from whybench.families.causalgame.agents.design_space import Floats, Ints
from whybench.families.causalgame.view import View
from whybench.families.causalgame.world.design import Design
from whybench.families.causalgame.world.drawn.draw import Story, numbers, stories
from whybench.families.causalgame.world.drawn.hazards import Role
from whybench.families.causalgame.world.physics.flight import STATUS

QUESTION = "Was there a radio signal, or a command link in use?"
"""Finds the mediator of every story."""
PARTICLES = 30_000
MEDIATORS = ("emission", "link")
"""What the mediator is called on records."""
FEWEST, MOST = 8, 1024
"""Bounds of the number of strengths for each hypothesis."""
NEGLECTED = 1e-4
"""Probability of all hypotheses together that are dropped after a deployment."""
COMPARED = 300
"""Number of hypotheses, the most probable ones, that are used to choose a design."""
LIVE: tuple[Role, ...] = ("protects", "harms", "moody")


@dataclass(frozen=True, slots=True, eq=False)
class Hypotheses:
    """Each array has one entry for each hypothesis."""

    places: Ints
    """The place of each live part: protecting ones, harmful ones, the moody one."""
    signs: Ints
    """1 if the moody part harms in the rough stratum, else −1."""
    options: Ints
    """The place of the right option."""

    def rows(self, rows: Ints) -> Hypotheses:
        """Return some of the hypotheses."""
        return Hypotheses(self.places[rows], self.signs[rows], self.options[rows])


@dataclass(frozen=True, slots=True, eq=False)
class Strengths:
    """Draws of all numbers, or their means for each hypothesis; the last axis is the stratum."""

    parts: Floats
    """Draw × live part × stratum: hazard if the part is wrong."""
    options: Floats
    """Draw × wrong option × stratum."""
    survives: Floats
    """Draw × stratum."""
    rough: Floats
    """Draw × stage: share of flights in the rough stratum."""


@cache
def _hypotheses(law: str) -> Hypotheses:
    story = stories()[law]
    roles = [role for role, count in story.roles.items() for _ in range(count)]
    found = [
        ([place for role in LIVE for place, own in enumerate(pattern) if own == role], sign, option)
        for pattern in sorted(set(permutations(roles)))
        for sign in (-1, 1)
        for option in range(story.choices)
    ]
    places, signs, options = zip(*found, strict=True)
    return Hypotheses(np.array(places), np.array(signs), np.array(options))


def _strengths(view: View, story: Story, rng: Stream, count: int) -> Strengths:
    """Draw strengths from the stated ranges, given the bar."""
    known, parts = numbers(), sum(story.roles[role] for role in LIVE)

    def between(bounds: tuple[float, float], *shape: int) -> Floats:
        low, high = bounds
        drawn: Floats = low + (high - low) * rng.uniforms(int(np.prod(shape))).reshape(shape)
        return drawn

    found: list[Strengths] = []
    while sum(len(one.rough) for one in found) < count:
        n = 16 * count
        rough = np.column_stack((between(known.steady, n, parts - 1), between(known.moody, n)))
        calm = np.column_stack(
            (between(known.steady_calm, n, parts - 1), np.abs(between(story.moody_calm, n)))
        )
        wrong = between(known.option, n, 1) * between(known.option_spread, n, story.choices - 1)
        survives = np.column_stack(
            (between(known.survives.rough, n), between(known.survives.calm, n))
        )
        if view.storms is None:
            shares = np.repeat(between(story.rough, n, 1), 2, axis=1)
        else:
            shares = np.tile(view.storms, (n, 1))
        drawn = Strengths(
            np.stack((rough, rough * calm), axis=-1),
            np.stack((wrong, wrong * known.option_calm), axis=-1),
            survives,
            shares,
        )
        above = _best(story, drawn) - view.threshold - (view.margin or 0.0)
        kept = np.flatnonzero((above > -1e-9) & (above < 0.01 + 1e-9) | (view.margin is None))
        found.append(
            Strengths(
                drawn.parts[kept], drawn.options[kept], drawn.survives[kept], drawn.rough[kept]
            )
        )
    return Strengths(
        np.concatenate([one.parts for one in found])[:count],
        np.concatenate([one.options for one in found])[:count],
        np.concatenate([one.survives for one in found])[:count],
        np.concatenate([one.rough for one in found])[:count],
    )


def _best(story: Story, drawn: Strengths) -> Floats:
    """Return the fleet's survival with the best design: at most the moody part is wrong."""
    fleet = np.stack((drawn.rough[:, 1], 1 - drawn.rough[:, 1]), axis=-1) * drawn.survives
    wrong = drawn.parts[:, -1] if _opposite(story) else np.zeros_like(fleet)
    found: Floats = (fleet.sum(axis=-1, keepdims=True) - fleet * wrong).max(axis=-1)
    return found


def _opposite(story: Story) -> bool:
    """Tell whether the moody part has opposite signs in the two strata."""
    return story.moody_calm[0] < 0


def _wrong(story: Story, guess: Hypotheses, shares: Floats, options: Ints) -> tuple[Floats, Floats]:
    """Return how wrong designs are: live part × stratum × hypothesis × design, and for options."""
    x = shares[:, guess.places].transpose(2, 1, 0)
    protecting = story.roles["protects"]
    x = np.concatenate((1 - x[:protecting], x[protecting:]))
    wrong = np.stack((x, x), axis=1)
    harms = guess.signs[:, None] > 0
    wrong[-1, 0] = np.where(harms, x[-1], 1 - x[-1])
    wrong[-1, 1] = np.where(harms != _opposite(story), x[-1], 1 - x[-1])
    others = _others(story.choices)[guess.options].T
    return wrong, (others[..., None] == options).astype(np.float64)


@cache
def _others(choices: int) -> Ints:
    """Return the wrong options, for each right one."""
    every = np.arange(choices)
    return np.array([np.delete(every, right) for right in every])


def _cells(view: View, story: Story, chance: Floats, rough: Floats) -> list[Floats]:
    """Return the probability of each kind of result of one flight; the first axis is the stratum.

    If records show the stratum: returned from each, lost on record in each, lost without record.
    Otherwise: returned, lost.
    """
    back = np.stack((rough * chance[0], (1 - rough) * chance[1]))
    lost = np.stack((rough * (1 - chance[0]), (1 - rough) * (1 - chance[1])))
    if not story.shown:
        return [back.sum(axis=0), lost.sum(axis=0)]
    seen = [
        (1 - story.misread) * kind[right] + story.misread * kind[1 - right]
        for kind in (back, view.keep_failed * lost)
        for right in (0, 1)
    ]
    return [*seen, (1 - view.keep_failed) * lost.sum(axis=0)]


def _likelihood(
    view: View, story: Story, known: Hypotheses, drawn: Strengths, trial: Trial
) -> Floats:
    """Return the log-likelihood of a deployment: hypothesis × draw.

    Hypotheses under which the design is wrong in the same way are computed once.
    """
    shares, chosen = _encoded(view, [trial.design])
    level = np.unique(shares[0], return_inverse=True)[1]
    right = known.options
    key = 2 * np.where(right == chosen, len(level), chosen - (right < chosen)) + (known.signs > 0)
    for place in known.places.T:
        key = len(level) * key + level[place]
    _, first, back = np.unique(key, return_index=True, return_inverse=True)
    wrong, other = _wrong(story, known.rows(first), shares, chosen)
    chance = np.repeat(drawn.survives.T[..., None], len(first), axis=2)
    for hazard, own in zip(drawn.parts.transpose(1, 2, 0), wrong[..., 0], strict=True):
        chance *= 1 - hazard[..., None] * own[:, None]
    for hazard, own in zip(drawn.options.transpose(1, 2, 0), other[..., 0], strict=True):
        if own.any():
            chance *= 1 - hazard[..., None] * own
    cells = _cells(view, story, chance, drawn.rough[:, :1])
    log = np.zeros(chance.shape[1:])
    for count, cell in zip(_counts(story, trial), cells, strict=True):
        if count:
            log += count * np.log(np.maximum(cell, 1e-300))
    told = _mediated(shares[0, known.places[:, -1]], trial)
    found: Floats = log.T[back] + told[:, None]
    return found


def _counts(story: Story, trial: Trial) -> Ints:
    """Return how often each kind of result occurred in a deployment."""
    survived, back = trial.survived, [r for r in trial.records if r["status"] == STATUS[1]]
    if survived is None:  # a sample of survivors tells next to nothing
        return np.zeros(5 if story.shown else 2, dtype=np.int64)
    if not story.shown:
        return np.array([survived, trial.count - survived])
    lost = [row for row in trial.records if row["status"] != STATUS[1]]

    def by(rows: Sequence[Row]) -> list[int]:
        return [sum(row[story.column] == name for row in rows) for name in story.strata]

    return np.array([*by(back), *by(lost), trial.count - survived - len(lost)])


def _mediated(shares: Floats, trial: Trial) -> Floats:
    """Return the log-likelihood of what records say of the mediator, by the moody part's DEF.

    At a corner, DEF decides the mediator. Elsewhere it also depends on who returned, and the column
    is left out.
    """
    if ((shares > 0) & (shares < 1)).any():
        return np.zeros(len(shares))
    names = {*MEDIATORS}.intersection(*trial.records) if trial.records else set()
    found = np.zeros(len(shares))
    for name in names:
        active = sum(bool(row[name]) for row in trial.records)
        for count, chance in ((active, shares), (len(trial.records) - active, 1 - shares)):
            found += count * np.log(np.maximum(chance, 1e-300))
    return found


@lru_cache(maxsize=8)
def _corners(view: View) -> tuple[Floats, Ints]:
    """Return all corners that fit the budget: shares of the maximal DEF, and the option."""
    most = view.total_def_budget // view.def_range[1]
    full = [x for x in product((0.0, 1.0), repeat=len(view.components)) if sum(x) <= most]
    options = len(view.slots[0][2])
    return np.repeat(np.array(full), options, axis=0), np.tile(np.arange(options), len(full))


def _encoded(view: View, designs: Sequence[Design]) -> tuple[Floats, Ints]:
    slot, default, options = view.slots[0]
    shares = np.array([design.defs for design in designs]) / view.def_range[1]
    chosen = [str(dict(design.equipment).get(slot, default)) for design in designs]
    return shares, np.array([options.index(option) for option in chosen])


class Belief:
    """What deployments say about the hypotheses."""

    def __init__(self, view: View, *draw: int, trials: Sequence[Trial] = ()) -> None:
        self.view, self.story, self._draw = view, stories()[view.law], draw
        self.known = _hypotheses(view.law)
        self.chance: Floats = np.full(len(self.known.signs), 1 / len(self.known.signs))
        self._trials: list[Trial] = list(trials)
        self._learn()

    def see(self, *trials: Trial) -> None:
        """Take deployments into account; without any, give likely hypotheses more strengths."""
        order = np.argsort(-self.chance, kind="stable")
        left = np.cumsum(self.chance[order]) - self.chance[order] < 1 - NEGLECTED
        self.known = self.known.rows(order[left])
        self._trials += trials
        self._learn()

    def _learn(self) -> None:
        """Draw strengths, and compute the probability of each hypothesis and its mean strengths."""
        view, story, known = self.view, self.story, self.known
        count = min(MOST, max(FEWEST, PARTICLES // len(known.signs)))
        rng = Stream("causalgame", "particles", *self._draw, len(self._trials), *view.components)
        drawn = _strengths(view, story, rng, count)
        log = np.zeros((len(known.signs), count))
        for trial in self._trials:
            log += _likelihood(view, story, known, drawn, trial)
        weight = np.exp(log - log.max())
        total = weight.sum(axis=1)
        self.chance = total / total.sum()
        top = np.argsort(-self.chance, kind="stable")[:COMPARED]
        share = weight[top] / np.maximum(total[top, None], 1e-300)
        self._top, self._weight = known.rows(top), self.chance[top] / self.chance[top].sum()
        self._mean = Strengths(
            np.tensordot(share, drawn.parts, 1),
            np.tensordot(share, drawn.options, 1),
            share @ drawn.survives,
            share @ drawn.rough,
        )

    def _chances(self, designs: tuple[Floats, Ints]) -> Floats:
        """Return the probability of returning: stratum × hypothesis × design."""
        wrong, other = _wrong(self.story, self._top, *designs)
        mean = self._mean
        found: Floats = np.repeat(mean.survives.T[..., None], len(designs[1]), axis=2)
        for hazard, own in zip(mean.parts.transpose(1, 2, 0), wrong, strict=True):
            found *= 1 - hazard[..., None] * own
        for hazard, own in zip(mean.options.transpose(1, 2, 0), other, strict=True):
            found *= 1 - hazard[..., None] * own
        return found

    def most_informative(self) -> Design:
        """Return the corner whose flights tell most about the hypotheses."""
        chances = self._chances(_corners(self.view))
        cells = _cells(self.view, self.story, chances, self._mean.rough[:, :1])
        told = np.zeros(chances.shape[2])
        for cell in cells:
            told += _entropy(self._weight @ cell) - self._weight @ _entropy(cell)
        return self._design(int(np.round(told, 9).argmax()))

    def best(self) -> Design:
        """Return the corner that wins with the highest probability, then the safest one."""
        survival = self._survival(_corners(self.view))
        wins = self._weight @ (survival >= self.view.threshold)
        return self._design(int((np.round(wins, 9) + 1e-6 * (self._weight @ survival)).argmax()))

    def wins(self, design: Design) -> float:
        """Return the probability that a design reaches the bar."""
        survival = self._survival(_encoded(self.view, [design]))
        return float(self._weight @ (survival[:, 0] >= self.view.threshold))

    def _survival(self, designs: tuple[Floats, Ints]) -> Floats:
        """Return the survival of the fleet: hypothesis × design."""
        chances, rough = self._chances(designs), self._mean.rough[:, 1:]
        found: Floats = rough * chances[0] + (1 - rough) * chances[1]
        return found

    def _design(self, place: int) -> Design:
        shares, options = _corners(self.view)
        slot, _, names = self.view.slots[0]
        defs = tuple(int(share * self.view.def_range[1]) for share in shares[place])
        return Design(defs, ((slot, names[options[place]]),))


def _entropy(chance: Floats) -> Floats:
    """Return the part of an outcome in the entropy."""
    found: Floats = -chance * np.log(np.maximum(chance, 1e-300))
    return found


def experiments(view: View) -> int:
    """Return how many questions and deployments it makes, which do not depend on what it sees."""
    return min(view.deploys, view.drones) + (view.queries > 0)


def choice(view: View, trials: Sequence[Trial], *draw: int) -> Design:
    """Return the design that most probably wins; another `draw` draws other strengths."""
    belief = Belief(view, *draw)
    for trial in trials:
        belief.see(trial)
    return belief.best()


def exact(state: AgentState, rng: Stream) -> Acting[Design]:  # noqa: ARG001 - agents have one
    """Deploy within the budgets and return the design to submit; given evidence, only choose."""
    view = state.view
    if state.given is not None:
        return choice(view, state.trials)
    if view.queries:
        yield from state.ask(QUESTION)
    belief = Belief(view)
    while state.deploys and state.drones:
        count = min(view.most_per_deploy, -(-state.drones // state.deploys))
        trial = yield from state.deploy(belief.most_informative(), count)
        if trial is None:
            break
        belief.see(trial)
    return belief.best()
