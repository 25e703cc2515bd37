"""What a family offers beyond the game is loaded only when it is asked for."""

import subprocess
import sys

import pytest

from whybench.episode.family import Family
from whybench.episode.registry import families

LOADED = """
import sys
from whybench.episode.registry import families
offered = [(f, name) for f in families().values() for name in ("checker", "annotated", "report")]
places = [f.extras[name].partition(":")[0] for f, name in offered if name in f.extras]
for family in families().values():
    family.open(family.suite(family.recommended[0])[0]).instructions(family.templates[0])
print(len(places), [place for place in places if place in sys.modules])
"""


def test_opening_an_episode_loads_no_checker_no_annotated_episode_and_no_report() -> None:
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split(maxsplit=1) == ["18", "[]\n"]


@pytest.mark.parametrize("family", families().values(), ids=list(families()))
def test_every_checker_says_what_it_leaves_out(family: Family) -> None:
    assert family.unverified_claims == family.capability("checker").UNVERIFIED_CLAIMS
    assert all(family.unverified_claims.values())


def test_a_capability_that_is_not_declared_is_none() -> None:
    assert families()["causallink"].capability("no_such_thing") is None
