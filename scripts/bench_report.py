"""Time, memory and page size of `whybench report`, on 10,000 samples of all five families.

Run it with `python scripts/bench_report.py`; `--logs FOLDER` keeps the logs there and uses them the
next time. Reference agents play every suite through Inspect; further systems are made of their
finished logs: each sample is taken from the exact agent with a fixed chance and else from a weaker
one, and Inspect writes them under another model's name. So instances, traces and scores are real,
systems are made up, and their logs have no summary of results, which a report would reject.
The bar of time is held against CPU time: machines are shared, and wall time is printed beside it.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

from inspect_ai.log import EvalLog, list_eval_logs, read_eval_log, write_eval_log

from whybench.causal.seeds import Stream
from whybench.episode.registry import load_suite
from whybench.interfaces.inspectai.runner import reference_logs

BARS = (120.0, 4.0, 25.0)
"""Seconds of CPU time, GB of memory, MB of page."""


@dataclass(frozen=True)
class Share:
    """Instances of one suite, the agents that play them, and how many systems they make up."""

    suite: str
    instances: int
    agents: tuple[str, ...]
    systems: int


SHARES = (
    Share("causallink/advanced", 400, ("null", "random", "first_listed", "exact"), 9),
    *(
        Share(f"causalab/main_{n}", 50, ("null", "random", "by_size", "regression", "exact"), 10)
        for n in (3, 4, 5, 6)
    ),
    *(
        Share(f"replayscm/{name}", 100, ("null", "random", "structure_dsl", "exact"), 9)
        for name in ("ord_cert", "hid_cert")
    ),
    Share("causalgame/antenna", 60, ("null", "random", "correlational", "exact"), 10),
    Share("recite/short", 200, ("null", "random", "co_mention", "pattern", "exact"), 10),
)


def make(share: Share, folder: Path) -> None:
    """Write the logs of one suite."""
    paths = reference_logs(load_suite(share.suite), share.agents, folder, share.instances)
    logs = {log.eval.model.rpartition("/")[2]: log for log in map(read_eval_log, paths)}
    weak = [logs[agent] for agent in share.agents if agent != "exact"]
    for place in range(share.systems - len(share.agents)):
        mixed(share, place, weak[-1 - place % len(weak)], logs["exact"], folder)


def mixed(share: Share, place: int, weak: EvalLog, exact: EvalLog, folder: Path) -> None:
    """Write the log of a made-up system that is as good as the exact agent now and then."""
    model = f"made/system-{place + 1}"
    chance = (place + 1) / (share.systems - len(share.agents) + 1)
    stream = Stream("bench report", share.suite, place)
    name = f"{share.suite}-{place + 1}".replace("/", "-").replace("_", "-")
    ids = dict.fromkeys(("eval_id", "run_id", "task_id"), name)
    head = weak.eval.model_copy(update={"model": model, **ids})
    best = {(sample.id, sample.epoch): sample for sample in exact.samples or ()}
    samples = []
    for number, sample in enumerate(weak.samples or ()):
        taken = best[sample.id, sample.epoch] if stream.uniform() < chance else sample
        usage = {model: next(iter(taken.model_usage.values()))}
        changed = {"uuid": f"{name}-{number}", "model_usage": usage}
        samples.append(taken.model_copy(update=changed))
    results = weak.results and weak.results.model_copy(update={"scores": []})
    update = {"eval": head, "samples": samples, "results": results, "reductions": None}
    log = weak.model_copy(update=update)
    stem = Path(weak.location).name.partition("_")[0]
    write_eval_log(log, str(folder / f"{stem}_{share.suite.partition('/')[0]}_{name}.eval"))


def measured(folder: Path, page: Path, *more: str) -> dict[str, float]:
    """Write the report in a process of its own; return what it took."""
    words = [sys.executable, "-m", "whybench", "report", str(folder), "-o", str(page), "--json"]
    words += more
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(words, capture_output=True, text=True)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(done.stderr)
    told = json.loads(done.stdout)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {
        "wall_seconds": round(wall, 1),
        "cpu_seconds": round(cpu, 1),
        "peak_gb": round(after.ru_maxrss / 1024**2, 2),
        "page_mb": round(told["bytes"] / 1e6, 1),
        "figures": told["figures"] // 3,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--logs", type=Path, help="where the logs are, or shall be")
    parser.add_argument("--bars", type=float, nargs=3, default=BARS, help="seconds, GB, MB")
    parser.add_argument("--page", type=Path, help="where the page goes; it is not kept otherwise")
    parser.add_argument("--part", type=float, default=1.0, help="part of the instances")
    parser.add_argument("--trust-scores", action="store_true", help="do not replay the scores")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        os.environ.setdefault("XDG_DATA_HOME", scratch)
        folder = given.logs or Path(scratch) / "logs"
        began = time.process_time()
        if not (folder.exists() and list_eval_logs(str(folder))):
            for share in SHARES:
                make(replace(share, instances=round(share.instances * given.part)), folder)
                print(f"{share.suite}: {time.process_time() - began:.0f} s", file=sys.stderr)
        heads = [read_eval_log(info, header_only=True) for info in list_eval_logs(str(folder))]
        samples = sum(len(head.eval.dataset.sample_ids or ()) for head in heads)
        page = given.page or Path(scratch) / "report.html"
        found = {"logs": len(heads), "samples": samples}
        found |= measured(folder, page, *(["--trust-scores"] if given.trust_scores else []))
    print(json.dumps(found, indent=2))
    names = ("cpu_seconds", "peak_gb", "page_mb")
    missed = [name for name, bar in zip(names, given.bars, strict=True) if found[name] >= bar]
    for name in missed:
        print(f"{name} misses its bar", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
