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

from whybench.episode.family import find_suite
from whybench.interfaces.inspectai.reference import reference_logs

RUNS: tuple[tuple[str, str, int, dict[str, Any]], ...] = (
    ("causallink/core", "null null_no random first_listed exact", 24, {}),
    ("causallink/core", "first_listed", 24, {"skin": "step_limited"}),
    ("causallink/advanced", "random exact", 40, {}),
    ("causalab/main_3", "regression by_size exact", 12, {}),
    ("causalab/main_4", "regression by_size exact", 12, {}),
    ("causalab/main_5", "regression by_size exact", 12, {}),
    ("causalab/quad_hard", "regression exact", 12, {}),
    ("causalab/main_4", "exact", 12, {"evidence": "optimal"}),
    ("replayscm/ord_cert", "random exact", 8, {}),
    ("replayscm/block_cert", "random exact", 8, {}),
    ("replayscm/lab", "random exact", 6, {}),
    ("causalgame/antenna_trap", "null correlational one_factor exact", 8, {}),
    ("causalgame/weather_noise", "null correlational exact", 8, {}),
    ("recite/made_ladder", "null random co_mention pattern exact", 15, {}),
)
"""Suite, agents, instances, task arguments."""

JUDGES = ("perfect", "strong")


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for path, agents, limit, args in RUNS:
        made = reference_logs(find_suite(path), agents.split(), folder, limit, args)
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
