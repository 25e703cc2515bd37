"""PostgreSQL for the tests of the server: one cluster for a run, one empty database for a test."""

import importlib.util
import os
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

SCRIPTS = Path(__file__).parents[3] / "scripts"
_NUMBERS = count()


def parts() -> Any:
    """Load `scripts/arena_parts.py`."""
    spec = importlib.util.spec_from_file_location("arena_parts", SCRIPTS / "arena_parts.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    """Start PostgreSQL. CI requires it; elsewhere its tests are skipped if it is missing."""
    found = parts()
    if os.environ.get("WHYBENCH_REQUIRE_ARENA") != "1":
        pytest.importorskip("psycopg")
        if found.program("initdb") is None:
            pytest.skip("PostgreSQL is not installed")
    running = found.Postgres(fsync=False)
    yield running
    running.stop()


@pytest.fixture
def database(cluster: Any) -> Any:
    """Return the URL of an empty database."""
    import psycopg

    name = f"test{next(_NUMBERS)}"
    with psycopg.connect(cluster.url, autocommit=True) as base:
        base.execute(f"CREATE DATABASE {name}")
    return cluster.url.removesuffix("/postgres") + f"/{name}"
