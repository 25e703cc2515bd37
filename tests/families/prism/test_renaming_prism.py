"""Hidden systems up to renaming, and the split of triples."""

from collections import Counter
from itertools import permutations

import pytest

from whybench.causal.seeds import Stream
from whybench.causal.version_space import Space, System
from whybench.episode.registry import load_suite
from whybench.episode.split import part_of
from whybench.families.prism.world.renaming import renamed
from whybench.families.prism.world.triples import drawn_system, roots_of


def values(n: int, system: System, new: tuple[int, ...]) -> frozenset[object]:
    """All rules as sets of the assignments under which a variable is 1, under new names."""
    said = []
    for v, rule in enumerate(system, n - len(system)):
        ones = frozenset(
            frozenset((new[u], r >> i & 1) for i, u in enumerate(rule.arguments))
            for r in range(1 << len(rule.arguments))
            if rule.table >> r & 1
        )
        said.append((new[v], ones))
    return frozenset(said)


def every_name(n: int, roots: int) -> list[tuple[int, ...]]:
    inputs, driven = permutations(range(roots)), list(permutations(range(roots, n)))
    return [(*some, *others, n) for some in inputs for others in driven]


@pytest.mark.parametrize(("n", "cls", "hidden"), [(4, "mono", 0), (4, "any", 0), (5, "mono3", 1)])
def test_forms_are_equal_exactly_if_some_renaming_makes_systems_equal(
    n: int, cls: str, hidden: int
) -> None:
    space = Space(n, roots_of(n), cls, hidden)
    stream, names = Stream("renaming", n, cls), every_name(n, roots_of(n))
    of_form: dict[str, frozenset[object]] = {}
    of_class: dict[frozenset[object], str] = {}
    for _ in range(150):
        system = drawn_system(stream, space)
        form = str(renamed(n, system))
        same = frozenset(values(n, system, new) for new in names)
        assert of_form.setdefault(form, same) == same
        assert of_class.setdefault(same, form) == form
    assert len(of_form) > 5


@pytest.mark.parametrize("suite", ["small", "lab", "main", "teaching"])
def test_members_of_a_triple_are_in_one_part(suite: str) -> None:
    drawn = load_suite(f"prism/{suite}", parameters={"triples": 1})
    family = drawn.family
    parts: dict[str, Counter[str]] = {}
    for instance in drawn if suite != "main" else (drawn[i] for i in range(0, len(drawn), 2)):
        world = family.world(instance)
        parts.setdefault(world.base, Counter())[part_of(drawn, instance)] += 1
    assert all(len(counted) == 1 for counted in parts.values())
    assert sum(parts.values(), Counter()).total() > len(parts)
