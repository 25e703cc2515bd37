"""The same filter through every interface gives the same instances."""

from pathlib import Path

import gymnasium
import pytest

import whybench as wb
import whybench.interfaces.gym  # it registers ids
from whybench.curriculum.where import Where
from whybench.interfaces.inspectai.instance_selection import chosen
from whybench.interfaces.mcp.catalogue import Offer, Order
from whybench.interfaces.mcp.refusal import Refused
from whybench.interfaces.stored.place import Place
from whybench.interfaces.stored.plan import Plan
from whybench.interfaces.stored.reading import StoredSet
from whybench.scale.generate import generate

SUITE, ROWS, WHERE = "causallink/advanced", 40, "bits <= 12 and not fewest = 2"


@pytest.fixture(scope="module")
def passing() -> list[wb.Instance]:
    suite = wb.load_suite(SUITE)
    found = [one for one in map(suite.row, range(ROWS)) if Where(WHERE).admits(one)]
    assert 0 < len(found) < ROWS
    return found


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = str(tmp_path_factory.mktemp("whole"))
    generate(Plan.of(wb.load_suite(SUITE), ROWS, rows=16), Place(folder))
    return folder


def test_a_list_a_shuffled_list_and_places(passing: list[wb.Instance]) -> None:
    choice = wb.Choice.of(wb.load_suite(SUITE), rows=ROWS, where=WHERE)
    assert list(choice.once()) == passing
    assert sorted(choice.once(3), key=passing.index) == passing
    assert [choice.at(place) for place in range(len(passing))] == passing
    with pytest.raises(ValueError, match="ends before index"):
        choice.at(len(passing))


def test_an_endless_list_leaves_out_and_keeps_the_order() -> None:
    suite = wb.load_suite(SUITE)
    plain = wb.Choice.of(suite, "train", endless=True).seeded(3)
    filtered = wb.Choice.of(suite, "train", endless=True, where=WHERE).seeded(3)
    expected: list[wb.Instance] = []
    while len(expected) < 5:
        instance = next(plain)
        expected += [instance] if Where(WHERE).admits(instance) else []
    assert [next(filtered) for _ in range(5)] == expected


def test_a_filter_that_nothing_passes_says_so() -> None:
    choice = wb.Choice.of(wb.load_suite(SUITE), endless=True, where="bits < 0")
    with pytest.raises(ValueError, match=r"no instance with bits < 0: 400 draws gave none"):
        next(choice.seeded(0))


def test_inspect(passing: list[wb.Instance], whole: str) -> None:
    for parameters in ({}, {"data": whole}):
        found = chosen(SUITE, "certified", None, parameters, f"1-{ROWS}", WHERE)
        assert [found.rows.instance(p) for p in found.positions] == passing


def test_gymnasium(passing: list[wb.Instance], whole: str) -> None:
    for source in ({"rows": ROWS}, {"data": whole}):
        env = gymnasium.make("WhyBench/causallink-advanced-v2", where=WHERE, **source)
        seen = [env.reset(options={"index": k})[1]["instance"] for k in range(len(passing))]
        assert seen == [f"causallink/{one.id}" for one in passing]
        with pytest.raises(ValueError, match="ends before index"):
            env.reset(options={"index": len(passing)})


def test_mcp(passing: list[wb.Instance]) -> None:
    offer = Offer((SUITE,), where=WHERE)
    assert [offer.instance(Order(SUITE, k))[0] for k in range(3)] == passing[:3]
    left_out = next(one for one in wb.load_suite(SUITE) if not Where(WHERE).admits(one))
    with pytest.raises(Refused, match="no instance of this name"):
        offer.instance(Order(instance=f"causallink/{left_out.id}"))


def test_a_stored_set(passing: list[wb.Instance], whole: str, tmp_path: Path) -> None:
    stored = StoredSet(whole)
    for position in (0, 17):
        instance = stored.instance(position)
        figures = {name: one["value"] for name, one in wb.difficulty(instance).items()}
        kept = {name: value for name, value in figures.items() if value is not None}
        assert stored.figures(position) == kept
    manifest = generate(
        Plan.of(wb.load_suite(SUITE), ROWS, rows=16, where=WHERE), Place(str(tmp_path))
    )
    filtered = StoredSet(str(tmp_path))
    assert [filtered.instance(p) for p in range(len(filtered))] == passing
    assert manifest.to_json()["refused"] == {"the filter leaves it out": ROWS - len(passing)}


def test_a_set_without_truth_omits_what_counts_the_answer(tmp_path: Path) -> None:
    generate(Plan.of(wb.load_suite(SUITE), 3, truth=False), Place(str(tmp_path)))
    figures = StoredSet(str(tmp_path)).figures(0)
    assert "bits" in figures
    assert not {"characters", "tokens"} & set(figures)
