"""Every reply that cannot be used has a name: in the log, its explanation and the report."""

import json
import logging
import math
from collections.abc import Iterator
from pathlib import Path

import pytest
from inspect_ai import eval as inspect_eval
from inspect_ai.log import EvalLog, EvalSample
from inspect_ai.model import ContentReasoning, ContentText, ModelOutput, get_model
from tests.interfaces.test_calls_in_text import LEFT, READ, SPECS

from whybench.episode.family import Family
from whybench.episode.prompts.conversation import Coding
from whybench.episode.registry import families
from whybench.episode.score import ERROR_MODES, MODES, mode_of, unusable
from whybench.interfaces.calls_in_text import looks_like_a_call
from whybench.interfaces.inspectai.build import build
from whybench.interfaces.inspectai.instance_selection import Chosen
from whybench.interfaces.inspectai.record import EPISODE, from_store, located
from whybench.interfaces.parity.through_inspect import _Rows
from whybench.interfaces.replies import kind_of
from whybench.report.build import Wishes, viewed
from whybench.report.chapters.outcomes import outcomes
from whybench.report.runs import read_runs

pytestmark = pytest.mark.wire

CALLS = '{"name": "answer", "arguments": {}} {"name": "answer", "arguments": {}}'

REPLIES = {
    "cut_off": {"text": "First I consider the", "stop_reason": "max_tokens"},
    "refused": {"text": "I cannot help with that.", "stop_reason": "content_filter"},
    "empty": {"text": " \n"},
    "only_thinking": {"reasoning": "It may be this, or that."},
    "context_exceeded": {"stop_reason": "model_length"},
}
"""Outcome → a reply that leads to it in every protocol."""

UNREAD = ({"text": CALLS}, {"calls": [{"tool": "answer", "parse_error": "not JSON"}]})
"""Replies with calls that cannot be read, where tools are offered."""


def expected(protocol: str) -> list[tuple[str, object]]:
    """Return the outcome and the reply of each sample."""
    unread = [("unread_call", reply) for reply in UNREAD] if protocol == "tools" else []
    return [*REPLIES.items(), *unread]


CASES = [(family, protocol) for family in families().values() for protocol in family.protocols]


def play(
    family: Family, protocol: str, replies: list[object], folder: Path, **args: object
) -> EvalLog:
    """Play one instance per script of replies; programs are never run, so any sandbox will do."""
    suite = family.suite(family.recommended[0])
    rows = _Rows([suite[place] for place in range(len(replies))])
    talk = family.conversation(family.open(suite[0]), family.templates[0])
    sandbox = "local" if isinstance(talk, Coding) and protocol != "tools" else None
    task = build(
        Chosen(suite, rows, range(len(rows))), protocol, family.templates[0], "own", None,
        schema=False, sandbox=sandbox,
    )  # fmt: skip
    script = {
        rows.instance(place).id: said if isinstance(said, list) else [said]
        for place, said in enumerate(replies)
    }
    [log] = inspect_eval(
        task, model=get_model("whybench/script", memoize=False, replies=script),
        log_dir=str(folder), display="none", log_realtime=False, score_display=False, **args,
    )  # fmt: skip
    assert log.status == "success", log.error
    by_id = {sample.id: sample for sample in log.samples}
    log.samples = [by_id[name] for name in script]
    return log


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[tuple[str, str], EvalLog]]:
    folder = tmp_path_factory.mktemp("replies")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(folder / "data"))
        yield {
            (family.name, protocol): play(
                family, protocol, [reply for _, reply in expected(protocol)], folder / "logs"
            )
            for family, protocol in CASES
        }


def own_score(sample: EvalSample) -> object:
    return sample.scores["episode_score"]


@pytest.mark.parametrize(("family", "protocol"), CASES, ids=lambda one: getattr(one, "name", one))
def test_a_reply_that_cannot_be_used_names_the_outcome(
    logs: dict[tuple[str, str], EvalLog], family: Family, protocol: str
) -> None:
    log = logs[family.name, protocol]
    names = [outcome for outcome, _ in expected(protocol)]
    assert [own_score(sample).answer for sample in log.samples] == names
    for sample, outcome in zip(log.samples, names, strict=True):
        score = own_score(sample)
        assert score.explanation.startswith(MODES[outcome].reason)
        assert MODES[outcome].advice in score.explanation
        assert score.value["unusable"] == 1
        found, instance = located(sample.metadata)
        plain = found.score(instance, from_store(found, instance, sample.store[EPISODE]))
        assert plain.outcome in ERROR_MODES
        assert plain.reason == MODES[plain.outcome].reason
        shown = {name: value for name, value in score.value.items() if name in plain.values}
        excluded = outcome in family.excluded
        for name, value in shown.items():
            same = None if excluded else plain.values[name]
            assert value == same or (math.isnan(value) and same is None), name
    metrics = {name: one.value for name, one in log.results.scores[0].metrics.items()}
    for outcome in names:
        assert metrics[outcome] == pytest.approx(names.count(outcome) / len(names))
    assert metrics["unusable"] == 1


def test_the_report_shows_each_outcome_for_each_family(
    logs: dict[tuple[str, str], EvalLog],
) -> None:
    folder = Path(next(iter(logs.values())).location.removeprefix("file://")).parent
    found = read_runs([folder])
    section = outcomes(viewed(found, Wishes()))
    parts = {getattr(part, "id", part): part for part in section.parts}
    shares = parts["outcomes-families"].frame
    assert set(shares["family"]) == set(families())
    assert set(shares["unusable"]) == {1}
    assert set(shares[[*REPLIES, "unread_call"]].sum(axis=1).round(9)) == {1}
    assert (shares.groupby("family")[[*REPLIES, "unread_call"]].max() > 0).all(axis=None)
    meanings = parts["outcomes-meaning"].frame.set_index("outcome")
    assert set(meanings.index) == {*REPLIES, "unread_call"}
    assert meanings.loc["unread_call", "advice"] == MODES["unread_call"].advice
    warned = [part.text for part in section.parts if getattr(part, "tone", "") == "warning"]
    assert any(MODES["unread_call"].advice in text for text in warned)


# When a name is given -----------------------------------------------------------------------------

LINK = families()["causallink"]
ANSWER = {"tool": "answer", "args": {"answer": "yes"}}
CUT = REPLIES["cut_off"]


@pytest.mark.parametrize(
    ("replies", "outcome"),
    [
        ([{"calls": [ANSWER], "stop_reason": "max_tokens"}], "answered"),
        ([{"text": json.dumps({"name": "answer", "arguments": ANSWER["args"]}),
           "stop_reason": "max_tokens"}], "answered"),
        ([CUT, {"text": ""}, ANSWER], "answered"),
        ([CUT, {"text": ""}, CUT, "just words"], "invalid_format"),
        (["just words", "just words", {"text": ""}, CUT], "cut_off"),
        ([CUT, CUT, CUT, {"tool": "nope"}], "invalid_action"),
        ([CUT, {"stop_reason": "model_length"}], "cut_off"),
        ([{"text": "<think>Perhaps"}], "only_thinking"),
        ([{"text": "Perhaps.</think>\n"}], "only_thinking"),
        ([{"text": "a long reply", "stop_reason": "model_length"}], "cut_off"),
    ],
)  # fmt: skip
def test_the_last_reply_decides_and_only_if_it_was_of_no_use(
    tmp_path: Path, replies: list[object], outcome: str
) -> None:
    sample = play(LINK, "tools", [replies], tmp_path).samples[0]
    score = own_score(sample)
    assert score.answer == outcome
    assert (score.explanation or "").startswith(mode_of(outcome).reason)
    assert (score.explanation is None) == (outcome == "answered")
    assert score.value["unusable"] == unusable(outcome)


def test_a_limit_of_the_engine_keeps_its_name(tmp_path: Path) -> None:
    log = play(families()["causalgame"], "tools", [CUT], tmp_path, message_limit=9)
    score = own_score(log.samples[0])
    assert score.answer == "message_limit"
    assert score.explanation.startswith("The message limit of the run was reached.")
    assert score.value["unusable"] == 0


@pytest.mark.parametrize(
    ("replies", "warned"),
    [
        ([CUT, CUT, ANSWER, {"text": ""}, ANSWER], True),
        ([CUT] * 12, True),
        ([CUT, CUT, ANSWER, ANSWER, ANSWER, *[CUT] * 5], False),
        ([{"tool": "nope"}] * 6, False),
    ],
)
def test_many_lost_replies_among_the_first_warn_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, replies: list[object], warned: bool
) -> None:
    with caplog.at_level(logging.WARNING):
        play(LINK, "tools", replies, tmp_path, max_samples=1)
    said = [one.getMessage() for one in caplog.records if "usable reply" in one.getMessage()]
    assert len(said) == warned
    assert all(MODES["cut_off"].advice in one and "causallink: 3 of" in one for one in said)


# Classification -----------------------------------------------------------------------------------


def test_text_that_looks_like_calls_is_told_from_prose() -> None:
    seem = {name: looks_like_a_call(text, SPECS) for name, text in {**READ, **LEFT}.items()}
    assert [name for name, looks in seem.items() if not looks] == [
        "nothing", "prose", "words", "a name that is no text",
    ]  # fmt: skip
    for text in ("hold(shape='circle')", "client.hold(circle)", "next()", "<function=hold>",
                 "<tool_call>hold circle", "[TOOL_CALLS] hold"):  # fmt: skip
        assert looks_like_a_call(text, SPECS), text
    for text in ("The next(s) step", "I hold (on) to it", '{"shape": "circle"}', "on hold.",
                 "The circle should hold: next, the square."):  # fmt: skip
        assert not looks_like_a_call(text, SPECS), text
    for hostile in ("hold(" + " " * 200_000, "hold(" * 60_000, '"name":' * 40_000, "{" * 200_000):
        looks_like_a_call(hostile, SPECS)


def test_an_ordinary_reply_has_no_kind() -> None:
    said = [ContentReasoning(reasoning="Hm."), ContentText(text="It is yes.")]
    for content in ("yes", said, "<think>Hm.</think>yes", "hold(shape='a')"):
        assert kind_of(ModelOutput.from_content("m", content)) is None
    assert kind_of(ModelOutput.from_content("m", "hold(shape='a')"), SPECS) == "unread_call"


def test_every_mode_has_a_reason_and_every_lost_reply_an_advice() -> None:
    assert set(ERROR_MODES) < set(MODES)
    for mode in MODES.values():
        assert mode.reason.endswith(".")
        assert "_" not in mode.reason
        assert mode.advice.endswith(".") or not mode.unusable
    lost = {name for name in MODES if unusable(name)}
    assert lost == {*REPLIES, "unread_call", "invalid_format"}
    assert not any(map(unusable, ("answered", "token_limit", "unreported")))


def test_the_documentation_lists_every_mode_and_the_advice_for_every_lost_reply() -> None:
    docs = Path(__file__).parents[2] / "docs"
    listed = (docs / "reference/inspect.md").read_text("utf-8")
    advised = (docs / "how-to/inspect.md").read_text("utf-8")
    for name in MODES:
        assert f"| `{name}`{' *' if unusable(name) else ''} |" in listed, name
        assert (f"| `{name}` |" in advised) == unusable(name), name
