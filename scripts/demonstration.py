"""Demonstration logs of all five families, labelled as what they are: reference agents.

    python scripts/demonstration.py FOLDER

Logs of the local real model join them if its tests ran before with WHYBENCH_KEEP_LOGS=FOLDER:

    WHYBENCH_KEEP_LOGS=FOLDER python -m pytest -m real_model

One process makes all of them, as it is the imports that take the time.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from inspect_ai import eval as inspect_eval

from whybench.episode.registry import load_suite
from whybench.interfaces.inspectai.runner import reference_logs

RUNS: tuple[tuple[str, str, int, dict[str, Any]], ...] = (
    ("causallink/core", "null random first_listed exact", 12, {}),
    ("causalab/main_4", "null regression exact", 10, {}),
    ("replayscm/ord_cert", "random exact", 6, {}),
    ("replayscm/block_cert", "exact", 6, {}),
    ("replayscm/lab", "exact", 4, {}),
    ("causalgame/antenna", "correlational exact", 6, {}),
    ("recite/ladder", "random co_mention exact", 10, {}),
)
"""Suite, agents, instances, task arguments."""

JUDGES = ("perfect",)


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for path, agents, limit, args in RUNS:
        made = reference_logs(load_suite(path), agents.split(), folder, limit, args)
        print(f"{path}: {len(made)} logs")
    for judge in JUDGES:
        (log,) = inspect_eval(
            "whybench/recite_exam", model=f"whybench_judge/{judge}", task_args={"papers": 4},
            log_dir=str(folder), log_realtime=False, display="none",
        )  # fmt: skip
        if log.status != "success":
            raise SystemExit(f"the exam of {judge} ended with status {log.status}")
    print(f"{sum(len(agents.split()) for _, agents, _, _ in RUNS) + len(JUDGES)} logs in all")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
