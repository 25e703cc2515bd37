"""Bits left open in the laboratory: against enumeration, another count, and other SCMs that fit."""

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest
from tests.twins import replayscm_twin as twin
from tests.twins.lockstep import lockstep

from whybench.causal.graph import members
from whybench.causal.seeds import Stream
from whybench.episode.action import Action
from whybench.families.replayscm import FAMILY
from whybench.families.replayscm.lab import Lab
from whybench.families.replayscm.proof import certify
from whybench.families.replayscm.proof.checker.recount import (
    Recount,
    admissible,
    root_sets,
    rows_of,
)
from whybench.families.replayscm.rules import ReplayEpisode
from whybench.families.replayscm.world.generation.source import told_of
from whybench.families.replayscm.world.gold_scm import ROOTS, Latent, observational
from whybench.families.replayscm.world.world import View, World, names

SUITE = FAMILY.suite("lab")
SMALL = ("(and {0} {1})", "(or {0} (not {1}))", "(xor {0} {1})", "(not {0})")


def opened(latent: Latent, view: View, stream: Stream) -> ReplayEpisode:
    """Open a laboratory on an SCM of one's own."""
    lab = Lab(latent, ("bits", stream.below(10**9)), 24)
    world = World(view, latent.formulas, (), latent.name)
    return ReplayEpisode(SUITE[0], world, 5, lab)


def random_settings(stream: Stream, view: View, length: int) -> list[Action]:
    units = view.train[0].size
    found = []
    for _ in range(length):
        targets = stream.sample(view.names, stream.below(4))
        setting = {name: "".join(str(stream.below(2)) for _ in range(units)) for name in targets}
        found.append(Action.of("experiment", setting=json.dumps(setting)))
    return found


def small_latent(stream: Stream, n: int, k: int) -> Latent:
    order = stream.shuffled(range(n))
    formulas, called = [""] * n, names(n)
    for at in range(ROOTS, n):
        parents = stream.sample(order[:at], 2)
        shape = stream.choice(SMALL if k > 1 else SMALL[-1:])
        formulas[order[at]] = shape.format(*(called[p] for p in parents))
    thresholds = tuple(tuple(stream.uniform() for _ in range(3)) for _ in range(ROOTS))
    return Latent(n, k, tuple(order), tuple(formulas), thresholds)


def enumerated(episode: ReplayEpisode, latent: Latent) -> int:
    """Count the SCMs that replay all that was seen, one by one."""
    n = latent.n
    worlds: list[twin.World] = [
        (
            frozenset(members(table.targets)),
            [tuple(row >> v & 1 for v in range(n)) for row in table.rows()],
        )
        for table in episode.view.train
    ]
    roots = frozenset(latent.order[:ROOTS])
    return twin.count(n, latent.k, worlds, "hidden", roots=roots)


def test_bits_are_those_of_enumeration() -> None:
    stream = Stream("bits", "replayscm", "twin")
    unique = 0
    for _ in range(40):
        latent = small_latent(stream, 4 + stream.below(2), 1 + stream.below(2))
        told = told_of(latent, "hidden", ())
        view = View("induce", "hidden", told, tuple(range(latent.n)), (), (),
                    (observational(latent),), 0)  # fmt: skip
        episode = opened(latent, view, stream)
        for action in (None, *random_settings(stream, view, 4)):
            if action is not None:
                assert not episode.step(action).is_error
            fitting = enumerated(episode, latent)
            assert 2 ** FAMILY.bits_left(episode) == pytest.approx(fitting, rel=1e-9)
            unique += fitting == 1
    assert unique > 15


def test_bits_are_those_of_another_count() -> None:
    stream = Stream("bits", "replayscm", "recount")
    for index in range(0, 100, 7):
        episode = FAMILY.open(SUITE[index])
        assert isinstance(episode, ReplayEpisode)
        for action in random_settings(stream, episode.view, 3):
            episode.step(action)
            view = episode.view
            count = Recount(view.n, view.told.k, admissible(view), rows_of(view.train))
            fitting = sum(count.count(roots) for roots in root_sets(view))
            assert 2 ** FAMILY.bits_left(episode) == pytest.approx(fitting, rel=1e-9)


def others(episode: ReplayEpisode, lab: Lab) -> Iterator[ReplayEpisode]:
    """Open laboratories on other SCMs that fit what an episode shows now."""
    view, names = episode.view, episode.view.names
    pair = certify.witness(replace(episode.world, view=view), certify.evidence_of(view))
    for texts in pair or []:
        formulas = tuple(texts.get(name, "") for name in names)
        latent = replace(lab.latent, formulas=formulas)
        world = replace(episode.world, formulas=formulas)
        yield ReplayEpisode(episode.instance, world, 5, replace(lab, latent=latent))


def test_scms_that_showed_the_same_leave_the_same_open() -> None:
    stream = Stream("bits", "replayscm", "rivals")
    compared = 0
    for index in range(0, 100, 10):
        episode = FAMILY.open(SUITE[index])
        assert isinstance(episode, ReplayEpisode)
        lab = episode.lab
        assert lab is not None
        actions = random_settings(stream, episode.view, 5)
        for action in actions[:3]:
            episode.step(action)
        bad = Action.of("experiment", setting='{"nobody": 1}')
        pair = list(others(episode, lab))
        assert len({rival.world.formulas for rival in pair}) == 2
        compared += lockstep(FAMILY, pair, [actions[0], bad, *actions[1:]])
    assert compared > 30


def test_one_scm_is_left_when_the_exact_agent_has_finished() -> None:
    for index in range(0, 100, 30):
        instance = SUITE[index]
        episode = FAMILY.open(instance)
        assert FAMILY.bits_left(episode) > 0
        for action in FAMILY.experiments(FAMILY.exact_run(instance)):
            assert FAMILY.bits_left(episode) > 0
            episode.step(action)
        assert FAMILY.bits_left(episode) == FAMILY.certify(instance).bits == 0


def test_where_there_are_no_experiments_nothing_is_to_be_gained() -> None:
    for name in ("ord_match", "alt_hid"):
        assert FAMILY.bits_left(FAMILY.open(FAMILY.suite(name)[0])) == 0
