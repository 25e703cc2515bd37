"""The suites `small`: few bits are open at the start, and everything else is as in other suites."""

from collections import Counter

import pytest

from whybench.episode.registry import families, load_suite
from whybench.episode.split import part_of

FAMILIES = ("causalab", "causalgame", "causallink", "prism", "replayscm")

SYSTEMS = {"causalab": 10, "causalgame": 15, "causallink": 15, "prism": 10, "replayscm": 15}
"""Family → distinct hidden systems up to renaming that its first 40 instances have at least."""


@pytest.mark.parametrize("name", FAMILIES)
def test_one_to_six_bits_are_open_and_the_exact_agent_closes_them(name: str) -> None:
    family, suite = families()[name], load_suite(f"{name}/small")
    checker = family.capability("checker")
    found = Counter()
    for row in (*range(40), *range(len(suite) - 10, len(suite))):
        instance = suite.row(row)
        assert 1 <= family.bits_left(family.open(instance)) <= 6
        found[str(family.system(family.world(instance)))] += 1
        if row % 10 == 0:
            certificate = family.certify(instance)
            assert checker.flaws(instance, family.world(instance), certificate) == []
            assert certificate.defects() == []
            assert certificate.status == ("statistical" if name == "causalgame" else "proven")
            run = family.exact_run(instance)
            assert family.score(instance, run).values[family.headline] == 1.0
            assert len(family.experiments(run)) >= 1, "nothing has to be found out"
    assert len(found) >= SYSTEMS[name]
    assert {part_of(suite, suite[row]) for row in range(0, len(suite), 3)} == {"train", "eval"}


def test_a_causallink_system_does_not_tell_the_answer() -> None:
    suite = load_suite("causallink/small")
    family, answers, systems = suite.family, Counter(), {}
    for instance in suite:
        world, answer = family.world(instance), family.truth(instance)["answer"]
        answers[world.view.n, answer] += 1
        systems.setdefault(str(family.system(world)), Counter())[answer] += 1
    assert set(answers.values()) == {100, 150}
    assert len(answers) == 2 + 2 + 3 + 3
    assert len(systems) >= 60
    for counted in systems.values():
        assert max(counted.values()) - min(counted.values()) <= 4 * sum(counted.values()) ** 0.5
