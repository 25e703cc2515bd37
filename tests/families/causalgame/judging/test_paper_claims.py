"""The paper's claims: those of Table 15, and the texts in which judges look for them."""

import pytest
from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageTool, ChatMessageUser
from inspect_ai.tool import ToolCall, ToolCallError

from whybench.families.causalgame.extras.judge.paper_claims import (
    group_of,
    held,
    paper_claims,
    words_before_deployments,
)
from whybench.families.causalgame.extras.judge.replies import Answer
from whybench.families.causalgame.world.scenario import scenarios
from whybench.report.published.figures import Published


def test_there_are_the_claims_of_table_15() -> None:
    for suite in ("antenna_trap", "deployment_zone_trap"):
        printed = [
            cell.condition
            for cell in Published().cells("causalgame", table="15")
            if cell.suite == suite
        ]
        ours = [
            f"{'golden' if claim.golden else 'distractor'}:{claim.id}"
            for claim in paper_claims(suite)
        ]
        assert ours == printed
        assert len(ours) == 7


def test_every_scenario_but_the_weather_has_claims() -> None:
    without = [suite for suite in scenarios() if group_of(suite) is None]
    assert without == ["weather_noise"]


def said(text: str, *calls: str) -> ChatMessageAssistant:
    made = [ToolCall(id=call, function=call.partition(":")[0], arguments={}) for call in calls]
    return ChatMessageAssistant(content=text, tool_calls=made or None)


def test_words_belong_to_the_deployment_that_follows_them() -> None:
    refusal = ToolCallError("permission", "too many calls")
    talk: list[ChatMessage] = [
        ChatMessageUser(content="Begin."),
        said("First I look.", "get_history:1"),
        said("The antenna may matter.", "deploy:1"),
        ChatMessageTool(content="9 of 10", tool_call_id="deploy:1"),
        said("One more.", "deploy:2"),
        ChatMessageTool(content="", tool_call_id="deploy:2", error=refusal),
        said("A count of 9000.", "deploy:3"),
        said("It was the antenna.", "deploy:4", "deploy:5"),
        said("Now the fleet.", "submit:1"),
    ]
    legal = [True, False, True, True]
    assert words_before_deployments(talk, legal) == (
        "First I look.\nThe antenna may matter.",
        "One more.\nA count of 9000.\nIt was the antenna.",
        "",
    )


def test_a_program_that_deploys_is_one_deployment() -> None:
    program = "Think.\n```python\nfor n in range(3):\n    client.deploy(design, n)\n```"
    assert words_before_deployments([said("Hm."), said(program)], []) == (f"Hm.\n{program}",)


@pytest.mark.parametrize(
    ("answers", "left"),
    [
        ([], []),
        ([{"a": "asserted", "b": "denied"}, {"b": "asserted"}], [{"a"}, {"a", "b"}]),
        ([{"a": "asserted"}, {}, {"a": "denied"}], [{"a"}, {"a"}, set()]),
    ],
)
def test_a_claim_holds_until_it_is_denied(
    answers: list[dict[str, Answer]], left: list[set[str]]
) -> None:
    assert held(answers) == left
