"""Kill the parts of an arena in turn, and check that no acknowledged action is lost.

    python scripts/kill_arena.py [--sessions 1000] [--rate 100] [--seconds 60] [--kills 20]

Two server processes share one PostgreSQL behind HAProxy. Each kill is SIGKILL of the first server,
the second one, or PostgreSQL with all its processes, in turn; the part is started again at once.
Sessions go on over new connections. Every reply is compared with the plain episode, and every
record with a replay of the actions that were acknowledged. At the end, every attempt of the
database is replayed: its counter, its actions and its numbers must agree.
"""

from __future__ import annotations

import argparse
import http.client
import json
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from itertools import cycle
from pathlib import Path

import psutil
import psycopg
from arena_parts import Postgres, Proxy, free_port
from bench_mcp import cpu, loaded
from mcp_load import SUITES, Plan, scripts


class Process:
    """One server process on a fixed port."""

    def __init__(self, name: str, store: str) -> None:
        self.name, self.store, self.port = name, store, free_port()
        self.start()

    def start(self) -> None:
        words = [
            sys.executable, "-m", "whybench", "arena", "serve", "--http", "--port", str(self.port),
            "--store", self.store, "--shard", self.name, "--rate", "0", "--session-rate", "0",
        ]  # fmt: skip
        self.run = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        self.process = psutil.Process(self.run.pid)
        if not self.run.stdout.readline():
            raise SystemExit("a server did not start")

    def kill(self) -> None:
        self.run.kill()
        self.run.wait()
        self.start()

    def ready(self) -> bool:
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        line.request("GET", "/readyz")
        return line.getresponse().status == 200


class Arena:
    """All parts, as the server that `bench_mcp` loads."""

    def __init__(self, folder: Path, *, fsync: bool) -> None:
        self.database = Postgres(fsync=fsync)
        self.servers = [Process(name, self.database.url) for name in ("s1", "s2")]
        self.proxy = Proxy(folder, [server.port for server in self.servers])
        while not all(server.ready() for server in self.servers):
            time.sleep(0.2)
        time.sleep(1.0)  # the proxy asks every half second
        self.address = f"http://127.0.0.1:{self.proxy.port}/mcp"
        self._next = cycle([*self.servers, self.database])
        self._spent = 0.0
        self.kills: list[tuple[float, float]] = []
        self.killed: Counter[str] = Counter()

    @property
    def cpu(self) -> float:
        return self._spent + sum(cpu(server.process) for server in self.servers)

    @property
    def memory(self) -> float:
        return round(sum(s.process.memory_info().rss for s in self.servers) / 1e6, 1)

    def kill(self) -> None:
        part = next(self._next)
        if isinstance(part, Process):
            self._spent += cpu(part.process)
        killed = time.monotonic()
        part.kill()
        self.kills.append((killed, time.monotonic()))
        self.killed[getattr(part, "name", "postgres")] += 1

    def checked(self) -> dict[str, int]:
        """Compare counters, rows and replays of all attempts."""
        from whybench.interfaces.mcp.store.postgres import PostgresStore
        from whybench.interfaces.mcp.store.receipts import results

        with psycopg.connect(self.database.url) as base:
            wrong = base.execute(
                "SELECT count(*) FROM attempts a WHERE count <> (SELECT count(*) FROM actions x "
                "WHERE x.attempt = a.id) OR count <> (SELECT coalesce(max(number) + 1, 0) "
                "FROM actions x WHERE x.attempt = a.id)"
            ).fetchone()
        store = PostgresStore(self.database.url)
        told = list(results(store))
        counts = [found.count for found in store.attempts()]
        store.shut()
        steps = [len(t["trace"]["steps"]) if "trace" in t else -1 for t in told]
        return {
            "attempts": len(told),
            "actions": sum(counts),
            "wrong_counters": wrong[0] if wrong else -1,
            "attempts_that_differ_from_their_replay": sum(
                a != b for a, b in zip(steps, counts, strict=True)
            ),
        }

    def stop(self) -> None:
        self.proxy.stop()
        for server in self.servers:
            server.run.kill()
            server.run.wait()
        self.database.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sessions", type=int, default=1000)
    parser.add_argument("--rate", type=float, default=100.0, help="calls a second in all")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--instances", type=int, default=10, help="different ones of a suite")
    parser.add_argument("--family", help="play one family instead of four")
    parser.add_argument("--no-fsync", action="store_true", help="faster; a kill loses nothing yet")
    asked = parser.parse_args()
    asked.kill, asked.wire = True, "raw"
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # the parts go with us
    family = asked.family or ""
    suites = {path: share for path, share in SUITES.items() if path.startswith(family)}
    prepared = tuple(scripts(asked.instances, suites))
    with tempfile.TemporaryDirectory() as folder:
        arena = Arena(Path(folder), fsync=not asked.no_fsync)
        try:
            plan = Plan(
                arena.address, asked.wire, asked.sessions, prepared, 0, asked.seconds, asked.rate,
                0, records=True,
            )  # fmt: skip
            report = loaded(asked, arena, [plan])
            report |= {"killed": dict(arena.killed), "store": arena.checked()}
        finally:
            arena.stop()
    print(json.dumps(report, indent=2))
    store = report["store"]
    bad = [report["errors"], report["differences"], report["lost"], store["wrong_counters"]]
    if any(bad) or store["attempts_that_differ_from_their_replay"]:
        sys.exit("actions were lost, done twice or changed")


if __name__ == "__main__":
    main()
