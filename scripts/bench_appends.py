"""Appends per second: the store against bare psycopg with the same batches, in one run.

    python scripts/bench_appends.py [--sessions 32] [--seconds 5] [--rounds 3] [--bar 0.8]

The bare side sends one `INSERT … SELECT FROM unnest` for each batch of as many rows as there are
sessions, without counters, on one connection. The store counts, compares and inserts, and its
threads wait for one another. Rounds of both take turns, because the machine may be shared.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import psycopg
from arena_parts import Postgres

from whybench.interfaces.mcp.store.postgres import PostgresStore

ACTION = '{"name": "hold", "args": {"shape": "triangle"}}'


def bare(url: str, sessions: int, seconds: float) -> float:
    """Return the rows per second of plain batches."""
    done, number = 0, 0
    with psycopg.connect(url, autocommit=True) as base:
        base.execute("DROP TABLE IF EXISTS plain")
        base.execute(
            "CREATE TABLE plain (attempt bigint, number integer, action text, at float8, "
            "PRIMARY KEY (attempt, number))"
        )
        statement = (
            "INSERT INTO plain SELECT * FROM unnest(%s::bigint[], %s::integer[], %s::text[], "
            "%s::float8[])"
        )
        began = time.monotonic()
        while time.monotonic() - began < seconds:
            columns = [list(range(sessions)), [number] * sessions, [ACTION] * sessions]
            base.execute(statement, (*columns, [1.0] * sessions))
            done, number = done + sessions, number + 1
        return done / (time.monotonic() - began)


def stored(store: PostgresStore, sessions: int, seconds: float, part: int) -> float:
    """Return the appends per second of as many threads as sessions."""
    attempts = []
    for index in range(sessions):
        key, where = f"{part}-{index}", {"family": "f", "suite": "s", "id": f"s-{part}-{index}"}
        store.begin(key, "", 0.0)
        attempts.append(store.open(key, 0, where, "", "x", "", time.time()).id)
    began = time.monotonic()

    def appended(attempt: int) -> int:
        number = 0
        while time.monotonic() - began < seconds:
            store.append(attempt, number, ACTION, False, 1.0)
            number += 1
        return number

    with ThreadPoolExecutor(sessions) as pool:
        done = sum(pool.map(appended, attempts))
    return done / (time.monotonic() - began)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sessions", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--bar", type=float, help="share of the bare rate; exit 1 below")
    asked = parser.parse_args()
    database = Postgres()
    try:
        store = PostgresStore(database.url)
        ratios = []
        for part in range(asked.rounds):
            spent = [time.process_time()]
            plain = bare(database.url, asked.sessions, asked.seconds)
            spent.append(time.process_time())
            ours = stored(store, asked.sessions, asked.seconds, part)
            spent.append(time.process_time())
            ratios.append(ours / plain)
            cpu = [
                1000 * (after - before) / (rate * asked.seconds)
                for before, after, rate in zip(spent, spent[1:], (plain, ours), strict=False)
            ]
            print(
                f"bare {plain:.0f}/s ({cpu[0]:.3f} ms CPU), store {ours:.0f}/s "
                f"({cpu[1]:.3f} ms CPU), ratio {ratios[-1]:.2f}"
            )
        store.shut()
    finally:
        database.stop()
    ratio = statistics.median(ratios)
    print(f"median ratio {ratio:.2f} at {asked.sessions} sessions")
    if asked.bar is not None and ratio < asked.bar:
        sys.exit(f"the ratio misses its bar of {asked.bar}")


if __name__ == "__main__":
    main()
