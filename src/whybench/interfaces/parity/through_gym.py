"""Play parity cases through gymnasium: `reset` with the instance, `step` with a JSON line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import gymnasium

from whybench.episode.registry import families
from whybench.interfaces.gym import environment_id
from whybench.interfaces.gym.environment import EpisodeEnv
from whybench.interfaces.parity.cases import ParityCase
from whybench.interfaces.parity.interface import Played


class GymInterface:
    """`gymnasium.make("WhyBench/FAMILY-SUITE-vN")`."""

    name = "gym"
    leaves = True

    def play(self, cases: Sequence[ParityCase]) -> Iterator[Played]:
        """Step through each case. A case that is left open is scored as it is."""
        for case in cases:
            i = case.instance
            name = environment_id(families()[i.family], i.suite)
            if name in gymnasium.registry:
                made = gymnasium.make(name, profile=i.profile, endless=True)
            else:  # a suite of profile `published` alone
                made = EpisodeEnv(f"{i.family}/{i.suite}", profile=i.profile, endless=True)
            observed, info = made.reset(options={"instance": f"{i.family}/{i.id}"})
            texts, score = [observed["text"]], None
            for name, args in case.calls:
                line = json.dumps({"name": name, "args": args})
                observed, _, _, _, info = made.step(line)
                texts.append(observed["text"])
                score = score or info.get("score")
            session = made.unwrapped.session  # type: ignore[attr-defined]  # our own environment
            yield session.trace.to_json(), (score or session.score()).to_json(), texts
            made.close()


INTERFACE = GymInterface()
