"""Load on the MCP server over HTTP: paced, as fast as it goes, and through kills.

    python scripts/bench_mcp.py [--sessions 500] [--rate 300] [--seconds 60] [--bar-p95 250]
    python scripts/bench_mcp.py --saturate [--wire raw] [--workers 16]
    python scripts/bench_mcp.py --kill [--kills 3]

`whybench arena serve --http` runs in a process of its own with its store in a temporary folder.
Sessions of four families are held open with the official client, each over its own connection; an
episode that is over gives way to the next. Calls are sent at fixed times, whether or not earlier
ones were answered, and latency is counted from those times, so that a stall shows. Every reply is
held against the plain episode. With `--kill` the server gets SIGKILL in mid-run and is started
again on the same port and store; sessions go on, and each record must be that of the acknowledged
actions, replayed.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from itertools import chain
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import psutil
from mcp_load import Plan, Told, clients, scripts


class Server:
    """A server process that can be killed and started again."""

    def __init__(self, store: Path, unlimited: bool) -> None:
        self.store, self.port = store, 0
        self.more = ["--rate", "0", "--session-rate", "0"] if unlimited else []
        self.spent = 0.0
        self.kills: list[tuple[float, float]] = []
        """When it was killed, and when it listened again."""
        self.address = self._start()

    def _start(self) -> str:
        words = [
            sys.executable, "-m", "whybench", "arena", "serve", "--http", "--port", str(self.port),
            "--store", str(self.store), *self.more,
        ]  # fmt: skip
        self.run = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        self.process = psutil.Process(self.run.pid)
        address = self.run.stdout.readline().strip()
        if not address:
            raise SystemExit("the server did not start")
        self.port = int(address.rsplit(":", 1)[1].split("/")[0])
        return address

    @property
    def cpu(self) -> float:
        """Seconds of processor time so far, of killed processes too."""
        return self.spent + cpu(self.process)

    @property
    def memory(self) -> float:
        """Resident megabytes."""
        return round(self.process.memory_info().rss / 1e6, 1)

    def kill(self) -> None:
        self.spent = self.cpu
        killed = time.monotonic()
        os.kill(self.run.pid, signal.SIGKILL)
        self.run.wait()
        self._start()
        self.kills.append((killed, time.monotonic()))

    def stop(self) -> None:
        self.run.kill()
        self.run.wait()


def cpu(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def percentiles(seconds: list[float]) -> dict[str, float]:
    """Return what of all calls was answered within, in milliseconds."""
    ordered = sorted(seconds)
    at = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "max": 1.0}
    return {
        name: round(1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))], 1)
        for name, share in at.items()
        if ordered
    }


def tell(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


def await_all(links: list[Connection]) -> list[Any]:
    return [link.recv() for link in links]


def loaded(asked: argparse.Namespace, server: Server, plans: list[Plan]) -> dict[str, Any]:
    """Run clients against a server; return the report."""
    empty = server.memory
    context = multiprocessing.get_context("spawn")
    pipes = [context.Pipe() for _ in plans]
    processes = [
        context.Process(target=clients, args=(theirs, plan), daemon=True)
        for (_, theirs), plan in zip(pipes, plans, strict=True)
    ]
    for process, (_, theirs) in zip(processes, pipes, strict=True):
        process.start()
        theirs.close()
    links = [ours for ours, _ in pipes]
    began = time.monotonic()
    await_all(links)
    tell(f"{asked.sessions} sessions are open after {time.monotonic() - began:.1f} s")
    full, start = server.memory, time.monotonic() + 0.5
    watched = [psutil.Process(process.pid) for process in processes]
    time.sleep(0.4)
    server_before, clients_before = server.cpu, sum(map(cpu, watched))
    for link in links:
        link.send(start)
    for number in range(asked.kills if asked.kill else 0):
        moment = start + asked.seconds * (number + 1) / (asked.kills + 1)
        time.sleep(max(1.0, moment - time.monotonic()))
        server.kill()
    await_all(links)
    server_spent = server.cpu - server_before
    clients_spent = sum(map(cpu, watched)) - clients_before
    took = time.monotonic() - start
    at_end = server.memory
    tell(f"the run is over after {took:.1f} s; records are compared")
    for link in links:
        link.send(None)
    told: list[Told] = await_all(links)
    for process in processes:
        process.join()
    answers = sorted(chain.from_iterable(t.answers for t in told))
    counts = sum((t.counts for t in told), Counter())
    report = {
        "sessions": asked.sessions,
        "wire": asked.wire,
        "calls": len(answers),
        "calls_per_second": round(len(answers) / took, 1),
        "latency_ms": percentiles([answered - due for due, answered in answers]),
        "slowest_ms": slowest(told),
        "episodes_opened": sum(len(t.opens) for t in told),
        "open_ms": percentiles([span for t in told for span in t.opens]),
        "server_cpu_ms_per_call": round(1000 * server_spent / len(answers), 3),
        "client_cpu_ms_per_call": round(1000 * clients_spent / len(answers), 3),
        "server_mb": {"empty": empty, "sessions_open": full, "end": at_end},
        "errors": counts["errors"] + unexcused(told, server.kills),
        "differences": counts["differences"],
        "records_compared": counts["compared"],
    }
    if asked.kill:
        report["kills"] = [after(kill, told, answers) for kill in server.kills]
        names = ("lost", "resumed", "broken_calls", "carried_out", "not_carried_out")
        report |= {name: counts[name] for name in names}
    if wrong := list(chain.from_iterable(t.wrong for t in told)):
        report["wrong"] = wrong[:10]
    return report


def slowest(told: list[Told]) -> dict[str, float]:
    """Name the tools whose slowest call was slowest."""
    found: dict[str, float] = {}
    for what, span in chain.from_iterable(t.slowest.items() for t in told):
        found[what] = max(span, found.get(what, 0.0))
    ordered = sorted(found.items(), key=lambda item: -item[1])
    return {what: round(1000 * span, 1) for what, span in ordered[:4]}


def unexcused(told: list[Told], kills: list[tuple[float, float]]) -> int:
    """Count broken connections that no kill explains."""
    breaks = chain.from_iterable(t.breaks for t in told)
    return sum(not any(began < b and at >= a for a, b in kills) for began, at in breaks)


def after(
    kill: tuple[float, float], told: list[Told], answers: list[tuple[float, float]]
) -> dict[str, Any]:
    """Tell what became of the sessions that were open at a kill."""
    killed, listened = kill
    first = min((answered for _, answered in answers if answered > listened), default=None)
    spans = [span for t in told for span in t.spans]
    return {
        "open_sessions_that_went_on": sum(a < killed < b for a, b in spans),
        "listening_after_s": round(listened - killed, 2),
        "first_answer_after_s": None if first is None else round(first - killed, 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sessions", type=int, default=500)
    parser.add_argument("--rate", type=float, default=300.0, help="calls a second in all")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--wire", choices=("official", "raw"), default="official")
    parser.add_argument("--clients", type=int, default=2, help="processes that sessions are in")
    parser.add_argument("--instances", type=int, default=10, help="different ones of a suite")
    parser.add_argument("--saturate", action="store_true", help="as fast as it goes")
    parser.add_argument("--workers", type=int, default=16, help="calls at once, with --saturate")
    parser.add_argument("--kill", action="store_true", help="kill the server in mid-run")
    parser.add_argument("--kills", type=int, default=1)
    parser.add_argument("--bar-p95", type=float, help="milliseconds; exit 1 above")
    asked = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # the server goes with us
    prepared = tuple(scripts(asked.instances))
    rate = 0.0 if asked.saturate else asked.rate / asked.clients
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder) / "store.sqlite", unlimited=asked.saturate)
        try:
            plans = [
                Plan(
                    server.address, asked.wire, asked.sessions // asked.clients, prepared,
                    part * len(prepared) // asked.clients, asked.seconds, rate,
                    max(1, asked.workers // asked.clients), asked.kill,
                )
                for part in range(asked.clients)
            ]  # fmt: skip
            report = loaded(asked, server, plans)
        finally:
            server.stop()
    print(json.dumps(report, indent=2))
    if report["errors"] or report["differences"]:
        sys.exit("there were errors or differences")
    if asked.bar_p95 is not None and report["latency_ms"]["p95"] > asked.bar_p95:
        sys.exit(f"the 95th percentile misses its bar of {asked.bar_p95} ms")


if __name__ == "__main__":
    main()
