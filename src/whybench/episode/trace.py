"""The record of an episode: enough to replay and re-score it without a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from whybench.causal.canonical import Json
from whybench.episode.action import Action
from whybench.episode.observation import Observation

Evidence = Literal["own", "optimal", "yoked", "given", "fetched"]
"""What the agent worked from: its own experiments, the exact experimenter's, another run's, or a
record that is part of the problem, given in the prompt or fetched with tools."""

EVIDENCE: tuple[Evidence, ...] = get_args(Evidence)


@dataclass(frozen=True, slots=True)
class Step:
    """One action with its observation.

    Examples:
        >>> import whybench as wb
        >>> result = next(wb.solve(wb.load_suite("causallink/core"), "exact"))
        >>> result.trace.steps[-1].action.name
        'answer'

    """

    action: Action
    """What the agent did."""
    observation: Observation
    """What the agent got back."""


@dataclass(frozen=True, slots=True)
class Trace:
    """The record of one episode. Scores are computed from it and the instance alone.

    Examples:
        >>> import whybench as wb
        >>> trace = next(wb.solve(wb.load_suite("causallink/core"), "exact")).trace
        >>> wb.Trace.from_json(trace.to_json()) == trace, trace.outcome
        (True, 'answered')

    """

    instance: str
    """The id of the instance."""
    steps: tuple[Step, ...]
    """The actions with their observations, in order."""
    given: int = 0
    """The number of first steps that were given as evidence, not chosen by the agent."""
    evidence: Evidence = "own"
    """What the agent worked from: `own`, `optimal`, `yoked`, `given` or `fetched`."""
    outcome: str | None = None
    """How the episode ended: `answered` or an error mode; None if it has not ended."""

    @property
    def actions(self) -> tuple[Action, ...]:
        """The actions without observations. With the instance they determine everything else."""
        return tuple(step.action for step in self.steps)

    def to_json(self) -> dict[str, Json]:
        """Return the trace as JSON data.

        Returns:
            The data, which `from_json` reads.

        """
        return {
            "instance": self.instance,
            "evidence": self.evidence,
            "given": self.given,
            "outcome": self.outcome,
            "steps": [
                {"action": s.action.to_json(), "observation": s.observation.to_json()}
                for s in self.steps
            ],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Trace:
        """Rebuild a trace from `to_json`.

        Args:
            data: JSON data of a trace.

        Returns:
            The trace.

        Raises:
            ValueError: `evidence` is unknown.

        """
        if data["evidence"] not in EVIDENCE:
            raise ValueError(f"evidence {data['evidence']!r} is none of {', '.join(EVIDENCE)}")
        return cls(
            instance=data["instance"],
            steps=tuple(
                Step(Action.from_json(s["action"]), Observation.from_json(s["observation"]))
                for s in data["steps"]
            ),
            given=data["given"],
            evidence=data["evidence"],
            outcome=data["outcome"],
        )
