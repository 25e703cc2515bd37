"""ReplaySCM through Inspect with the scripted provider: every disclosure, both tasks, the lab."""

import json
from pathlib import Path

import pytest
from inspect_ai import eval as inspect_eval
from inspect_ai.log import EvalLog
from inspect_ai.model import Model, get_model
from tests.interfaces.interfaces import assert_the_plain_interface

from whybench.episode.episode import play
from whybench.families.replayscm import FAMILY
from whybench.families.replayscm.submission import STAGES
from whybench.interfaces.inspectai.record import EPISODE, from_store

pytestmark = pytest.mark.wire

STATIC = ("ord_match", "block", "hid_match", "hid_roots", "alt_ord", "alt_hid")
"""The four disclosures and both Alternative-SCM pools."""
LIMIT = 5


@pytest.fixture(autouse=True)
def _logs_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("INSPECT_LOG_DIR", str(tmp_path / "logs"))


def run(task: str, model: str | Model, limit: int = LIMIT, **args: object) -> EvalLog:
    log = inspect_eval(
        f"whybench/{task}", task_args=args, model=model, display="none", limit=limit,
        log_realtime=False, score_display=False,
    )[0]  # fmt: skip
    assert log.status == "success", log.error
    assert len(log.samples) == limit
    return log


@pytest.mark.parametrize("protocol", ["dialogue", "tools"])
@pytest.mark.parametrize("suite", STATIC)
def test_the_exact_agent_through_inspect_is_the_one_in_the_plain_interface(
    suite: str, protocol: str
) -> None:
    log = run("replayscm", "whybench/exact", suite=suite, protocol=protocol)
    for values in assert_the_plain_interface(FAMILY, suite, log, LIMIT):
        assert values["solved"] == 1


REPLIES = {
    "I am afraid I cannot tell.": None,
    '{"answer": 42}': "schema",
    'So: {"mechanisms": {"X1": 7}, "roots": [], "alternative": {}}': "schema",
    "[1, 2, 3]": None,
}
"""What a model may say, and the stage of the funnel at which it fails; None if nothing is found."""


@pytest.mark.parametrize("suite", STATIC)
def test_every_bad_reply_is_invalid_with_a_stage_of_the_funnel(suite: str) -> None:
    model = get_model("whybench/script", replies=list(REPLIES))
    log = run("replayscm", model, 2, suite=suite, max_errors=len(REPLIES))
    for sample in log.samples:
        instance = FAMILY.rebuilt(json.loads(sample.metadata["instance"]))
        trace = from_store(FAMILY, instance, sample.store[EPISODE])
        codes = [step.observation.code for step in trace.steps]
        wanted = ["invalid_answer" if stage else "invalid_format" for stage in REPLIES.values()]
        assert codes == wanted
        stages = [step.observation.data.get("stage") for step in trace.steps]
        assert stages == list(REPLIES.values())
        score = sample.scores["episode_score"]
        assert score.answer == "invalid_format"
        assert score.value["valid"] == score.value["solved"] == 0.0
        assert score.value["retries"] == len(REPLIES) - 1
        assert score.metadata["failed"] in STAGES
        passed = [score.value[stage] for stage in STAGES]
        assert passed == sorted(passed, reverse=True)


def test_a_second_answer_after_a_refused_one_counts_and_the_reason_was_told() -> None:
    instance = FAMILY.suite("hid_cert")[0]
    good = play(FAMILY.open(instance), FAMILY.agent("oracle", instance)).actions[-1].args["answer"]
    model = get_model("whybench/script", replies=['{"mechanisms": {}}', f"Sorry. {good}"])
    log = run("replayscm", model, 1, suite="hid_cert")
    (sample,) = log.samples
    score = sample.scores["episode_score"]
    assert score.value["solved"] == score.value["heldout_exact"] == 1.0
    assert score.value["strict_json"] == 0.0
    assert score.value["valid_first"] == 0.0
    assert "should have a mechanism" in sample.messages[3].text


def test_the_laboratory_own_optimal_and_yoked() -> None:
    """Both protocols in one test: the exact experimenter's runs on the whole suite are shared."""
    for protocol in ("dialogue", "tools"):
        own = run("replayscm_lab", "whybench/exact", 2, protocol=protocol)
        assert all(s.scores["episode_score"].value["evidence_unique"] == 1 for s in own.samples)
        optimal = run("replayscm_lab", "whybench/exact", 2, protocol=protocol, evidence="optimal")
        yoked = run("replayscm_lab", "whybench/exact", 2, protocol=protocol, evidence="yoked",
                    yoke=own.location)  # fmt: skip
        for log in (optimal, yoked):
            for sample in log.samples:
                value = sample.scores["episode_score"].value
                assert value["heldout_exact"] == value["evidence_unique"] == 1.0
                assert value["experiments"] == 0.0
                assert len(json.loads(sample.store[EPISODE])["actions"]) > 1


def test_nothing_of_the_truth_is_in_a_log() -> None:
    log = run("replayscm", "whybench/null", 3, suite="hid_cert")
    for sample in log.samples:
        instance = FAMILY.rebuilt(json.loads(sample.metadata["instance"]))
        text = sample.model_dump_json()
        for formula in FAMILY.truth(instance)["mechanisms"].values():
            assert len(formula) < 8 or formula not in text
