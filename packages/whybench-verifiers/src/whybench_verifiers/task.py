"""One instance as a task. It holds coordinates and instructions; the rest is rebuilt for play."""

from __future__ import annotations

import json
from typing import Any

import verifiers.v1 as vf

from whybench import Family, Instance, Session, Trace, installed_families
from whybench_verifiers.harness import WhyBenchHarnessConfig
from whybench_verifiers.playing import Pay, Playing

INFO = "whybench"
"""Key of a rollout's record in the `info` of its trace. The record contains `trace` and `score`
as JSON text, `last` and, if it was paid, `evidence`. `last` is the answer to the last call, which
is seldom part of a request."""


class WhyBenchData(vf.TaskData):
    """A row: the coordinates of an instance and the instructions, without the truth."""

    instance: dict[str, Any]
    """The coordinates without `cluster`, because it shows which instances share a system."""
    template: str
    """The prompt template."""
    pay: Pay = "sparse"
    """The reward: see `whybench.Meter`."""


class WhyBenchTask(vf.Task[WhyBenchData, Playing, vf.TaskConfig]):
    """A task that opens the episode, records it, and scores it with the family's scorer."""

    @property
    def key(self) -> str:
        """The id of the instance. It does not depend on the list."""
        return f"{self.data.instance['family']}/{self.data.instance['id']}"

    @property
    def family(self) -> Family[Any]:
        """The family of the instance."""
        return installed_families()[self.data.instance["family"]]

    async def setup(self, trace: vf.Trace, runtime: vf.Runtime) -> None:
        """Open the episode for a harness that can play it."""
        del runtime
        seat = trace.agent.config.harness
        if seat is not None and not isinstance(seat, WhyBenchHarnessConfig):
            raise ValueError(
                f"The harness {seat.id!r} cannot play an episode. Omit --env.agent.harness.id."
            )
        self._open(trace)

    async def finalize(self, trace: vf.Trace, runtime: vf.Runtime) -> None:
        """Record the episode as it is, whether it was stopped or is done."""
        del runtime
        self._open(trace)
        trace.info[INFO] = trace.state.record()

    async def validate(self, runtime: vf.Runtime) -> bool:
        """Check without a model that the exact agent reaches the `best_score` of the certificate.

        Where no bound is proven, it must at least get a score.
        """
        del runtime
        family, instance = self.family, self._instance()
        reached = family.score(instance, family.exact_run(instance)).values[family.headline]
        certificate = family.certify(instance)
        if certificate.status != "proven" or certificate.best_score is None:
            return reached is not None
        return bool(reached == certificate.best_score)

    @vf.metric
    async def components(self, trace: vf.Trace) -> dict[str, float]:
        """Note the score, and return the other metrics. A saved rollout is scored by its record."""
        record = trace.info[INFO]
        score = trace.state.score() if isinstance(trace.state, Playing) else None
        if score is None:
            played = Trace.from_json(json.loads(record["trace"]))
            score = self.family.score(self._instance(), played)
        record["score"] = json.dumps(score.to_json())
        values: dict[str, Any] = dict(score.values)
        headline = self.family.headline
        return {name: v for name, v in values.items() if v is not None and name != headline}

    @vf.reward(weight=1.0)
    async def headline(self, trace: vf.Trace) -> dict[str, float]:
        """Pay the headline metric and, for `dense`, the evidence. A missing value pays 0."""
        record = trace.info[INFO]
        name = self.family.headline
        rewards = {name: json.loads(record["score"])["values"].get(name) or 0.0}
        return rewards | {k: record[k] for k in ("evidence",) if k in record}

    def _instance(self) -> Instance:
        """Rebuild the instance. Reject it if this version of WhyBench builds another one."""
        return self.family.rebuilt(self.data.instance)

    def _open(self, trace: vf.Trace) -> None:
        trace.state.open(self._instance(), self.data.template, self.data.pay)


def task_of(
    instance: Instance,
    *,
    template: str | None = None,
    pay: Pay = "sparse",
    config: vf.TaskConfig | None = None,
) -> WhyBenchTask:
    """Return an instance as a task."""
    session = Session(instance, template)
    coordinates = {key: value for key, value in instance.to_json().items() if key != "cluster"}
    name = f"{instance.family}/{instance.id}"
    data = WhyBenchData(
        id=name,
        name=name,
        prompt=session.instructions,
        instance=coordinates,
        template=session.template,
        pay=pay,
    )
    return WhyBenchTask(data, config)
