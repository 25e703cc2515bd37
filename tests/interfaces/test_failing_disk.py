"""A sample of `scripts/kill`, which kills everything that writes and gives it a failing disk."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

KILL = Path(__file__).parents[2] / "scripts" / "kill"

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("cc") is None, reason="the failing disk is built in C"
)


def kill(*words: str) -> subprocess.CompletedProcess[str]:
    asked = [sys.executable, str(KILL), *words]
    return subprocess.run(asked, capture_output=True, text=True, timeout=600)


def test_the_store_of_the_server_loses_nothing() -> None:
    done = kill("--writers", "store", "--repetitions", "10")
    assert done.returncode == 0, done.stdout + done.stderr
    table = [line.split(" | ") for line in done.stdout.splitlines() if line.startswith("| store")]
    assert [row[3] for row in table] == ["2"] * 5
    assert sum(int(row[4]) for row in table) >= 2, "nothing was killed"
    assert sum(int(row[5]) for row in table) >= 4, "no call failed"
    assert "10 repetitions, 0 with a flaw" in done.stdout


@pytest.mark.wire
@pytest.mark.parametrize("writer", ["generate", "results", "report", "prepare", "inspect"])
def test_nothing_is_half_written(writer: str) -> None:
    done = kill("--writers", writer, "--repetitions", "5")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "5 repetitions, 0 with a flaw" in done.stdout


@pytest.mark.wire
def test_a_file_that_is_written_in_place_is_noticed() -> None:
    done = kill("--writers", "results", "--repetitions", "10", "--unsafe")
    assert done.returncode == 1
    assert "is not whole" in done.stdout, done.stdout + done.stderr
