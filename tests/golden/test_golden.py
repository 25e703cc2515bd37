"""The same instances on every machine, in every process, for ever."""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.golden.make import hashes
from whybench.core.seeds import Stream

FEW = 3
"""Instances of each suite that are made again in another process."""

PINNED = json.loads(Path(__file__).with_name("instances.json").read_text("utf-8"))


def test_instances_equal_their_pinned_hashes() -> None:
    assert hashes() == PINNED


def test_instances_are_the_same_in_another_process() -> None:
    code = f"import json; from tests.golden.make import hashes; print(json.dumps(hashes({FEW})))"
    env = os.environ | {"PYTHONHASHSEED": "4242", "PYTHONPATH": str(Path.cwd())}
    run = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
    )
    assert json.loads(run.stdout) == {name: found[:FEW] for name, found in PINNED.items()}


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
