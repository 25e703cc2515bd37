"""A run killed half-way and retried: nothing finished is lost or run again."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from inspect_ai import eval, eval_retry  # noqa: A004 - Inspect's own name
from inspect_ai.log import read_eval_log
from inspect_ai.model import get_model

pytestmark = pytest.mark.wire

MANY = 300 if os.environ.get("WHYBENCH_FULL") else 100

RUNS = [
    pytest.param("causallink", {"suite": "advanced", "protocol": "tools"}, MANY, id="causallink"),
    pytest.param("causalab", {"suite": "main_3", "protocol": "record"}, 40, id="causalab"),
]
"""Task, its arguments, and samples: many of one family, a few of one with a protocol of its own."""

AT_ONCE = 10
"""Samples that run at the same time, so that many have finished half-way."""


def started(
    folder: Path, journal: Path, task: str, args: dict[str, str], samples: int
) -> subprocess.Popen[bytes]:
    """Start a run in a process of its own, to be killed."""
    given = [word for name, value in args.items() for word in ("-T", f"{name}={value}")]
    words = [
        sys.executable, "-m", "inspect_ai", "eval", f"whybench/{task}", *given,
        "--limit", samples, "--max-samples", AT_ONCE, "--model", "whybench/exact",
        "-M", f"journal={journal}", "-M", "delay=0.02", "--log-dir", folder, "--display", "none",
    ]  # fmt: skip
    return subprocess.Popen(
        [str(word) for word in words],
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


@pytest.mark.parametrize(("task", "args", "samples"), RUNS)
def test_a_killed_run_loses_nothing_and_repeats_nothing(
    task: str, args: dict[str, str], samples: int, tmp_path: Path
) -> None:
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    model = get_model("whybench/exact", journal=str(tmp_path / "whole.txt"))
    eval(
        f"whybench/{task}", task_args=args, limit=samples, model=model, log_dir=str(whole),
        display="none", log_realtime=False,
    )  # fmt: skip
    calls = (tmp_path / "whole.txt").read_text().splitlines()

    first, second = tmp_path / "first.txt", tmp_path / "second.txt"
    victim = started(cut, first, task, args, samples)
    deadline = time.monotonic() + 400
    while not first.exists() or len(first.read_text().splitlines()) <= len(calls) / 2:
        assert time.monotonic() < deadline, "not half-way in time: a slow machine?"
        time.sleep(0.05)
    os.killpg(victim.pid, signal.SIGKILL)
    victim.wait()

    interrupted = only_log(cut, "started")
    first.rename(second)
    finished = recovered(interrupted)
    assert samples / 5 < len(finished) < samples
    before = set(second.read_text().splitlines())
    (retried,) = eval_retry(str(interrupted), log_dir=str(cut), display="none")
    assert retried.status == "success", retried.error
    again = set(first.read_text().splitlines())
    assert not again & finished, "a finished sample was run again"
    assert before | again == set(calls)
    assert len(read_eval_log(str(only_log(cut, "success"))).samples or ()) == samples
    steady_metrics = metrics(only_log(whole, "success"))
    assert metrics(only_log(cut, "success")) == pytest.approx(steady_metrics, nan_ok=True)


def recovered(log: Path) -> set[str]:
    """Samples that were scored before the kill, from the log and Inspect's buffer beside it."""
    from inspect_ai.log import recover_eval_log

    copy = log.parent.parent / "recovered.eval"
    recover_eval_log(str(log), output=str(copy), cleanup=False)
    return {str(s.id) for s in read_eval_log(str(copy)).samples or () if s.scores}
