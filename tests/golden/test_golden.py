"""The same instances on every machine, in every process, for ever."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.golden.make import count, hashes, suites
from whybench.causal.seeds import Stream
from whybench.episode.registry import families

ALL = 20
"""More instances of each suite than are pinned."""

PINNED = json.loads(Path(__file__).with_name("instances.json").read_text("utf-8"))

AGAIN = """
import json, sys
from tests.golden.make import count, hashes, suites
from whybench.episode.registry import families
print(json.dumps({
    name: hashes(suite, int(sys.argv[1]))
    for family in families().values() for name, suite in suites(family).items() if count(suite) > 1
}))
"""
"""Where even one instance takes long to make, the pins of this process must do."""


def test_every_suite_is_pinned() -> None:
    assert list(PINNED) == [name for family in families().values() for name in suites(family)]
    for family in families().values():
        for name, suite in suites(family).items():
            assert len(PINNED[name]) == min(count(suite), len(suite))


@pytest.mark.parametrize("most", [2, pytest.param(ALL, marks=pytest.mark.slow)])
@pytest.mark.parametrize("family", families())
def test_instances_equal_their_pinned_hashes(family: str, most: int) -> None:
    found = {name: hashes(suite, most) for name, suite in suites(families()[family]).items()}
    assert found == {name: PINNED[name][:most] for name in found}


@pytest.mark.parametrize("most", [1, pytest.param(4, marks=pytest.mark.slow)])
def test_instances_are_the_same_in_another_process(most: int) -> None:
    env = os.environ | {"PYTHONHASHSEED": "4242", "PYTHONPATH": os.pathsep.join(sys.path)}
    run = subprocess.run(
        [sys.executable, "-c", AGAIN, str(most)],
        env=env,
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(run.stdout)
    assert {name.split("/")[0] for name in found} == families().keys()
    assert found == {name: PINNED[name][:most] for name in found}


def test_streams_equal_their_pinned_draws() -> None:
    stream = Stream("golden")
    assert [stream.word() for _ in range(3)] == [
        7261833656228646295,
        16167520228464538441,
        7397032577359414868,
    ]
    assert [stream.below(6) for _ in range(10)] == [1, 0, 0, 0, 4, 0, 5, 0, 3, 2]
    assert stream.shuffled(range(8)) == [1, 7, 4, 6, 2, 0, 5, 3]
    assert stream.uniform() == 0.7777546743335082
