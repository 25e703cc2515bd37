"""Define a run: one system on one suite, from one log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from whybench.causal.canonical import canonical_json
from whybench.episode.family import Family

REFERENCE = "whybench/"
"""Models of this provider are reference agents."""


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """One system on the instances of one suite, from one log."""

    log: str
    """The log's file name."""
    path: str
    model: str
    family: Family[Any]
    suite: str
    """`family/suite`."""
    profile: str
    seed: str
    parameters: Mapping[str, Any]
    """Parameters that differ from their defaults."""
    version: str
    """The family's version, then that of WhyBench."""
    task: str
    """The task's registered name, such as `whybench/causallink`."""
    args: Mapping[str, Any]
    """Task arguments, defaults included."""
    passed: Mapping[str, Any]
    """Task arguments that were given."""
    created: str
    frame: pd.DataFrame
    system: str = ""
    """Name to show: the model, and the settings in which its runs differ."""
    packages: Mapping[str, str] = field(default_factory=dict)
    config: Mapping[str, Any] = field(default_factory=dict)
    """Settings that were given, such as temperature, model roles and limits."""

    @property
    def reference(self) -> bool:
        """Whether a reference agent played."""
        return self.model.startswith(REFERENCE)

    @property
    def evidence(self) -> str:
        """Evidence mode: whose experiments the system used."""
        return str(self.args.get("evidence") or "own")

    @property
    def protocol(self) -> str:
        """Form of the replies."""
        return str(self.args.get("protocol", ""))

    @property
    def template(self) -> str:
        """Prompt template."""
        return str(self.args.get("template", ""))

    @property
    def setting(self) -> tuple[str, str, str, str, str]:
        """Values that two runs must share to have the same instances."""
        version = self.version.partition("-")[0]
        return self.suite, version, self.profile, self.seed, canonical_json(self.parameters)
