"""The environment that a run or a trainer loads: one seat and no sandbox."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import verifiers.v1 as vf


class WhyBenchEnvConfig(vf.SingleAgentEnvConfig):
    """One seat that plays in this process. The default of `verifiers` would use a sandbox."""

    agent: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())


class WhyBenchEnv(vf.SingleAgentEnv, vf.Env[WhyBenchEnvConfig]):
    """A WhyBench taskset with the seat that plays it."""


def load_environment(
    suite: str = "causallink/advanced",
    *,
    split: Literal["train", "eval", "all"] = "train",
    rows: int | None = None,
    endless: bool = False,
    reward: Literal["sparse", "dense"] = "sparse",
    template: str | None = None,
    suite_seed: str = "public",
    profile: Literal["certified", "published"] = "certified",
    parameters: Mapping[str, Any] | None = None,
    seed: int | None = None,
    **env: Any,
) -> WhyBenchEnv:
    """Return the environment of a suite. `WhyBenchConfig` explains the options.

    Further names are fields of the library's own `[env]` block, such as
    `agent={"max_turns": 40}`.
    """
    taskset = {
        "id": "whybench-verifiers",
        "suite": suite,
        "split": split,
        "rows": rows,
        "endless": endless,
        "reward": reward,
        "template": template,
        "suite_seed": suite_seed,
        "profile": profile,
        "parameters": dict(parameters or {}),
        "seed": seed,
    }
    loaded = vf.load_environment(vf.resolve_env_config({**env, "taskset": taskset}))
    assert isinstance(loaded, WhyBenchEnv)  # noqa: S101 - the id names our own class
    return loaded
