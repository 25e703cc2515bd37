"""The client of OpenEnv with the types of WhyBench.

One connection is one session of the server. A session plays episodes one after another.
"""

from __future__ import annotations

from typing import Any

from openenv.core.client_types import StepResult
from openenv.core.env_client import EnvClient

from whybench_openenv.models import WhyBenchAction, WhyBenchObservation, WhyBenchState

__all__ = ["WhyBenchAction", "WhyBenchEnv", "WhyBenchObservation", "WhyBenchState"]


class WhyBenchEnv(EnvClient[WhyBenchAction, WhyBenchObservation, WhyBenchState]):
    """The client of a WhyBench server: `reset`, `step`, `state`, and `.sync()` for blocking loops.

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
