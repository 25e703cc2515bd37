"""What every family must pass, whoever wrote it. A test is a rule: its docstring says why."""

from __future__ import annotations

import re
from collections.abc import Sequence
from inspect import getdoc
from typing import Any, ClassVar

import pytest

from whybench.episode.declaration import profiles_of
from whybench.episode.family import Family, Suite
from whybench.episode.instance import PROFILES
from whybench.episode.registry import families, load_suite
from whybench.testing.play_rules import PlayRules
from whybench.testing.text_rules import TextRules


def rules() -> dict[str, tuple[str, str]]:
    """Return every rule: the name of its test → what must hold, and why."""
    found = {}
    for name, test in (vars(PlayRules) | vars(TextRules)).items():
        if name.startswith("test_"):
            what, why = re.sub(r"\s+", " ", getdoc(test) or "").split(" Why: ")
            found[name] = (what, why)
    return found


class Contract(PlayRules, TextRules):
    """The rules as tests; a subclass names the families that are tested."""

    families: ClassVar[Sequence[str]] = ()
    """The names of their entry points in the group `whybench.families`."""
    fuzzed_episodes: ClassVar[Sequence[Any]] = (1_000,)
    """How many episodes are fuzzed; each number is a test."""

    def marks(self, family: str, suite: str, profile: str) -> Sequence[pytest.MarkDecorator]:
        """Return the marks of all tests of a suite; a subclass may divide them into tiers."""
        return ()

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Repeat a rule for every family, and where it asks for a suite for every suite."""
        if absent := [name for name in self.families if name not in families()]:
            pytest.fail(
                f"No family {absent[0]!r} is installed. Install its package "
                '(`uv pip install -e .`) and check the name in [project.entry-points."whybench.'
                'families"].',
                pytrace=False,
            )
        if "path" in metafunc.fixturenames:
            only_certified = hasattr(metafunc.function, "certified_only")
            paths = self.suites(PROFILES[:1] if only_certified else PROFILES)
            # Grouped by suite (the scope does it), so that systems and traces are made once.
            metafunc.parametrize("path", paths, scope="class")
        if "name" in metafunc.fixturenames:
            metafunc.parametrize("name", self.families)
        if "episodes" in metafunc.fixturenames:
            metafunc.parametrize("episodes", self.fuzzed_episodes)

    def suites(self, profiles: Sequence[str]) -> list[Any]:
        """Return all suites of these profiles as parameters of tests."""
        return [
            pytest.param(f"{name}/{suite}/{profile}", marks=self.marks(name, suite, profile))
            for profile in profiles
            for name in self.families
            for suite in families().declared(name)["suites"]
            if profile in profiles_of(families().declared(name), suite)
        ]

    @pytest.fixture
    def suite(self, path: str) -> Suite:
        """Open the suite at `family/suite/profile`."""
        path, _, profile = path.rpartition("/")
        return load_suite(path, profile=profile)

    @pytest.fixture
    def family(self, name: str) -> Family[Any]:
        """Import a family."""
        return families()[name]
