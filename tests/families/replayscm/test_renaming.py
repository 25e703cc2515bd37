"""Systems and problems up to renaming, against trying every permutation; and what was discarded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, permutations

import pytest

from whybench.causal.canonical import canonical_json
from whybench.causal.seeds import Stream
from whybench.families.replayscm.family import ReplaySCM
from whybench.families.replayscm.world import renaming
from whybench.families.replayscm.world.generation import generate
from whybench.families.replayscm.world.generation.generate import sample_problem
from whybench.families.replayscm.world.generation.make import made
from whybench.families.replayscm.world.generation.rewindable_rng import Tape
from whybench.families.replayscm.world.gold_scm import sample_latent
from whybench.families.replayscm.world.world import Scm, Table, World

FAMILY = ReplaySCM()


def renamed_set(variables: int, to: Sequence[int]) -> int:
    return sum(1 << to[v] for v in range(len(to)) if variables >> v & 1)


def renamed(scm: Scm, to: Sequence[int]) -> Scm:
    tables = [0] * scm.n
    for v, truth in enumerate(scm.tables):
        rows = (row for row in range(1 << scm.n) if truth >> row & 1)
        tables[to[v]] = sum(1 << renamed_set(row, to) for row in rows)
    return Scm(scm.n, renamed_set(scm.roots, to), tuple(tables))


def random_scm(stream: Stream, n: int) -> Scm:
    """Few functions of few parents, so that many SCMs are the same up to renaming."""
    order = stream.shuffled(range(n))
    tables = [0] * n
    for at in range(2, n):
        a, b = stream.sample(order[:at], 2)
        pattern = stream.choice((0b1000, 0b0110, 0b0010))
        rows = (
            row for row in range(1 << n) if pattern >> ((row >> a & 1) + 2 * (row >> b & 1)) & 1
        )
        tables[order[at]] = sum(1 << row for row in rows)
    return Scm(n, sum(1 << v for v in order[:2]), tuple(tables))


@pytest.mark.parametrize("n", [3, 4])
def test_systems_are_equal_exactly_if_a_permutation_makes_them_so(n: int) -> None:
    stream = Stream("tests", "renaming", n)
    scms = [random_scm(stream, n) for _ in range(28)]
    same = 0
    for one, other in combinations(scms, 2):
        expected = any(renamed(one, to) == other for to in permutations(range(n)))
        assert (renaming.system(one) == renaming.system(other)) == expected
        same += expected
    assert 0 < same < len(scms) * (len(scms) - 1) // 2


def renamed_world(world: World, to: Sequence[int]) -> World:
    """The same world with other names; mechanisms are carried over as functions."""
    back = sorted(range(len(to)), key=lambda v: to[v])

    def tables(several: Sequence[Table]) -> tuple[Table, ...]:
        return tuple(
            replace(
                table,
                targets=renamed_set(table.targets, to),
                columns=tuple(table.columns[v] for v in back),
            )
            for table in several
        )

    def texts(formulas: Sequence[str]) -> tuple[str, ...]:
        swapped = []
        for v in back if formulas else ():
            words = formulas[v].replace("(", " ( ").replace(")", " ) ").split()
            swapped.append(
                " ".join(f"X{to[int(w[1:]) - 1] + 1}" if w[0] == "X" else w for w in words)
            )
        return tuple(swapped)

    view = world.view
    told = replace(
        view.told, admissible=tuple(renamed_set(view.told.admissible[v], to) for v in back)
    )
    if told.roots is not None:
        told = replace(told, roots=renamed_set(told.roots, to))
    view = replace(
        view,
        told=told,
        display=tuple(to[v] for v in view.display),
        order=tuple(to[v] for v in view.order),
        blocks=tuple(tuple(to[v] for v in block) for block in view.blocks),
        train=tables(view.train),
        reference=texts(view.reference),
    )
    return replace(
        world,
        view=view,
        formulas=texts(world.formulas),
        heldout=tables(world.heldout),
        cluster="another name",
    )


@pytest.mark.parametrize("suite", ["ord_full", "block", "hid_cert", "hid_roots", "alt_hid", "lab"])
def test_problems_are_the_same_under_other_names_and_differ_in_one_cell(suite: str) -> None:
    problems = set()
    for index in range(3):
        world = FAMILY.world(FAMILY.suite(suite)[index])
        to = Stream("tests", suite, index).shuffled(range(world.view.n))
        other = renamed_world(world, to)
        assert FAMILY.system(other) == FAMILY.system(world)
        assert FAMILY.problem(other) == FAMILY.problem(world)
        last = world.heldout[-1]
        wrong = replace(last, columns=(last.columns[0] ^ 1, *last.columns[1:]))
        changed = replace(world, heldout=(*world.heldout[:-1], wrong))
        assert FAMILY.problem(changed) != FAMILY.problem(world)
        fewer = replace(world, view=replace(world.view, train=world.view.train[1:]))
        assert FAMILY.problem(fewer) != FAMILY.problem(world)
        problems.add(canonical_json(FAMILY.problem(world)))
    assert len(problems) == 3


def test_suites_of_the_same_scms_share_systems_and_not_problems() -> None:
    worlds = [FAMILY.world(FAMILY.suite(suite)[4]) for suite in ("ord_match", "hid_match", "block")]
    assert len({canonical_json(FAMILY.system(world)) for world in worlds}) == 1
    assert len({canonical_json(FAMILY.problem(world)) for world in worlds}) == 3


def test_how_many_experiments_may_be_made_belongs_to_the_problem_and_so_does_their_luck() -> None:
    worlds = [
        FAMILY.world(FAMILY.suite("lab", parameters={"budget": budget})[0]) for budget in (5, 6, 6)
    ]
    worlds.append(replace(worlds[0], experiments=(5, worlds[0].experiments[1] + 1)))
    problems = [canonical_json(FAMILY.problem(world)) for world in worlds]
    assert problems[1] == problems[2]
    assert len(set(problems)) == 3
    assert len({canonical_json(FAMILY.system(world)) for world in worlds}) == 1


# What was discarded


def test_an_scm_without_worlds_is_counted_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generate, "ATTEMPTS", 1)
    given_up = 0
    for index in range(12):
        kept = sample_problem("tests", "given up", index)
        why = kept.discarded.asdict()
        assert why.get("no worlds", 0) == sum(
            why.get(name, 0) for name in ("training worlds", "held-out worlds")
        )
        attempt = why.get("no worlds", 0) + why.get("too little signal", 0)
        assert sample_latent(Tape("tests", "given up", index, "attempt", attempt)) == kept.latent
        given_up += why.get("no worlds", 0)
    assert given_up


@pytest.mark.slow
def test_matched_sources_say_how_many_scms_were_not_taken() -> None:
    retried = 0
    for index in range(8):
        source = made("match", "tests", index, "base")
        why = source.discarded.asdict()
        assert all(count > 0 for count in why.values())
        attempt = sum(
            why.get(name, 0) for name in ("nothing to ask", "not identified", "bits not met")
        )
        kept = sample_problem("replayscm", "match", "tests", index, attempt)
        assert kept.latent == source.latent
        retried += attempt
    assert retried


def test_discarded_is_the_same_for_shipped_records_and_in_every_suite_of_a_source() -> None:
    found = []
    for suite in ("ord_full", "hid_match", "ord_cert"):
        instance = FAMILY.suite(suite)[0]
        found.append(FAMILY.discarded(instance))
    assert found[0] == found[1] == found[2] == made("match", "public", 0, "base").discarded
    many = FAMILY.suite("ord_full", seed="s1")
    assert any(FAMILY.discarded(many[index]) for index in range(100, 110))
    assert any(FAMILY.discarded(FAMILY.suite("lab", seed="s1")[i]).get("size") for i in range(4))
