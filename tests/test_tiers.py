"""The tiers add up: each is used, run by `scripts/full` and sampled by CI."""

import re
import runpy
import tomllib
from itertools import product
from pathlib import Path

from tests.conftest import WHOLE
from tests.contract.test_contract import GENERATORS
from whybench.episode.registry import families
from whybench.testing import rules

ROOT = Path(__file__).parent.parent
OPTIONS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["pytest"][
    "ini_options"
]
MARKS = [line.partition(":")[0] for line in OPTIONS["markers"]]
SOURCES = {
    path.relative_to(ROOT).as_posix(): path.read_text("utf-8")
    for path in sorted((ROOT / "tests").rglob("*.py"))
}


def sample() -> dict[str, list[str]]:
    """Return tier → tests of the sample that CI runs."""
    found: dict[str, list[str]] = {}
    for line in (ROOT / "tests" / "ci_sample.txt").read_text("utf-8").splitlines():
        if tier := re.fullmatch(r"# \[(\w+)\] .+", line):
            found[tier[1]] = listed = []
        elif line and not line.startswith("#"):
            listed.append(line)
    return found


def test_the_default_tier_is_what_no_other_takes() -> None:
    assert OPTIONS["addopts"][-2:] == ["-m", " and ".join(f"not {mark}" for mark in MARKS)]


def test_every_mark_is_used() -> None:
    for mark in MARKS:
        assert any(f"pytest.mark.{mark}" in text for text in SOURCES.values()), mark


def test_a_module_has_one_tier_or_marks_its_tests() -> None:
    for path, text in SOURCES.items():
        tier = WHOLE.search(text)
        assert tier is None or tier[1] in {*MARKS, "skipif"}, path


def test_a_full_run_takes_every_test_once() -> None:
    tiers = runpy.run_path(str(ROOT / "scripts" / "full"))["tiers"]()
    assert list(tiers) == ["default", *MARKS]
    for marked in product([False, True], repeat=len(MARKS)):
        marks = dict(zip(MARKS, marked, strict=True))
        taken = [tier for tier, chosen in tiers.items() if eval(chosen, {}, marks)]
        assert len(taken) == 1
        assert taken == ["default"] or marks[taken[0]]


def test_ci_samples_every_tier_by_tests_that_exist() -> None:
    assert list(sample()) == MARKS
    for tier, tests in sample().items():
        assert tests, tier
        for test in tests:
            path, _, name = test.partition("::")
            name = name.removeprefix("TestContract::").partition("[")[0]
            assert re.fullmatch(r"\S+", test), f"the shell would split {test}"
            marks = SOURCES[path]
            assert not name or name in rules() or f"def {name}(" in marks, test
            named = f"pytest.mark.{tier}" in marks or (tier == "slow" and "sampled(" in marks)
            assert named, f"{test} has no test of the tier {tier}"


def test_suites_that_stand_for_a_generator_are_declared() -> None:
    assert GENERATORS.keys() <= set(families())
    for family, names in GENERATORS.items():
        assert {*names} <= families().declared(family)["suites"].keys()
