"""What an agent sends is cleaned in one place, through every interface, and the trace says so."""

import json
from types import SimpleNamespace

import pytest
from inspect_ai.model import (
    ChatMessageAssistant,
    ContentReasoning,
    ContentText,
    ModelCall,
    ModelOutput,
)
from inspect_ai.tool import ToolCall
from typer.testing import CliRunner

import whybench as wb
from whybench.cli import app
from whybench.episode.action import NOTES, Action
from whybench.episode.cleaning import LONGEST_ACTION, LONGEST_TEXT, clean_action, clean_text
from whybench.episode.score import CLEANED
from whybench.interfaces.clean_output import MOST_CALLS, clean_output, guarded, notes_of
from whybench.interfaces.command_line import print_table

DIRTY = ("yes\x00", "\ud800yes", "yes \udfff\ud800", "\x00" * 9, "é\ud83d")


def instance() -> wb.Instance:
    return wb.load_suite("causallink/core")[3]


def is_storable(session: wb.Session) -> bool:
    text = json.dumps(session.trace.to_json(), ensure_ascii=False)
    return "\0" not in text and bool(text.encode())


@pytest.mark.parametrize("text", DIRTY)
def test_every_way_of_a_session_gives_a_trace_that_can_be_stored_and_says_so(text: str) -> None:
    for way in ("call", "say", "without_call"):
        session = wb.Session(instance())
        given = ("answer", {"answer": text}) if way == "call" else (f"answer {text}",)
        getattr(session, way)(*given)
        assert is_storable(session)
        assert session.trace.actions[0].cleaned
        assert session.score().labels[CLEANED] == 1
        again = wb.Trace.from_json(json.loads(json.dumps(session.trace.to_json())))
        assert again == session.trace == session.family.again(session.instance, again).trace


@pytest.mark.parametrize("family", sorted(wb.installed_families()))
def test_a_reply_in_a_conversation_is_cleaned(family: str) -> None:
    found = wb.installed_families()[family]
    suite = found.suite(found.recommended[0])
    for reply in (*DIRTY, '{"answer": "\\ud800", "experiment": "\\u0000"}', "x" * 10**6 + "\x00"):
        episode = found.open(suite[0])
        talk = found.conversation(episode, found.templates[0])
        talk.turn()
        talk.reply(reply)
        assert "\0" not in json.dumps(episode.trace.to_json(), ensure_ascii=False)
        json.dumps(episode.trace.to_json(), ensure_ascii=False).encode()


def test_escapes_in_json_texts_do_not_bring_half_pairs_into_an_observation() -> None:
    session = wb.Session(instance())
    session.call("answer", {"answer": {"\ud800": "\x1b[2J"}})
    assert is_storable(session)
    assert "\x1b" not in str(session.trace.steps[0].observation.data)


def test_plain_actions_stay_the_same_objects_and_long_ones_are_malformed() -> None:
    plain = Action.of("hold", shape="circle")
    assert clean_action(plain) is plain
    long = clean_action(Action.of("hold", shape="o" * (LONGEST_ACTION + 1)))
    assert (long.name, long.cleaned) == ("malformed", ("cut",))
    huge = clean_action(Action.of("hold", shape=10**5000))
    assert huge.cleaned == ("values",)
    json.dumps(huge.to_json())
    text, notes = clean_text("a" * 10**7 + "yes")
    assert (len(text), text[-3:], notes) == (LONGEST_TEXT, "yes", ("cut",))


def test_notes_of_a_file_are_those_that_exist() -> None:
    told = {"name": "hold", "args": {}, "cleaned": ["nul", "<script>", 3, *NOTES]}
    assert Action.from_json(told).cleaned == NOTES
    assert Action.from_json({"name": "hold", "cleaned": "nul"}).cleaned == ()


# Inspect ------------------------------------------------------------------------------------------


def call(name: str, arguments: object, place: str = "1") -> ToolCall:
    made = ToolCall(id=place, function=name, arguments={})
    made.arguments = arguments  # a provider can assign what it likes
    return made


def deep(levels: int) -> list:
    found: list = []
    for _ in range(levels):
        found = [found]
    return found


@pytest.mark.parametrize(
    ("arguments", "note"),
    [
        ([1, 2], "arguments"),
        ("text", "arguments"),
        (None, "arguments"),
        ({"answer": deep(900)}, "arguments"),
        ({"answer": 10**5000}, "arguments"),
        ({"answer": object()}, "arguments"),
        ({"answer": "x" * (LONGEST_ACTION + 1)}, "cut"),
        ({"answer": "\ud800"}, "surrogates"),
        ({"\x00": "yes"}, "nul"),
    ],
)
def test_a_call_of_a_model_can_be_logged(arguments: object, note: str) -> None:
    message = ChatMessageAssistant(content="", tool_calls=[call("answer", arguments)])
    output = ModelOutput.from_message(message)
    clean_output(output)
    assert notes_of(output) == (note,)
    again = ModelOutput.model_validate_json(output.model_dump_json())
    assert isinstance(again.message.tool_calls[0].arguments, dict)
    assert len(output.model_dump_json()) < 10_000


def test_texts_thoughts_ids_and_many_calls_are_cleaned() -> None:
    content = [
        ContentReasoning(reasoning="\ud800", signature="\x00"),
        ContentText(text="a" * 10**7),
    ]
    calls = [call("answer", {"answer": "yes"}, "") for _ in range(MOST_CALLS + 900)]
    output = ModelOutput.from_message(ChatMessageAssistant(content=content, tool_calls=calls))
    clean_output(output)
    assert notes_of(output) == ("surrogates", "nul", "cut", "ids", "calls")
    assert len({one.id for one in output.message.tool_calls}) == MOST_CALLS
    assert len(output.model_dump_json()) < 3 * LONGEST_TEXT


def test_a_reply_without_a_choice_becomes_an_empty_one_and_a_plain_reply_is_untouched() -> None:
    output = ModelOutput(model="m", choices=[])
    clean_output(output)
    assert (output.message.text, notes_of(output)) == ("", ("no_choice",))
    plain = ModelOutput.from_content("m", "yes, 😀")
    before = plain.model_dump_json()
    clean_output(plain)
    assert (plain.model_dump_json(), notes_of(plain)) == (before, ())


@pytest.mark.anyio
async def test_a_provider_is_wrapped_once_and_its_raw_response_is_cleaned_too() -> None:
    class Provider:
        asked = 0

        async def generate(self) -> tuple[ModelOutput, ModelCall]:
            self.asked += 1
            raw = ModelCall.create({}, {"text": "\ud800"})
            return ModelOutput.from_content("m", "\ud800"), raw

    provider = Provider()
    model = SimpleNamespace(api=provider)
    output, raw = await guarded(guarded(model)).api.generate()
    assert (provider.asked, output.completion, raw.response) == (1, "�", {"text": "�"})


def test_nothing_a_log_names_is_markup_or_an_escape_sequence_on_a_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_table(("a",), [["[/red]lab/[bold]x\x1b[2J\x1b]52;c;eA==\x07"]])
    shown = capsys.readouterr().out
    assert "[/red]lab/[bold]x[2J]52" in shown.replace("\n", "")
    assert "\x1b" not in shown
    ran = CliRunner().invoke(app, ["report", "no\x1b[2Jlog"])
    assert "\x1b" not in ran.stderr
