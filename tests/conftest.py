"""Settings of all tests, and the tiers: see CONTRIBUTING.md."""

import re
from pathlib import Path

import pytest
from hypothesis import settings

# A shared machine may stop for half a second: time is measured by benchmarks, not by examples.
settings.register_profile("whybench", deadline=None, derandomize=True)
settings.load_profile("whybench")

WHOLE = re.compile(r"^pytestmark = (?:\[\s*)?pytest\.mark\.(\w+)", re.MULTILINE)
"""How a module says that all its tests belong to one tier: its first mark."""


def pytest_configure(config: pytest.Config) -> None:
    """Run tests of any tier where the command line names files or tests and no `-m`."""
    default = config.getini("addopts")[-1]
    named = all(argument.partition("::")[0].endswith(".py") for argument in config.args)
    if named and config.option.markexpr == default:
        config.option.markexpr = ""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave a module, and the engine that it imports, alone if none of its tests would be run."""
    if not (collection_path.name.startswith("test_") and collection_path.suffix == ".py"):
        return None
    tier = WHOLE.search(collection_path.read_text("utf-8"))
    return True if tier and f"not {tier[1]}" in config.option.markexpr else None
