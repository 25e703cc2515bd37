"""The client: OpenEnv's own, with our values.

One connection is one session of the server: episodes follow one another on it.
"""

from __future__ import annotations

from typing import Any

from openenv.core.client_types import StepResult
from openenv.core.env_client import EnvClient

from whybench_openenv.models import WhyBenchAction, WhyBenchObservation, WhyBenchState

__all__ = ["WhyBenchAction", "WhyBenchEnv", "WhyBenchObservation", "WhyBenchState"]


class WhyBenchEnv(EnvClient[WhyBenchAction, WhyBenchObservation, WhyBenchState]):
    """`reset`, `step` and `state` of a server of WhyBench; `.sync()` for loops that do not await.

    `reset` takes `seed`, `index` or `instance`, and the names of `Options`.
    """

    def _step_payload(self, action: WhyBenchAction) -> dict[str, Any]:
        sent: dict[str, Any] = action.model_dump(exclude_unset=True)
        return sent

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[WhyBenchObservation]:
        reward, done = payload.get("reward"), bool(payload.get("done"))
        told = payload.get("observation") or {}
        observation = WhyBenchObservation(**told, reward=reward, done=done)
        return StepResult(observation, reward, done)

    def _parse_state(self, payload: dict[str, Any]) -> WhyBenchState:
        return WhyBenchState(**payload)
