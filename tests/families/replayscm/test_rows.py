"""Questions about one cell of a further row, whose answer may be `cannot`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, product

import pytest
from tests.twins.spoiled import unnoticed

from whybench.causal.seeds import Stream
from whybench.episode.action import Action
from whybench.episode.episode import play
from whybench.families.replayscm import FAMILY
from whybench.families.replayscm.agents.battery import BATTERY
from whybench.families.replayscm.proof.cells import answer
from whybench.families.replayscm.proof.checker.check import flaws
from whybench.families.replayscm.proof.checker.recount import Recount, rows_of
from whybench.families.replayscm.proof.evidence import Evidence
from whybench.families.replayscm.world.world import ANSWERS, Asked, Rows, Table, Told

SUITE = FAMILY.suite("rows")
Function = tuple[tuple[int, ...], tuple[int, ...]]
"""Parents, and the value for each pattern of them."""


# A brute force: all SCMs of the class are listed, and each is run.


def functions(n: int, k: int, v: int) -> Iterator[Function]:
    others = [u for u in range(n) if u != v]
    for size in range(k + 1):
        for parents in combinations(others, size):
            for table in product((0, 1), repeat=1 << size):
                yield parents, table


def value(function: Function, row: Sequence[int]) -> int:
    parents, table = function
    return table[sum(row[u] << i for i, u in enumerate(parents))]


def run(
    scm: dict[int, Function], n: int, targets: int, known: dict[int, int]
) -> tuple[int, ...] | None:
    """The row that an SCM gives; None if its mechanisms form a cycle."""
    placed, row = {v for v in range(n) if v not in scm}, [known.get(v, 0) for v in range(n)]
    while len(placed) < n:
        ready = [v for v in scm if v not in placed and placed.issuperset(scm[v][0])]
        if not ready:
            return None
        for v in ready:
            if not targets >> v & 1:
                row[v] = value(scm[v], row)
        placed.update(ready)
    return tuple(row)


def listed(n: int, k: int, roots: int, tables: list[Table], asked: Asked) -> set[int]:
    """The values of the asked cell in all SCMs that fit."""
    seen = [
        (table.targets, tuple(row >> v & 1 for v in range(n)))
        for table in tables
        for row in table.rows()
    ]
    own = [v for v in range(n) if not roots >> v & 1]
    fitting = [
        [
            function
            for function in functions(n, k, v)
            if all(value(function, row) == row[v] for targets, row in seen if not targets >> v & 1)
        ]
        for v in own
    ]
    found = set()
    known = {v: asked.row >> v & 1 for v in range(n) if (roots | asked.targets) >> v & 1}
    for chosen in product(*fitting):
        row = run(dict(zip(own, chosen, strict=True)), n, asked.targets, known)
        if row is not None:
            found.add(row[asked.variable])
    return found


def drawn(stream: Stream, n: int, k: int) -> tuple[list[Table], Asked, int]:
    """Worlds of a random SCM with two roots, and a question about another row."""
    roots, order = 0b11, stream.shuffled(range(2, n))
    scm: dict[int, Function] = {}
    for at, v in enumerate(order):
        parents = tuple(sorted(stream.sample([0, 1, *order[:at]], k)))
        scm[v] = parents, tuple(stream.below(2) for _ in range(1 << k))

    def row(targets: int) -> int:
        known = {v: stream.below(2) for v in range(n) if (roots | targets) >> v & 1}
        made = run(scm, n, targets, known)
        assert made is not None
        return sum(bit << v for v, bit in enumerate(made))

    tables = []
    for _ in range(2):
        targets = 1 << stream.choice(range(2, n)) if tables else 0
        rows = [row(targets) for _ in range(5)]
        tables.append(Table.of(n, targets, "hard_assigned" if targets else "none", rows))
    target, asked = stream.sample(range(2, n), 2)
    known = roots | 1 << target
    return tables, Asked(1 << target, row(1 << target) & known, asked), roots


def check(count: int) -> Counter[str]:
    """Compare generator, checker and brute force on small systems."""
    said: Counter[str] = Counter()
    for number in range(count):
        stream = Stream("rows by brute force", number)
        n, k = 4 + number % 2, 2
        tables, asked, roots = drawn(stream, n, k)
        every = (1 << n) - 1
        allowed = tuple(0 if roots >> v & 1 else every & ~(1 << v) for v in range(n))
        values = listed(n, k, roots, tables, asked)
        gold = "cannot" if len(values) == 2 else "yes" if 1 in values else "no"
        told = Told(n, k, 2, roots, allowed)
        assert answer(Evidence(told, Rows.of(n, tables)), asked) == gold
        assert Recount(n, k, allowed, rows_of(tables)).cell(roots, asked) == values
        said[gold] += 1
    return said


def test_answers_agree_with_a_list_of_all_systems() -> None:
    assert {*check(20)} == {*ANSWERS}


@pytest.mark.slow
def test_many_answers_agree_with_a_list_of_all_systems() -> None:
    said = check(1_000)
    assert min(said[one] for one in ANSWERS) > 50


# The suite.


def test_three_questions_differ_in_the_row_alone() -> None:
    for first in range(0, 9, 3):
        worlds = [FAMILY.world(SUITE[first + i]) for i in range(3)]
        asked = [world.view.asked for world in worlds]
        assert len({replace(world.view, asked=None) for world in worlds}) == 1
        assert len({(one.targets, one.variable) for one in asked if one}) == 1
        assert {FAMILY.truth(SUITE[first + i])["answer"] for i in range(3)} == {*ANSWERS}
        assert len({world.cluster for world in worlds}) == 1


@pytest.mark.slow
def test_the_place_of_a_question_tells_nothing() -> None:
    places = Counter((i % 3, FAMILY.truth(SUITE[i])["answer"]) for i in range(60))
    assert len(places) == 9


@pytest.mark.parametrize("first", [0, 3, 6])
def test_the_best_rules_of_two_inputs_are_right_once_in_three_questions(first: int) -> None:
    player = next(one for one in BATTERY if one.name == "pair").fit(SUITE)
    right = 0.0
    for instance in (SUITE[first + place] for place in range(3)):
        trace = play(FAMILY.open(instance), player(instance))
        right += FAMILY.score(instance, trace).values["solved"]
    assert right == 1


def test_no_shown_row_is_the_further_row() -> None:
    for number in range(9):
        view = FAMILY.world(SUITE[number]).view
        asked = view.asked
        assert asked is not None
        known = asked.targets | (view.told.roots or 0)
        for table in view.train:
            if not table.targets >> asked.variable & 1 and not table.targets & ~known:
                assert all((row ^ asked.row) & known for row in table.rows())


@pytest.mark.slow
def test_the_checker_notices_a_spoiled_certificate() -> None:
    said = set()
    for number in range(3):
        instance = SUITE[number]
        certificate = FAMILY.certify(instance)
        world = FAMILY.world(instance)
        assert flaws(instance, world, certificate) == []
        found = unnoticed(certificate, lambda one: flaws(instance, world, one))  # noqa: B023
        assert found == []
        said.add(certificate.facts["answer"])
        assert (certificate.witness is not None) == (certificate.facts["answer"] == "cannot")
        if certificate.witness is not None:
            same = replace(certificate, witness=(certificate.witness[0],) * 2)
            assert any("same value" in flaw for flaw in flaws(instance, world, same))
    assert said == {*ANSWERS}


def test_claims_and_labels() -> None:
    found = set()
    for number in range(3):
        instance = SUITE[number]
        gold = FAMILY.truth(instance)["answer"]
        for said in ANSWERS:
            episode = FAMILY.open(instance)
            assert not episode.step(Action.of("submit", answer=f'{{"answer": "{said}"}}')).is_error
            score = FAMILY.score(instance, episode.trace)
            wrong = [n for n in ("over_claim", "under_claim", "wrong_claim") if score.values[n]]
            assert score.values["solved"] == (said == gold) == (not wrong)
            assert score.values["understood"] is None
            assert score.labels["proof"] is None
            assert FAMILY.understood(score.values) is None
            assert FAMILY.annotate(instance, episode.trace).verdict.startswith(
                "Right" if said == gold else "Wrong"
            )
            found.add((gold, said, *wrong))
    assert ("cannot", "yes", "over_claim") in found
    assert ("no", "cannot", "under_claim") in found
    assert ("yes", "no", "wrong_claim") in found


@pytest.mark.parametrize("text", ['{"answer": "maybe"}', '{"answer": 1}', "{}", "yes"])
def test_other_answers_are_refused(text: str) -> None:
    instance = SUITE[0]
    episode = FAMILY.open(instance)
    assert episode.step(Action.of("submit", answer=text)).is_error
    values = FAMILY.score(instance, episode.trace).values
    assert values["solved"] == 0
    assert not any(values[n] for n in ("over_claim", "under_claim", "wrong_claim"))


def test_mechanisms_are_asked_for_elsewhere() -> None:
    instance = FAMILY.suite("hid_match")[0]
    episode = FAMILY.open(instance)
    assert episode.step(Action.of("submit", answer='{"answer": "cannot"}')).is_error
    assert FAMILY.score(instance, episode.trace).values["over_claim"] is None


def test_the_published_profile_has_no_such_suite() -> None:
    with pytest.raises(ValueError, match="no profile"):
        FAMILY.suite("rows", profile="published")
