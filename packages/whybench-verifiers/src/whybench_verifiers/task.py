"""One instance as a task: coordinates and instructions; the rest is rebuilt for play."""

from __future__ import annotations

import json
from typing import Any

import verifiers.v1 as vf

from whybench import Family, Instance, Session, Trace, installed_families
from whybench_verifiers.harness import WhyBenchHarnessConfig
from whybench_verifiers.playing import Pay, Playing

INFO = "whybench"
"""Where a rollout's record stands in its trace's `info`: `trace` and `score`, each as JSON
text; `last`, the words that answered the last call, which seldom stand in a request; and
`evidence` if it was paid."""


class WhyBenchData(vf.TaskData):
    """A row: where to find the instance, and what the model is told of it. No truth."""

    instance: dict[str, Any]
    """The instance's coordinates, without `cluster`: it tells which instances are alike."""
    template: str
    """The words in which it is told."""
    pay: Pay = "sparse"
    """What is rewarded: see `whybench.Meter`."""


class WhyBenchTask(vf.Task[WhyBenchData, Playing, vf.TaskConfig]):
    """Opens the episode, writes it down, and has the family's scorer judge it."""

    @property
    def key(self) -> str:
        """The instance's name: the same whatever list it was found in."""
        return f"{self.data.instance['family']}/{self.data.instance['id']}"

    @property
    def family(self) -> Family[Any]:
        """The family the instance belongs to."""
        return installed_families()[self.data.instance["family"]]

    async def setup(self, trace: vf.Trace, runtime: vf.Runtime) -> None:
        """Open the episode for a harness that knows how to play it."""
        del runtime
        seat = trace.agent.config.harness
        if seat is not None and not isinstance(seat, WhyBenchHarnessConfig):
            raise ValueError(
                f"the harness {seat.id!r} cannot play an episode: leave --env.agent.harness.id out"
            )
        self._open(trace)

    async def finalize(self, trace: vf.Trace, runtime: vf.Runtime) -> None:
        """Write the episode down as it stands, stopped or done."""
        del runtime
        self._open(trace)
        trace.info[INFO] = trace.state.record()

    async def validate(self, runtime: vf.Runtime) -> bool:
        """Check without a model that the best score which is proven can be reached."""
        del runtime
        family, instance = self.family, self._instance()
        reached = family.score(instance, family.exact_run(instance)).values[family.headline]
        return bool(reached == family.certify(instance).best_score)

    @vf.metric
    async def components(self, trace: vf.Trace) -> dict[str, float]:
        """Note the score (of a saved rollout from its record); return the other metrics."""
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
        """Pay the headline metric, and under `dense` the evidence; what does not apply pays 0."""
        record = trace.info[INFO]
        name = self.family.headline
        rewards = {name: json.loads(record["score"])["values"].get(name) or 0.0}
        return rewards | {k: record[k] for k in ("evidence",) if k in record}

    def _instance(self) -> Instance:
        """Rebuild the instance, or refuse one that this WhyBench would make otherwise."""
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
