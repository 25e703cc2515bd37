"""Gymnasium: `reset` on the instance, `step` with a line of JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import gymnasium

import whybench.interfaces.gym  # noqa: F401 - registers the environments
from whybench.core.canonical import Json
from whybench.interfaces.parity.cases import Case


class GymDoor:
    """`gymnasium.make("WhyBench/FAMILY-SUITE-vN")`."""

    name = "gym"
    leaves = True

    def play(self, cases: Sequence[Case]) -> Iterator[tuple[Json, Json]]:
        """Step through each case; a case that is left open is scored as it stands."""
        for case in cases:
            i = case.instance
            made = gymnasium.make(
                f"WhyBench/{i.family}-{i.suite}-v{i.version}", profile=i.profile, endless=True
            )
            made.reset(options={"instance": f"{i.family}/{i.id}"})
            score = None
            for name, args in case.calls:
                _, _, terminated, _, info = made.step(json.dumps({"name": name, "args": args}))
                if terminated:
                    score = info["score"].to_json()
                    break
            session = made.unwrapped.session  # type: ignore[attr-defined]  # our own environment
            yield session.trace.to_json(), score or session.score().to_json()
            made.close()


DOOR = GymDoor()
