"""The shipped contract over all families of the registry, in the tiers of this checkout."""

from collections.abc import Sequence

import pytest

from whybench.episode.action import Action
from whybench.episode.certificate import Certificate
from whybench.episode.instance import Instance
from whybench.episode.observation import Observation
from whybench.episode.registry import families
from whybench.episode.score import Score
from whybench.episode.trace import Trace
from whybench.testing import Contract, rules
from whybench.testing.samples import more_alike_than_chance

GENERATORS = {
    "causalab": (
        *("main_4", "scaling_4", "quad_hard", "hidden_count_1", "hidden_range_5", "hidden_freq_1"),
        *("freqparent_4", "partial_4", "golden_4", "observed_5", "small", "fresh"),
    ),
    "causalgame": ("antenna", "antenna_no_history", "weather", "small"),
    "causallink": ("core", "collider", "advanced", "limited", "small"),
    "prism": ("lab", "teaching"),
    "recite": ("short", "ladder", "standard"),
    "replayscm": (
        *("hid_match", "ord_ext", "alt_hid", "block", "hid_cert", "bits_4", "lab", "small", "rows"),
    ),
}
"""Family → suites that are made in different ways; its other suites differ from one of these only
in a parameter. These, in profile `certified`, are in the default tier, all others are slow."""


class TestContract(Contract):
    families = tuple(families())
    fuzzed_episodes = (1_000, pytest.param(10_000, marks=pytest.mark.slow))

    def marks(self, family: str, suite: str, profile: str) -> Sequence[pytest.MarkDecorator]:
        default = profile == "certified" and suite in GENERATORS.get(family, (suite,))
        return () if default else (pytest.mark.slow,)


def test_every_rule_says_what_must_hold_and_why() -> None:
    assert len(rules()) == 18
    for name, (what, why) in rules().items():
        assert what[-1] == why[-1] == ".", name


@pytest.mark.parametrize(
    ("here", "there", "alike"),
    [
        ("abcdefgh", "abcdefgh", True),  # the seed is ignored
        ("abcdefgh", "ijklmnop", False),
        ("aaaaaaaa", "aaaaaaaa", False),  # nothing random is displayed
        ("abcdabcdabcdabcd", "abcdabcdabcdabcd", True),  # four values, the seed is ignored
        ("abcdabcdabcdabcd", "abdcbadcacdbdacb", False),  # four values that agree by chance
    ],
)
def test_agreement_is_compared_with_chance(here: str, there: str, alike: bool) -> None:
    assert more_alike_than_chance(here, there) == alike


def test_values_are_what_the_protocol_says() -> None:
    for kind in (Instance, Trace, Score, Certificate, Observation, Action):
        assert kind.__dataclass_params__.frozen
        assert hasattr(kind, "__slots__")
