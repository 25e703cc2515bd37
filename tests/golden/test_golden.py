"""The same instances on every machine, in every process, for ever."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.golden.make import count, hashes, suites
from whybench.core.seeds import Stream
from whybench.episode.family import Family, families

MOST = 20 if os.environ.get("WHYBENCH_FULL") else 8
"""Instances of each suite that are held against their pins."""

FEW = 2
"""Instances of each suite that are made again in another process."""

PINNED = json.loads(Path(__file__).with_name("instances.json").read_text("utf-8"))

AGAIN = f"""
import json
from tests.golden.make import count, hashes, suites
from whybench.episode.family import families
print(json.dumps({{
    name: hashes(suite, {FEW})
    for family in families().values() for name, suite in suites(family).items() if count(suite) > 1
}}))
"""
"""Where even one instance takes long to make, the pins of this process must do."""

every_family = pytest.mark.parametrize(
    "family", [pytest.param(family, id=family.name) for family in families().values()]
)


def test_every_suite_is_pinned() -> None:
    assert list(PINNED) == [name for family in families().values() for name in suites(family)]
    for family in families().values():
        for name, suite in suites(family).items():
            assert len(PINNED[name]) == min(count(suite), len(suite))


@every_family
def test_instances_equal_their_pinned_hashes(family: Family) -> None:
    found = {name: hashes(suite, MOST) for name, suite in suites(family).items()}
    assert found == {name: PINNED[name][:MOST] for name in found}


def test_instances_are_the_same_in_another_process() -> None:
    env = os.environ | {"PYTHONHASHSEED": "4242", "PYTHONPATH": str(Path.cwd())}
    run = subprocess.run(
        [sys.executable, "-c", AGAIN], env=env, capture_output=True, text=True, check=True
    )
    found = json.loads(run.stdout)
    assert {name.split("/")[0] for name in found} == families().keys()
    assert found == {name: PINNED[name][:FEW] for name in found}


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
