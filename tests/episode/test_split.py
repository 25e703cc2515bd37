"""Training and evaluation share no hidden system."""

from itertools import islice

import pytest
from tests.tables import sampled

from whybench.causal.canonical import canonical_json
from whybench.episode.registry import families, find_instance, load_suite
from whybench.episode.split import PARTS, part_of
from whybench.interfaces.sampling import Choice

SUITES = ("causallink/advanced", "causalab/main_3", "causalgame/antenna", "prism/main",
          "recite/short", "replayscm/lab", "replayscm/ord_cert")  # fmt: skip


@pytest.mark.parametrize("path", sampled(SUITES, 3))
def test_the_parts_share_no_system_and_no_cluster(path: str) -> None:
    suite = load_suite(path)
    family = suite.family
    worlds = {
        part: [family.world(i) for i in islice(Choice(suite, part, rows=120).once(), 60)]
        for part in PARTS
    }
    # In CausalGame the cluster is the luck, which scenarios share by design.
    keys = [family.system]
    if family.name != "causalgame":
        keys.append(lambda world: family.fingerprint(world).cluster)
    for key in keys:
        train, evaluation = ({canonical_json(key(w)) for w in worlds[part]} for part in PARTS)
        assert train
        assert evaluation
        assert not train & evaluation


def test_the_part_hangs_on_the_system_alone_not_on_suite_or_seed() -> None:
    found: dict[str, set[str]] = {}
    for suite in (load_suite("causallink/core"), load_suite("causallink/core", seed="other"),
                  load_suite("causallink/advanced")):  # fmt: skip
        for instance in islice(suite, 100):
            system = canonical_json(suite.family.system(suite.family.world(instance)))
            found.setdefault(system, set()).add(part_of(suite, instance))
    assert len(found) > 3
    assert all(len(parts) == 1 for parts in found.values())
    assert {part for parts in found.values() for part in parts} == set(PARTS)


def test_the_parts_together_are_the_suite() -> None:
    suite = load_suite("causallink/core")
    both = [i.id for part in PARTS for i in Choice(suite, part).once()]
    assert sorted(both) == sorted(i.id for i in suite)
    assert [i.id for i in Choice(suite, rows=100).once()] == [suite.row(r).id for r in range(100)]


def test_draws_go_on_for_ever_and_repeat_by_their_seed() -> None:
    suite = load_suite("causallink/core")
    first, again = (list(islice(Choice(suite, "eval", endless=True).seeded(1), 10)) for _ in "ab")
    assert first == again
    assert len({i.block for i in first}) == 10
    assert {part_of(suite, i) for i in first} == {"eval"}
    assert all(find_instance(f"causallink/{i.id}") == i for i in first)


def test_a_suite_of_one_world_has_one_part_and_says_so() -> None:
    suite = load_suite("causallink/collider")
    (part,) = {part_of(suite, instance) for instance in suite}
    (other,) = set(PARTS) - {part}
    assert list(Choice(suite, other).once()) == []
    with pytest.raises(ValueError, match="Choose a larger suite"):
        next(Choice(suite, other, endless=True).seeded(0))


def test_instances_are_found_by_their_ids() -> None:
    for path in ("causallink/core", "causalab/main_3"):
        suite = load_suite(path)
        for row in (0, 7, len(suite) + 3):
            instance = suite.row(row)
            assert find_instance(f"{suite.family.name}/{instance.id}") == instance


@pytest.mark.parametrize(
    "name",
    ["", "causallink", "causallink/core", "causallink/core-0003", "nope/core-0003-0123456789ab",
     "causallink/core-0003-0123456789ab", "causallink/core-9999-0123456789ab",
     "causallink/../core-0003-0123456789ab", "causallink/core-٣٣٣٣-0123456789ab"],
)  # fmt: skip
def test_a_name_of_nothing_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"an instance is named|no suite|has no instance|not 9999"):
        find_instance(name)


def test_every_family_is_split_somewhere() -> None:
    assert {path.partition("/")[0] for path in SUITES} == set(families())
