"""Ray that cannot start, secrets that others can read, proofs without a published seal."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from whybench.causal.suite_seeds import SECRETS, keep, new_secret, secret_of
from whybench.cli import app
from whybench.scale import task_runner


def test_one_process_does_the_work_if_ray_cannot_start(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("ray")

    def fails(workers: int | None, address: str | None) -> None:
        raise RuntimeError("no memory\nand a long trace")

    monkeypatch.setattr(task_runner, "start", fails)
    found = list(task_runner.carried_out(lambda add, n: add + n, (10,), range(3), workers=2))
    assert found == [10, 11, 12]
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "Ray cannot start (no memory), so one process does all the work." in told
    with pytest.raises(ValueError, match="Cannot join the Ray cluster here: no memory"):
        list(task_runner.carried_out(abs, (), range(3), address="here"))


def test_a_file_of_secrets_that_others_can_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, secret = tmp_path / "secrets", new_secret()
    monkeypatch.setenv(SECRETS, str(file))
    name = keep(secret)
    file.chmod(0o640)
    with pytest.raises(ValueError, match="chmod 600") as refused:
        secret_of(name)
    assert secret not in str(refused.value)
    file.chmod(0o600)
    assert secret_of(name) == secret


def test_a_proof_says_whether_a_published_seal_was_compared(tmp_path: Path) -> None:
    out, told = tmp_path / "set", tmp_path / "told.json"
    make = ["data", "generate", "causallink/core", "--n", "3", "--out", str(out), "--workers", "0"]
    assert CliRunner().invoke(app, make).exit_code == 0
    line = CliRunner().invoke(app, ["data", "commit", str(out), "--out", str(told)]).stdout
    seal = line.split()[-1]
    prove = ["data", "prove", str(told), str(out), "--workers", "0"]
    alone = CliRunner().invoke(app, prove)
    assert "No published seal was compared" in alone.stdout
    assert seal in alone.stdout
    compared = CliRunner().invoke(app, [*prove, "--seal", seal])
    assert (compared.exit_code, "No published seal" in compared.stdout) == (0, False)
