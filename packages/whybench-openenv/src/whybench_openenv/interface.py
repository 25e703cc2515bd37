"""The interface for WhyBench's parity test. Calls go through a real server and client."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from whybench import Instance, Json
from whybench_openenv.running import running

if TYPE_CHECKING:
    from whybench import ParityCase

WAIT = 600.0
"""Maximum seconds that a reply may take."""


class OpenEnvInterface:
    """The server `whybench-openenv` and the client `WhyBenchEnv` over its WebSocket."""

    name = "openenv"
    leaves = True
    """True: an action with `finish` leaves the episode, which is then scored as it is."""

    def play(self, cases: Sequence[ParityCase]) -> Iterator[tuple[Json, Json, list[str]]]:
        """Make the calls of each case, and yield its trace, its score and the texts shown."""
        # The library takes seconds to load, so it is imported only for play.
        from whybench_openenv.client import WhyBenchAction, WhyBenchEnv

        with running() as address:
            client = WhyBenchEnv(address, connect_timeout_s=60, message_timeout_s=WAIT).sync()
            with client:
                for case in cases:
                    told = [client.reset(**coordinates(case.instance)).observation.text]
                    for name, args in case.calls:
                        result = client.step(WhyBenchAction(name=name, args=args))
                        told.append(result.observation.text)
                    last = client.step(WhyBenchAction(finish=True)).observation
                    yield json.loads(last.trace or "null"), last.score, told


def coordinates(instance: Instance) -> dict[str, Json]:
    """Return the arguments of `reset` that open an episode on an instance."""
    return {
        "instance": f"{instance.family}/{instance.id}",
        "profile": instance.profile,
        "suite_seed": instance.seed,
        "parameters": instance.to_json()["parameters"],
    }


INTERFACE = OpenEnvInterface()
