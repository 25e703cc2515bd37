"""Find in logs the answers that fit their training worlds without being the gold SCM."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from inspect_ai.log import EvalLog, read_eval_log

from whybench.causal.canonical import digest
from whybench.episode.instance import Instance
from whybench.families.replayscm.parameters import FAMILY, POOLS, place
from whybench.families.replayscm.world.generation.record_pools import source
from whybench.families.replayscm.world.generation.separate import agrees
from whybench.families.replayscm.world.world import Scm, Table, World, names, ordered, scm_of
from whybench.interfaces.inspectai.record import EPISODE, crashed, located, replayed

Key = tuple[str, str]
"""Cluster and disclosure: a problem of the matched pools, whatever worlds it shows."""


@dataclass(frozen=True, slots=True)
class Tried:
    """One problem that a model tried to solve."""

    model: str
    instance: Instance
    world: World
    formulas: tuple[str, ...] | None
    """The mechanisms of a valid answer; an empty text marks a root."""

    @property
    def key(self) -> Key:
        """The problem."""
        return self.world.cluster, self.world.view.disclosure

    @property
    def other(self) -> Scm | None:
        """The answer, if it fits every training world and differs from gold as a function."""
        if self.formulas is None:
            return None
        scm = scm_of(self.formulas)
        fits = all(agrees(scm, world) for world in self.world.view.train)
        return scm if fits and scm != self.world.gold else None


@dataclass(frozen=True, slots=True)
class Alternative:
    """An SCM that fits, with the models that submitted it."""

    scm: Scm
    formulas: tuple[str, ...]
    models: tuple[str, ...]


def read_logs(paths: Iterable[str]) -> list[EvalLog]:
    """Read logs of the family."""
    logs = [read_eval_log(path) for path in paths]
    if not any(log.samples for log in logs):
        raise ValueError("These logs have no samples. Give logs of `inspect eval whybench/…`.")
    return logs


def tried(logs: Iterable[EvalLog]) -> Iterator[Tried]:
    """Play the stored episodes again, and yield every attempt to find mechanisms."""
    for log in logs:
        for sample in log.samples or ():
            family, instance = located(sample.metadata)
            pool = POOLS.get(instance.suite) if family.name == FAMILY else None
            if pool is None or pool.task != "induce" or pool.worlds == "lab":
                continue
            world = family.world(instance)
            stored = sample.store.get(EPISODE)
            formulas = None
            if stored is not None and not crashed(stored):
                formulas = _submitted(world, replayed(family, instance, stored))
            yield Tried(log.eval.model, instance, world, formulas)


def _submitted(world: World, episode: object) -> tuple[str, ...] | None:
    judged = getattr(episode, "judged", None)
    if judged is None or judged.failed is not None or judged.candidate is None:
        return None
    if judged.candidate.roots != world.gold.roots:
        return None  # with hidden roots, an answer with other roots is no SCM over the same rows
    given = judged.answer["mechanisms"]
    return tuple(str(given.get(name, "")) for name in names(world.view.n))


def alternatives(
    found: Iterable[Tried], without: Sequence[str] = ()
) -> dict[Key, list[Alternative]]:
    """Return the alternatives of each problem, those of most models first.

    Answers with the same functions are one alternative. Answers of the models in `without` are left
    out. The shortest formulas stand for all.
    """
    seen: dict[Key, dict[Scm, list[Tried]]] = {}
    for one in found:
        if one.model not in without and (scm := one.other) is not None:
            seen.setdefault(one.key, {}).setdefault(scm, []).append(one)
    return {
        key: sorted(
            (_joined(scm, listed) for scm, listed in by_scm.items()),
            key=lambda one: (-len(one.models), sum(map(len, one.formulas)), one.formulas),
        )
        for key, by_scm in seen.items()
    }


def _joined(scm: Scm, listed: Sequence[Tried]) -> Alternative:
    texts = [one.formulas for one in listed if one.formulas is not None]
    shortest = min(texts, key=lambda one: (sum(map(len, one)), one))
    return Alternative(scm, shortest, tuple(sorted({one.model for one in listed})))


def still_fits(found: Iterable[Alternative], worlds: Sequence[Table]) -> list[Alternative]:
    """Return the alternatives that contradict no row of some worlds."""
    return [one for one in found if all(agrees(one.scm, world) for world in worlds)]


def gold_order(instance: Instance, world: World) -> tuple[int, ...]:
    """Return an order of the gold SCM, roots first: the one that names its cluster, if known."""
    if world.view.order:
        return world.view.order
    gold = world.gold
    if instance.parameters.get("data") is None:
        known = source(*place(instance), "base").latent
        if digest([known.order, known.formulas]).hex()[:12] == world.cluster:
            return known.order
    own = ordered(gold.parents, gold.own) or ()
    return (*(v for v in range(gold.n) if v not in own), *own)
