"""All interfaces give the same episodes: `whybench dev parity` with few instances."""

import os
from collections import Counter
from collections.abc import Iterator, Sequence

import pytest

from whybench.causal.canonical import Json
from whybench.episode.action import parse_call
from whybench.episode.registry import families
from whybench.interfaces.parity.cases import ParityCase, parity_cases
from whybench.interfaces.parity.check import parity_differences
from whybench.interfaces.parity.interface import interfaces

pytestmark = pytest.mark.wire

FEW = int(os.environ.get("WHYBENCH_PARITY", "3"))
"""Instances of each family here; docs/reference/episode-api.md gives the command for more."""


@pytest.fixture(autouse=True)
def _own_state(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))


@pytest.mark.parametrize("interface", interfaces().values(), ids=lambda interface: interface.name)
def test_a_interface_gives_the_plain_trace_and_score(interface: object) -> None:
    made = [
        c
        for family in families().values()
        for c in parity_cases(family, FEW, leave=interface.leaves)
    ]
    assert len(made) == FEW * len(families())
    assert list(parity_differences(interface, made)) == []


def test_every_interface_of_ours_is_here() -> None:
    assert set(interfaces()) == {"gym", "inspect", "mcp", "solve", "terminal"}


def test_cases_are_the_same_every_time_and_mix_sense_with_nonsense() -> None:
    found: set[str] = set()
    for name in ("causallink", "causalab"):
        made = list(parity_cases(families()[name], 40))
        assert made == list(parity_cases(families()[name], 40))
        assert len({case.instance.id for case in made}) == 40
        traces = [case.expected()[0] for case in made]
        codes = Counter(step.observation.code for trace in traces for step in trace.steps)
        assert codes["ok"] > 60
        assert {"invalid_action", "invalid_format"} <= set(codes)
        found |= set(codes)
        assert {"answered", None} < {trace.outcome for trace in traces}
        assert {case.instance.profile for case in made} == {"certified", "published"}
    assert "invalid_answer" in found


class Bent:
    """An interface with a flaw."""

    name = "bent"
    leaves = True

    def __init__(self, flaw: str) -> None:
        self.flaw = flaw

    def play(self, played: Sequence[ParityCase]) -> Iterator[tuple[Json, Json, list[str] | None]]:
        for number, case in enumerate(played):
            calls = case.calls
            if self.flaw == "validates":
                specs = families()[case.instance.family].open(case.instance).actions
                calls = tuple(call for call in calls if call[0] in {spec.name for spec in specs})
            trace, score, texts = ParityCase(case.instance, calls, case.ends).expected()
            told = score.to_json()
            if self.flaw == "rounds" and number == 3:
                told = {**told, "values": dict.fromkeys(told["values"], 0.5)}
            if self.flaw == "drops" and number == 3:
                return
            if self.flaw == "mumbles" and number == 3:
                texts = [text.casefold() for text in texts]
            if self.flaw == "falls silent":
                texts = texts[:1]
            yield trace.to_json(), told, None if self.flaw == "mixes" else texts
        if self.flaw == "adds":
            yield {}, {}, None


@pytest.mark.parametrize(
    "flaw", ["validates", "rounds", "drops", "adds", "mumbles", "falls silent"]
)
def test_a_bent_interface_is_noticed(flaw: str) -> None:
    made = list(parity_cases(families()["causallink"], 30))
    assert (
        list(parity_differences(Bent(""), made))
        == list(parity_differences(Bent("mixes"), made))
        == []
    )
    assert list(parity_differences(Bent(flaw), made))


def test_a_call_becomes_one_action_whatever_it_holds() -> None:
    assert parse_call("hold", {"shape": "a", "note": None}).to_json()["args"] == {"shape": "a"}
    assert parse_call("hold", {"shape": [1, {"b": 2.5}]}).args["shape"] == '[1, {"b": 2.5}]'
    assert parse_call("hold", {"shape": True}).args["shape"] == "true"
    deep: object = 1
    for _ in range(100):
        deep = [deep]
    odd = ((7, {}), ("hold", "a"), ("hold", None), ("hold", {"shape": deep}),
           ("hold", {"shape": 10**5000}), ("malformed", {"reason": "my own words"}))  # fmt: skip
    for name, args in odd:
        action = parse_call(name, args)
        assert action.name == "malformed"
        assert "my own" not in action.args["reason"]
