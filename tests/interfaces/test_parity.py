"""All doors lead to the same room: `whybench dev parity` with few instances; what it notices."""

import os
from collections import Counter
from collections.abc import Iterator, Sequence

import pytest

from whybench.core.canonical import Json
from whybench.episode.action import called
from whybench.episode.registry import families
from whybench.interfaces.parity.cases import Case, cases
from whybench.interfaces.parity.check import differences
from whybench.interfaces.parity.doors import doors

pytestmark = pytest.mark.wire

FEW = int(os.environ.get("WHYBENCH_PARITY", "3"))
"""Instances of each family here; docs/protocol.md gives the command for more."""


@pytest.fixture(autouse=True)
def _own_state(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))


@pytest.mark.parametrize("door", doors().values(), ids=lambda door: door.name)
def test_a_door_gives_the_plain_trace_and_score(door: object) -> None:
    made = [c for family in families().values() for c in cases(family, FEW, leave=door.leaves)]
    assert len(made) == FEW * len(families())
    assert list(differences(door, made)) == []


def test_every_door_of_ours_is_here() -> None:
    assert set(doors()) == {"gym", "inspect", "mcp", "solve", "terminal"}


def test_cases_are_the_same_every_time_and_mix_sense_with_nonsense() -> None:
    for name in ("causallink", "causalab"):
        made = list(cases(families()[name], 40))
        assert made == list(cases(families()[name], 40))
        assert len({case.instance.id for case in made}) == 40
        traces = [case.plainly()[0] for case in made]
        codes = Counter(step.observation.code for trace in traces for step in trace.steps)
        assert codes["ok"] > 60
        assert {"invalid_action", "invalid_answer", "invalid_format"} <= set(codes)
        assert {"answered", None} < {trace.outcome for trace in traces}
        assert {case.instance.profile for case in made} == {"certified", "published"}


class Bent:
    """A door with a flaw."""

    name = "bent"
    leaves = True

    def __init__(self, flaw: str) -> None:
        self.flaw = flaw

    def play(self, played: Sequence[Case]) -> Iterator[tuple[Json, Json, list[str] | None]]:
        for number, case in enumerate(played):
            calls = case.calls
            if self.flaw == "validates":
                specs = families()[case.instance.family].open(case.instance).actions
                calls = tuple(call for call in calls if call[0] in {spec.name for spec in specs})
            trace, score, texts = Case(case.instance, calls, case.ends).plainly()
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
def test_a_bent_door_is_noticed(flaw: str) -> None:
    made = list(cases(families()["causallink"], 30))
    assert list(differences(Bent(""), made)) == list(differences(Bent("mixes"), made)) == []
    assert list(differences(Bent(flaw), made))


def test_a_call_becomes_one_action_whatever_it_holds() -> None:
    assert called("hold", {"shape": "a", "note": None}).to_json()["args"] == {"shape": "a"}
    assert called("hold", {"shape": [1, {"b": 2.5}]}).args["shape"] == '[1, {"b": 2.5}]'
    assert called("hold", {"shape": True}).args["shape"] == "true"
    deep: object = 1
    for _ in range(100):
        deep = [deep]
    odd = ((7, {}), ("hold", "a"), ("hold", None), ("hold", {"shape": deep}),
           ("hold", {"shape": 10**5000}), ("malformed", {"reason": "my own words"}))  # fmt: skip
    for name, args in odd:
        action = called(name, args)
        assert action.name == "malformed"
        assert "my own" not in action.args["reason"]
