"""Small real logs, made once: reference agents as Inspect models."""

from __future__ import annotations

from pathlib import Path

import pytest

from whybench.episode.family import find_suite
from whybench.interfaces.inspectai.reference import reference_logs
from whybench.report.runs import Logs, read_runs


@pytest.fixture(scope="session")
def log_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """CausalLink with floors, ceiling and one more agent; CausaLab with two agents."""
    folder = tmp_path_factory.mktemp("logs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("xdg")))
        core = find_suite("causallink/core")
        reference_logs(
            core,
            ("null", "null_no", "random", "first_listed", "exact"),
            folder,
            12,
            {"protocol": "tools"},
        )
        lab = find_suite("causalab/main_3")
        reference_logs(lab, ("regression", "exact"), folder, 4)
    return folder


@pytest.fixture(scope="session")
def logs(log_dir: Path) -> Logs:
    return read_runs([log_dir])
