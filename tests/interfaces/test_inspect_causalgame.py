"""CausalGame through Inspect with the scripted provider: both protocols, turns, programs."""

import json

import pytest
from inspect_ai import eval as inspect_eval
from inspect_ai.log import EvalLog, EvalSample
from inspect_ai.model import ChatMessageTool, Model, get_model
from inspect_ai.scorer import Score
from tests.interfaces.interfaces import assert_the_plain_interface
from tests.interfaces.sandboxes import needs_bwrap

from whybench.families.causalgame import FAMILY
from whybench.families.causalgame.prompts.action_specs import QUESTIONS
from whybench.families.causalgame.prompts.dialogue import CALLS, GRACE, MORE_TURNS
from whybench.interfaces.inspectai.record import EPISODE
from whybench.sandbox.episode_programs import PROGRAMS

pytestmark = pytest.mark.wire

PROTOCOLS = ("tools", "code")
LIMIT = 2


def run(model: str | Model, count: int = 1, **args: object) -> EvalLog:
    log = inspect_eval(
        "whybench/causalgame", task_args=args, model=model, display="none", limit=count,
        log_realtime=False, score_display=False,
    )[0]  # fmt: skip
    assert log.status == "success", log.error
    assert len(log.samples) == count
    return log


def scripted(*replies: object, **args: object) -> EvalSample:
    """Say some replies, the last one over and over."""
    model = get_model("whybench/script", replies=list(replies))
    (sample,) = run(model, **args).samples
    return sample


def call(name: str, **args: object) -> dict[str, object]:
    return {"tool": name, "args": args}


def program(code: str) -> str:
    return f"```python\n{code}\n```"


DEPLOY = call("deploy", design="{}", count="5")
SUBMIT = call("submit", design='{"vane_def": 0}')
REPORT = call("report", **dict.fromkeys(QUESTIONS, "text"))


def the_score(sample: EvalSample) -> Score:
    return sample.scores["episode_score"]


def actions(sample: EvalSample) -> list[str]:
    return [action["name"] for action in json.loads(sample.store[EPISODE])["actions"]]


def told(sample: EvalSample) -> str:
    return "\n".join([*sample.attachments.values(), *(m.text for m in sample.messages)])


def written(call: dict[str, object]) -> str:
    said = json.dumps({"name": call["tool"], "arguments": call["args"]})
    return f"I go on.\n```json\n{said}\n```"


def test_a_call_in_text_is_a_call_of_the_turn_and_a_closed_one_is_rejected() -> None:
    sample = scripted(written(DEPLOY), written(SUBMIT), written(REPORT))
    assert actions(sample) == ["deploy", "submit", "report"]
    assert the_score(sample).metadata["call_in_text"] == 3
    late = scripted(*["I wait."] * (1 + MORE_TURNS), written(DEPLOY), deploys=1)
    assert actions(late) == []
    assert "call_in_text" not in the_score(late).metadata


@needs_bwrap
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_exact_agent_is_the_one_in_the_plain_interface_and_works_from_given_evidence(
    protocol: str,
) -> None:
    args = {"protocol": protocol, "suite": "zone"}
    own = run("whybench/exact", LIMIT, **args)
    assert_the_plain_interface(FAMILY, "zone", own, LIMIT)
    for sample in own.samples:
        if protocol == "code":
            ended, made = sample.store[PROGRAMS], len(actions(sample))
            assert sum(ended.values()) == made
            # On a crowded machine processes end late, and one program may meet their limit.
            assert ended["ok"] >= made - 1
    optimal = run("whybench/exact", LIMIT, evidence="optimal", **args)
    yoked = run("whybench/exact", LIMIT, evidence="yoked", yoke=own.location, **args)
    rates = {sample.id: the_score(sample).value["survival_rate"] for sample in own.samples}
    for log, kind in ((optimal, "optimal"), (yoked, "yoked")):
        for sample in log.samples:
            record = json.loads(sample.store[EPISODE])
            assert record["evidence"] == kind
            assert len(record["actions"]) == record["given"] + 2
            assert the_score(sample).value["survival_rate"] == rates[sample.id]


def test_a_turn_opens_with_words_and_ends_when_its_calls_are_spent() -> None:
    sample = scripted([call("get_status")] * (CALLS + 2), DEPLOY, SUBMIT, REPORT)
    refused = [m for m in sample.messages if isinstance(m, ChatMessageTool) and m.error]
    assert [m.error.type for m in refused] == ["limit", "limit"]
    assert actions(sample) == ["get_status"] * CALLS + ["deploy", "submit", "report"]
    assert "Turn 1 of" in told(sample)
    assert "Turn 2 of" in told(sample)
    assert "what came back" in told(sample), "a deployment is followed by a question"


def test_thinking_without_a_call_ends_the_turn_and_is_no_error() -> None:
    sample = scripted("Let me think.", DEPLOY, SUBMIT, REPORT)
    assert actions(sample) == ["deploy", "submit", "report"]
    assert the_score(sample).answer == "answered"


def test_after_the_last_turn_only_the_end_is_left_and_then_nothing() -> None:
    sample = scripted("Let me think.", deploys=1)
    assert the_score(sample).answer == "unfinished"
    turns = 1 + MORE_TURNS
    said = [m.text for m in sample.messages if m.role == "user"]
    assert sum(f"of {turns}" in text for text in said) == turns
    assert sum("exploration is over" in text for text in said) == GRACE
    thoughts = ["Let me think."] * (turns + GRACE - 1)
    late = scripted(DEPLOY, *thoughts[1:], SUBMIT, REPORT, deploys=1)
    assert the_score(late).answer == "answered"
    too_late = scripted(*thoughts, DEPLOY, deploys=1)
    assert the_score(too_late).value["deploys"] == 0


def test_a_client_in_a_conversation_of_tools_is_pointed_to_them() -> None:
    sample = scripted("client.deploy(design={}, count=3)", DEPLOY, SUBMIT, REPORT)
    assert "There is no `client` here. Call the tools themselves: deploy" in told(sample)
    assert actions(sample) == ["deploy", "submit", "report"]


@needs_bwrap
def test_an_analysis_reaches_the_model_and_can_deploy_nothing() -> None:
    look = (
        "import pandas as pd\nh = data['history']\nprint(pd.DataFrame(h['rows']).shape[1] * 1000)"
    )
    cheat = "client.deploy(design={}, count=3)"
    sample = scripted(
        call("analyse", program=look), call("analyse", program=cheat), DEPLOY, SUBMIT, REPORT,
        analysis=True,
    )  # fmt: skip
    columns = len(FAMILY.open(FAMILY.suite("antenna")[0]).records().columns)
    assert f"{columns * 1000}" in told(sample)
    assert "Call the tools themselves" in told(sample)
    assert sample.store[PROGRAMS] == {"ok": 1, "error": 1}
    assert actions(sample) == ["deploy", "submit", "report"]


@needs_bwrap
def test_programs_explore_submit_and_report() -> None:
    explore = """
rates = {}
for vane in (0, 20):
    seen = client.deploy(design={"vane_def": vane, "rotor_def": 20}, count=40)
    rates[vane] = seen["survived"] / seen["deployed"]
try:
    client.deploy(design={"wheel_def": 1}, count=1)
except Exception as problem:
    print("refused:", problem)
best = max(rates, key=rates.get)
print("best", best, client.submit(design={"vane_def": best, "rotor_def": 20})["survived"])
"""
    report = f"client.report(**{dict.fromkeys(QUESTIONS, 'text')!r})"
    sample = scripted(
        "No program here.", program(explore), program("1/0"), program(report), protocol="code"
    )
    assert actions(sample) == ["malformed", *["deploy"] * 3, "submit", "report"]
    assert "refused: 'wheel_def' is no component" in told(sample)
    assert "best 0 " in told(sample)
    assert "ZeroDivisionError" in told(sample)
    assert sample.store[PROGRAMS] == {"ok": 2, "error": 1}
    assert the_score(sample).answer == "answered"


def test_values_do_in_the_place_of_their_text() -> None:
    loose = call("deploy", design={"vane_def": 0}, count=5, equipment=None, beliefs=None)
    sample = scripted(loose, SUBMIT, REPORT)
    assert actions(sample) == ["deploy", "submit", "report"]


def test_beliefs_are_measured_along_the_way() -> None:
    right = [{"cause": "vane_def", "effect": "survival", "sign": "lowers", "when": "storm"}]
    wrong = [{"cause": "spar_def", "effect": "survival", "sign": "raises"}]
    believing = call("deploy", design="{}", count="5", beliefs=json.dumps(wrong))
    final = call("submit", design="{}", beliefs=json.dumps(right))
    sample = scripted(believing, final, REPORT)
    (first, last) = the_score(sample).metadata["distances"]
    assert (first[0], last[0]) == (1, 1)
    assert first[1] > last[1] == the_score(sample).value["hypothesis_distance"]
