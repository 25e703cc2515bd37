"""What the tests of interfaces share: an episode is the same through each."""

import math

from inspect_ai.log import EvalLog

from whybench.causal.canonical import canonical_json, thaw
from whybench.episode.episode import play
from whybench.episode.family import Family
from whybench.interfaces.inspectai.record import EPISODE, from_store


def assert_the_plain_interface(family: Family, suite: str, log: EvalLog, count: int) -> list[dict]:
    """Check that a log of the exact agent holds the traces and scores of the plain interface."""
    samples = {sample.id: sample for sample in log.samples}
    values = []
    for index in range(count):
        instance = family.suite(suite)[index]
        trace = play(family.open(instance), family.agent("exact", instance))
        sample = samples[instance.id]
        logged = from_store(family, instance, sample.store[EPISODE])
        assert canonical_json(logged.to_json()) == canonical_json(trace.to_json())
        plain, score = family.score(instance, trace), sample.scores["episode_score"]
        assert score.answer == plain.outcome == "answered"
        assert score.metadata == thaw(plain.labels)
        own = plain.values.asdict() | {"understood": family.understood(plain.values), "unusable": 0}
        for name, value in score.value.items():
            same = own[name]
            assert value == same or (math.isnan(value) and same is None), name
        values.append(score.value)
    return values
