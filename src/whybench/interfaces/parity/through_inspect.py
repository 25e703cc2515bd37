"""Play parity cases through Inspect. A scripted provider makes the calls."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import groupby
from tempfile import TemporaryDirectory

from inspect_ai import eval as inspect_eval
from inspect_ai.log import EvalSample
from inspect_ai.model import get_model

from whybench.episode.instance import Instance
from whybench.episode.registry import families
from whybench.interfaces.inspectai.build import build
from whybench.interfaces.inspectai.instance_selection import Chosen
from whybench.interfaces.inspectai.metrics import UNDERSTOOD, UNUSABLE
from whybench.interfaces.inspectai.record import EPISODE, from_store, located
from whybench.interfaces.inspectai.solver import TOOLS
from whybench.interfaces.parity.cases import ParityCase
from whybench.interfaces.parity.interface import Played


class InspectInterface:
    """`inspect eval whybench/FAMILY -T protocol=tools`."""

    name = "inspect"
    leaves = False
    """False: Inspect asks a model that calls tools again until the episode or a limit ends."""

    def play(self, cases: Sequence[ParityCase]) -> Iterator[Played]:
        """Run one task per family and profile, and read trace and score from its log."""
        for _, group in groupby(cases, key=lambda case: case.instance.family):
            some = list(group)
            played: dict[str, Iterator[Played]] = {
                profile: self._task([case for case in some if case.instance.profile == profile])
                for profile in {case.instance.profile for case in some}
            }
            yield from (next(played[case.instance.profile]) for case in some)

    def _task(self, cases: Sequence[ParityCase]) -> Iterator[Played]:
        first = cases[0].instance
        family = families()[first.family]
        rows = _Rows([case.instance for case in cases])
        suite = family.suite(first.suite, profile=first.profile)
        found = Chosen(suite, rows, range(len(rows)))
        task = build(found, TOOLS, None, "own", None, schema=False)
        script = {
            case.instance.id: [{"tool": name, "args": args} for name, args in case.calls]
            for case in cases
        }
        with TemporaryDirectory() as folder:
            log = inspect_eval(
                task,
                model=get_model("whybench/script", memoize=False, replies=script),
                log_dir=folder,
                display="none",
                log_realtime=False,
                score_display=False,
            )[0]
            if log.status != "success":
                raise RuntimeError(f"the run ended with {log.status}: {log.error}")
            samples = {sample.id: sample for sample in log.samples or ()}
        for case in cases:
            yield _read(samples[case.instance.id])


def _read(sample: EvalSample) -> Played:
    """Return the result in a sample of a log. Score details are recomputed from the trace."""
    family, instance = located(sample.metadata)
    trace = from_store(family, instance, sample.store[EPISODE])
    logged = (sample.scores or {})["episode_score"]
    kept = {metric.name for metric in family.metrics if metric.role != "detail"}
    values = {
        name: None if isinstance(value, float) and math.isnan(value) else value
        for name, value in logged.as_dict().items()
        if name in kept or name not in (UNDERSTOOD, UNUSABLE)
    }
    if values.keys() == kept:
        again = family.score(instance, trace).to_json()["values"]
        values = {name: values.get(name, value) for name, value in again.items()}
    score = {"outcome": logged.answer, "values": values, "labels": logged.metadata}
    instructions = next(message.text for message in sample.messages if message.role == "user")
    replies = [message.text for message in sample.messages if message.role == "tool"]
    return trace.to_json(), score, [instructions, *replies]


class _Rows:
    """Instances of any suites of a family, in the form that a task needs."""

    def __init__(self, instances: Sequence[Instance]) -> None:
        self._instances = instances

    def __len__(self) -> int:
        return len(self._instances)

    def instance(self, position: int) -> Instance:
        """Return the instance at a position."""
        return self._instances[position]

    def names(self, positions: Sequence[int]) -> Iterator[str]:
        """Yield ids."""
        return (self._instances[position].id for position in positions)


INTERFACE = InspectInterface()
