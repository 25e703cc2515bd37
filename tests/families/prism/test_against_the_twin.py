"""Version spaces against brute force: count, verdict and posterior are equal everywhere."""

from fractions import Fraction

import pytest
from tests.twins.prism_twin import twin

from whybench.causal.seeds import Stream
from whybench.causal.version_space import CLASSES, Space, VersionSpace, count, outcome
from whybench.families.prism.world.questions import drawn, verdict
from whybench.families.prism.world.triples import drawn_system, found_triple, roots_of
from whybench.families.prism.world.world import ANSWERS, KINDS, Trial

MOST = 1500


def compared(space: Space, kind: str, number: int) -> int:
    """Compare one random problem; return 0 if the class has no question of the kind."""
    stream = Stream("twin", space.n, space.cls, space.hidden, kind, number)
    system, rows = drawn_system(stream, space), []
    designs = stream.shuffled(space.tables.designs)
    found = VersionSpace.of(space, rows, MOST)
    while found is None or stream.below(4):
        if len(rows) == 10:
            break
        rows.append(outcome(space, system, designs.pop(), stream.below(1 + space.hidden)))
        found = VersionSpace.of(space, rows, MOST)
    question = found and drawn(stream, kind, found, rows)
    if not question:
        return 0
    trials = [(t.inputs, t.held, t.values) for t in (Trial.of(space, row) for row in rows)]
    expected = twin(space.n, space.roots, space.cls, space.hidden).verdict(trials, question)
    told = verdict(found, question, rows)
    assert (len(found), told and told.answer, told and told.posterior) == expected
    assert space.hidden or count(space, rows) == len(found)
    return 1


SMALL = [Space(4, 2, cls, hidden) for cls in CLASSES for hidden in (0, 1)]
LARGE = [Space(5, 2, "mono", 0), Space(5, 2, "any", 0), Space(5, 2, "mono3", 0)]
LARGE += [Space(5, 2, "mono", 1)]


@pytest.mark.parametrize("space", SMALL[:4], ids=str)
def test_four_variables(space) -> None:
    assert sum(compared(space, kind, i) for kind in KINDS for i in range(4)) > 10


@pytest.mark.slow
@pytest.mark.parametrize("space", SMALL + LARGE, ids=str)
def test_every_kind_and_class(space) -> None:
    """Ten classes, seven kinds, 34 problems each: more than 2,000 problems."""
    assert sum(compared(space, kind, i) for kind in KINDS for i in range(34)) > 200


@pytest.mark.parametrize("cls", CLASSES)
def test_counts_without_trials(cls) -> None:
    assert count(Space(4, 2, cls), ()) == len(twin(4, 2, cls, 0).systems)


def test_members_of_a_triple_differ_in_one_row_and_have_the_three_answers() -> None:
    for n, cls, hidden in ((5, "any", 0), (6, "mono", 1), (8, "any", 0)):
        space = Space(n, roots_of(n), cls, hidden)
        stream = Stream("triples", n)
        found = [t for t in (found_triple(stream, space, "direct") for _ in range(20)) if t]
        assert found
        for triple in found:
            columns = list(zip(*triple.rows.values(), strict=True))
            assert [i for i, rows in enumerate(columns) if len({*rows}) > 1] == [triple.last]
            assert len({space.design(row) for row in columns[triple.last]}) == 1
            for answer in ANSWERS:
                rows = triple.rows[answer]
                fresh = VersionSpace.of(space, rows, MOST)
                told = verdict(fresh, triple.question, rows)
                assert told.answer == answer
                assert len(fresh) == len(triple.left[answer])
                assert answer != "cannot" or Fraction(1, 5) <= told.posterior <= Fraction(4, 5)
