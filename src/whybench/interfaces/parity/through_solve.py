"""Play parity cases as recorded actions in a predictions file, the simplest interface."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from whybench.episode.action import parse_call
from whybench.episode.registry import families
from whybench.interfaces.parity.cases import ParityCase
from whybench.interfaces.parity.interface import Played
from whybench.interfaces.solve import read_predictions, score_predictions


class SolveInterface:
    """`whybench score SUITE PREDICTIONS`."""

    name = "solve"
    leaves = True

    def play(self, cases: Sequence[ParityCase]) -> Iterator[Played]:
        """Write predictions, read them as the command does, and score them."""
        with TemporaryDirectory() as folder:
            path = Path(folder) / "predictions.jsonl"
            for case in cases:
                instance = case.instance
                suite = families()[instance.family].suite(instance.suite, profile=instance.profile)
                actions = [parse_call(*call).to_json() for call in case.calls]
                path.write_text(json.dumps({"id": instance.id, "actions": actions}), "utf-8")
                predictions = read_predictions(suite, path)
                for result in score_predictions(suite, predictions, [instance]):
                    yield result.trace.to_json(), result.score.to_json(), None


INTERFACE = SolveInterface()
