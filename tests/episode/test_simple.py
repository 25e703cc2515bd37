"""Families by enumeration: state, what cannot be distinguished, and arguments of any text."""

import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

import pytest

from whybench.episode.action import Action
from whybench.episode.family import Family

TOML = """
version = "1"
summary = "turn valves, then name the two in series"
hypotheses = "two valves in series feed the tank"
profiles = ["certified"]
templates = ["plain"]
protocols = ["dialogue", "tools"]
suites = { series = "tanks" }
parameters = {}
floor_ceiling = { null = 0.9, random = 0.9 }
agents = { null = "", random = "", exact = "", oracle = "" }
actions = [
  { name = "turn", meaning = "Turn a valve.", arguments = { valve = "its name" } },
  { name = "answer", meaning = "Name two.", arguments = { answer = "two names" }, final = true },
]
"""

PLAIN = """
## rules
Valves: $valve. Turns: $budget.

## observation
The tank $tank.
"""

CODE = """
from dataclasses import dataclass, replace
from itertools import combinations

from pydantic import BaseModel

import whybench as wb


class Parameters(BaseModel):
    pass


@dataclass(frozen=True)
class Tank:
    feeding: tuple[str, str]


class TankEpisode(wb.SimpleEpisode[Tank]):
    def __init__(self, instance, world, max_errors):
        super().__init__(instance, world, max_errors)
        self.open = set("abcd")

    @property
    def right(self):
        return "".join(self.world.feeding)

    @property
    def budget(self):
        return BUDGET

    def choices(self, argument):
        pairs = ["".join(pair) for pair in combinations("abcd", 2)]
        return pairs if argument == "answer" else CHOICES

    def do_turn(self, valve):
        self.open ^= {valve}
        return wb.Record.of(tank="fills" if self.open >= {*self.world.feeding} else "is empty")


class Tanks(wb.SimpleFamily[Tank]):
    name = "tanks"
    parameter_model = Parameters
    episode = TankEpisode

    def build(self, instance):
        stream = wb.Stream("tanks", instance.stream_seed, instance.suite, instance.index)
        return Tank(stream.choice(list(combinations("abcd", 2))))

    def systems(self, instance):
        return [Tank(pair) for pair in combinations("abcd", 2)]
"""


@pytest.fixture
def tanks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Family]]:
    def made(
        budget: int = 8, choices: str = "tuple('abcd')", name: str = "tanks_for_test"
    ) -> Family:
        folder = tmp_path / name
        (folder / "templates").mkdir(parents=True)
        (folder / "__init__.py").touch()
        (folder / "family.toml").write_text(TOML, "utf-8")
        (folder / "templates/plain.md").write_text(PLAIN, "utf-8")
        code = f"BUDGET = {budget}\nCHOICES = {choices}\n{CODE}"
        (folder / "family.py").write_text(code, "utf-8")
        monkeypatch.syspath_prepend(tmp_path)
        return import_module(f"{name}.family").Tanks()

    yield made
    for module in [name for name in sys.modules if name.startswith("tanks_for_test")]:
        del sys.modules[module]


def test_state_is_planned_ahead(tanks: Callable[..., Family]) -> None:
    """While one valve of the pair is closed no single turn shows anything."""
    family = tanks()
    suite = family.suite("series")
    for instance in [suite[index] for index in range(12)]:
        certificate = family.certify(instance)
        assert certificate.defects() == []
        assert certificate.bits == 0
        assert 1 <= certificate.exact_steps <= certificate.minimax_upper <= 8


def test_too_small_a_budget_is_a_defect_with_a_witness(tanks: Callable[..., Family]) -> None:
    family = tanks(budget=1)
    suite = family.suite("series")
    found = [family.certify(suite[index]) for index in range(12)]
    assert all(not one.identified and len(one.witness) == 2 and one.bits > 0 for one in found)
    assert any(one.defects() for one in found)


def test_the_budget_and_the_legal_values_are_kept(tanks: Callable[..., Family]) -> None:
    family = tanks(budget=1)
    episode = family.open(family.suite("series")[0])
    assert "Valves: a, b, c, d. Turns: 1." in episode.instructions("plain")
    assert not episode.step(Action.of("turn", valve="a")).is_error
    for action, reason in [
        (Action.of("turn", valve="b"), "all 1 experiments are used up"),
        (Action.of("turn", valve="z"), "`valve` must be one of: a, b, c, d"),
        (Action.of("answer"), "`answer` must be one of: ab, ac, ad, bc, bd, cd"),
    ]:
        assert episode.step(action).data["reason"] == reason
    assert episode.used == 1
    assert episode.outcome == "invalid_answer"


def test_arguments_of_any_text_need_an_exact_agent_of_their_own(
    tanks: Callable[..., Family],
) -> None:
    family = tanks(choices="None")
    with pytest.raises(TypeError, match="override `budget` in the episode, and `exact`"):
        family.certify(family.suite("series")[0])


def test_a_missing_word_is_named(tanks: Callable[..., Family], tmp_path: Path) -> None:
    family = tanks(name="tanks_for_test_of_words")  # templates are read once
    file = tmp_path / "tanks_for_test_of_words/templates/plain.md"
    file.write_text(PLAIN.replace("$valve", "$vlave"), "utf-8")
    with pytest.raises(KeyError, match=r"'vlave' is missing.*\$budget, \$valve"):
        family.open(family.suite("series")[0]).instructions("plain")
