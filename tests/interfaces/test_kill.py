"""A run killed half-way and retried: nothing finished is lost or run again."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from inspect_ai.log import read_eval_log

SAMPLES = 300
ARGS = ["-T", "suite=advanced", "-T", "protocol=tools"]


def inspect(*words: object) -> list[str]:
    return [sys.executable, "-m", "inspect_ai", *map(str, words), "--display", "none"]


def started(folder: Path, journal: Path) -> subprocess.Popen[bytes]:
    words = inspect(
        "eval", "whybench/causallink", *ARGS, "--limit", SAMPLES, "--model", "whybench/exact",
        "-M", f"journal={journal}", "-M", "delay=0.02", "--log-dir", folder,
    )  # fmt: skip
    return subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def only_log(folder: Path, status: str) -> Path:
    (path,) = [
        path for path in folder.glob("*.eval") if read_eval_log(str(path), True).status == status
    ]
    return path


def metrics(path: Path) -> dict[str, float]:
    results = read_eval_log(str(path), header_only=True).results
    assert results is not None
    return {
        f"{score.name}/{name}": metric.value
        for score in results.scores
        for name, metric in score.metrics.items()
    }


def test_a_killed_run_loses_nothing_and_repeats_nothing(tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    steady = started(whole, tmp_path / "whole.txt")
    assert steady.wait(timeout=300) == 0

    first, second = tmp_path / "first.txt", tmp_path / "second.txt"
    victim = started(cut, first)
    calls = len((tmp_path / "whole.txt").read_text().splitlines())
    deadline = time.monotonic() + 200
    while time.monotonic() < deadline:
        if first.exists() and len(first.read_text().splitlines()) > calls / 2:
            break
        time.sleep(0.05)
    os.killpg(victim.pid, signal.SIGKILL)
    victim.wait()

    interrupted = only_log(cut, "started")
    first.rename(second)
    finished = recovered(interrupted)
    assert SAMPLES / 5 < len(finished) < SAMPLES
    before = Counter(second.read_text().splitlines())
    retried = subprocess.run(
        inspect("eval-retry", interrupted, "--log-dir", cut),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert retried.returncode == 0, retried.stderr
    again = set(first.read_text().splitlines())
    assert not again & finished, "a finished sample was run again"
    assert set(before) | again == set((tmp_path / "whole.txt").read_text().splitlines())
    assert len(read_eval_log(str(only_log(cut, "success"))).samples or ()) == SAMPLES
    steady_metrics = metrics(only_log(whole, "success"))
    assert metrics(only_log(cut, "success")) == pytest.approx(steady_metrics, nan_ok=True)


def recovered(log: Path) -> set[str]:
    """Samples that were scored before the kill, from the log and Inspect's buffer beside it."""
    from inspect_ai.log import recover_eval_log

    copy = log.parent.parent / "recovered.eval"
    recover_eval_log(str(log), output=str(copy), cleanup=False)
    return {str(s.id) for s in read_eval_log(str(copy)).samples or () if s.scores}
