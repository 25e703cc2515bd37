"""The largest document all the way: `python scripts/bench_largest.py`.

140 nodes in 170,000 characters: made, proven, put into a prompt, answered by the oracle through
Inspect, judged in four passes by a scripted judge that has sat its exam, and reported. CPU time and
memory of the whole process; fails above `--seconds` or `--megabytes`.
"""

import argparse
import json
import os
import resource
import sys
import tempfile
import time
from dataclasses import replace

from inspect_ai import eval as inspect_eval
from inspect_ai.log import EvalLog

from whybench.episode.registry import load_suite
from whybench.families.recite import FAMILY
from whybench.families.recite.extras.judge.exam_task import recite_exam
from whybench.families.recite.extras.judge.scorer import graph_judge
from whybench.interfaces.inspectai.build import build
from whybench.interfaces.inspectai.instance_selection import listed
from whybench.judge.judged_logs import judged_tables

JUDGE = "whybench_judge/strong"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--megabytes", type=float, default=1000.0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_DATA_HOME"] = folder
        found = measured(folder)
    print(json.dumps(found, indent=2))
    within = found["cpu_seconds"] <= given.seconds and found["megabytes"] <= given.megabytes
    return 0 if within else 1


def measured(folder: str) -> dict[str, float]:
    parameters = {"nodes": 140, "length": 170_000}
    suite = replace(load_suite("recite/standard", parameters=parameters), size=1)
    start = time.process_time()
    instance = suite[0]
    assert FAMILY.certify(instance).defects() == []
    made = time.process_time()
    task = build(
        listed([suite]), "dialogue", "plain", "own", None, False, scorers=[graph_judge(JUDGE)]
    )
    log = ran(task, "whybench/oracle", folder)
    (sample,) = log.samples or ()
    assert sample.scores["episode_score"].value["edge_f1"] == 1.0
    judged = sample.scores["graph_judge"].value
    assert judged["incomplete"] == judged["judge_unreadable"] == 0
    answered = time.process_time()
    exam = ran(recite_exam(papers=2), JUDGE, folder)
    (table,) = judged_tables(log.location, [exam.location])
    return {
        "characters": len(FAMILY.world(instance).view.text),
        "gold_edges": len(FAMILY.world(instance).edges),
        "made_and_proven": made - start,
        "answered_and_judged": answered - made,
        "examined_and_reported": time.process_time() - answered,
        "cpu_seconds": time.process_time() - start,
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "report_lines": len(table.markdown().splitlines()),
    }


def ran(task: object, model: str, folder: str) -> EvalLog:
    (log,) = inspect_eval(task, model=model, display="none", log_dir=folder, log_realtime=False)
    assert log.status == "success", log.error
    return log


if __name__ == "__main__":
    sys.exit(main())
