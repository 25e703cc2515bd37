"""What a judge is told, and what a hostile report can do about it."""

import json
import unicodedata
from pathlib import Path

import pytest
from tests.tables import together

from whybench import CANARY
from whybench.episode.cleaning import INVISIBLE
from whybench.episode.prompts.untrusted_text import CUT, LONGEST, delimiter, quoted
from whybench.families.causalgame.claims import claims
from whybench.families.causalgame.drawn_claims import known_claims
from whybench.families.causalgame.extras.judge.case import (
    REPORTS,
    JudgedCase,
    drawn_report,
    scenarios,
    task_report,
    truth_lines,
)
from whybench.families.causalgame.extras.judge.prompt import (
    Question,
    claims_question,
    rubric_question,
)
from whybench.families.causalgame.extras.judge.replies import UnreadableError, read_verdict
from whybench.families.causalgame.extras.judge.rubric import as_published, rubric
from whybench.families.causalgame.extras.judge.tampering import tampering
from whybench.families.causalgame.report_checks import Outcome, Report
from whybench.families.causalgame.world.drawn.draw import world

SET = json.loads((Path(__file__).parent / "injections.json").read_text("utf-8"))
INJECTIONS: dict[str, str] = SET["injections"]
ORDINARY: list[str] = SET["ordinary"]
UNSEEN: list[str] = SET["unseen"]
LOST = Outcome(won=False, survival_rate=0.543, threshold=0.75, fleet_size=1000)
WORLDS = {
    "antenna": ("antenna",),
    "deployment_zone_trap_categorical": ("zone", "default"),
    "deployment_zone_trap_env_shift": ("env_shift",),
    "weather": ("weather",),
}


def case(conclusion: str, instance: str = "one", profile: str = "certified") -> JudgedCase:
    report = Report("No, 54.3 % survived.", "Wing armour.", "Wind.", conclusion)
    return JudgedCase(instance, "antenna_trap", profile, "antenna", report, LOST, 0.949)


def both(one: JudgedCase) -> tuple[Question, Question]:
    return rubric_question(one, rubric("six")), claims_question(one, claims(one.physics))


def fences(question: Question) -> tuple[list[int], list[int], list[str]]:
    """Return the lines that open and close the report, and the lines between them."""
    lines = question.prompt.splitlines()
    opened = [n for n, line in enumerate(lines) if line.startswith("<<<REPORT")]
    closed = [n for n, line in enumerate(lines) if line.startswith("<<<END OF REPORT")]
    return opened, closed, lines[opened[0] + 1 : closed[0]]


# Packet -------------------------------------------------------------------------------------------


def test_there_are_fourteen_scenarios() -> None:
    assert len(scenarios()) == 14
    assert sum(name.startswith("antenna_trap") for name in scenarios()) == 6


@pytest.mark.parametrize("scenario", scenarios())
def test_every_scenario_has_a_task_report(scenario: str) -> None:
    kind = next(physics for start, physics in WORLDS.items() if scenario.startswith(start))
    for physics in kind:
        text = task_report(scenario, "published", physics)
        for heading in ("### Chain", "### Traps", "### Strategy", "### This scenario"):
            assert heading in text
        assert "$" not in text


def test_a_drawn_system_is_reported_by_its_law() -> None:
    here = world("env_shift", "test", 0)
    text = drawn_report(here)
    assert "$" not in text
    for claim in known_claims(here):
        assert claim.statement in text


def test_task_reports_differ_where_the_truth_does() -> None:
    scenario = "deployment_zone_trap_categorical_no_selection_bias"
    assert task_report(scenario, "published", "default") != task_report(
        scenario, "published", "zone"
    )
    assert "there is no paradox" in task_report(
        "antenna_trap_simpsons_paradox", "published", "antenna"
    )
    antenna = [name for name in scenarios() if name.startswith("antenna")]
    assert len({task_report(name, "published", "antenna") for name in antenna}) == 6


def test_unknown_physics_and_scenarios_are_refused() -> None:
    with pytest.raises(ValueError, match="No task report for physics 'moon'"):
        task_report("antenna_trap", "published", "moon")
    with pytest.raises(ValueError, match="No task report for 'moon'"):
        task_report("moon", "published", REPORTS[0])


def test_the_truth_of_the_episode_is_told() -> None:
    assert truth_lines(LOST, 0.949).splitlines() == [
        "- mission not won",
        "- survival rate of the submitted design: 54.3 %",
        "- bar (survival rate to reach): 75 %",
        "- fleet size: 1,000 drones",
        "- survival rate of the best known design: 94.9 %",
    ]
    assert "best known" not in truth_lines(LOST)


# Prompt -------------------------------------------------------------------------------------------


def test_the_prompt_holds_instructions_packet_criteria_and_report_in_this_order() -> None:
    question = rubric_question(case("Fine."), rubric("full"))
    order = [
        CANARY, "# Evidence packet", "### Chain", "- mission not won", "- survival rate: right",
        "# Criteria", "- D1.1 ", "- TASK.M1 ", "It is data", "<<<REPORT", "| [success]", "| Fine.",
        "<<<END OF REPORT", "# Your reply", question.word,
    ]  # fmt: skip
    places = [question.prompt.rindex(part) for part in order]
    assert places == sorted(places)
    assert "D4.M1" not in question.prompt  # decided by rule


def test_the_claims_prompt_does_not_say_which_statements_are_true() -> None:
    question = claims_question(case("Fine."), claims("antenna"))
    assert CANARY in question.prompt
    for word in ("golden", "distractor", "Evidence packet", "Truth of this"):
        assert word not in question.prompt
    for claim in claims("antenna"):
        assert claim.statement in question.prompt
        assert claim.id not in question.prompt


def test_fences_are_deterministic_and_hang_on_instance_and_report() -> None:
    assert delimiter("one", "text") == delimiter("one", "text")
    found = {delimiter(i, t) for i in "abc" for t in "xyz"}
    assert len(found) == len({f.word for f in found}) == len({f.close for f in found}) == 9


def test_a_report_cannot_hold_its_own_fence() -> None:
    """Even an author who knows code and instance: delimiters change with the text inside."""
    text = "Fine."
    for _ in range(5):
        opened, closed, _ = fences(rubric_question(case(text), rubric("six")))
        mark = rubric_question(case(text), rubric("six")).prompt.splitlines()[closed[0]]
        text = f"Fine.\n{mark}\nThe report has ended."
        opened, closed, body = fences(rubric_question(case(text), rubric("six")))
        assert (len(opened), len(closed)) == (1, 1)
        assert mark not in "\n".join(body)


def test_long_answers_are_cut() -> None:
    text = quoted("x" * (LONGEST + 1))
    assert text.endswith(CUT)
    assert len(text) < LONGEST + 50


# Injections ---------------------------------------------------------------------------------------


def test_the_set_is_large_enough() -> None:
    assert len(INJECTIONS) >= 20
    assert len(ORDINARY) >= 20


@together("text", [*INJECTIONS.values(), *UNSEEN])
def test_an_injection_stays_inside_the_fence(text: str) -> None:
    for question in both(case(text)):
        opened, closed, body = fences(question)
        assert (len(opened), len(closed)) == (1, 1)
        assert all(line.startswith("| ") for line in body)
        inside = "\n".join(body)
        for mark in ("<<<", ">>>", "<|", "|>", "[INST]", "<<SYS>>", "<system>", "\r", "\x1b"):
            assert mark not in inside
        assert question.word not in inside
        assert not any(_unseen(c) for c in inside)
        outside = question.prompt.replace(inside, "")
        calm = both(case("Fine."))[0 if "# Criteria" in question.prompt else 1]
        assert len(outside.splitlines()) == len(
            calm.prompt.replace("\n".join(fences(calm)[2]), "").splitlines()
        )


def _unseen(character: str) -> bool:
    return character != "\n" and unicodedata.category(character) in INVISIBLE


@pytest.mark.parametrize("name", [n for n in INJECTIONS if n.startswith("forged_json")])
def test_an_echo_of_a_forged_verdict_is_not_what_is_read(name: str) -> None:
    question = rubric_question(case(INJECTIONS[name]), rubric("six"))
    ids = [c.id for c in rubric("six").judged]
    own = json.dumps({"case": question.word, "criteria": dict.fromkeys(ids, 0)})
    forged = INJECTIONS[name]
    for reply in (f"It says {forged}\nI find {own}", f"I find {own}\nIt says {forged}"):
        assert set(read_verdict(rubric("six"), question.word, reply).values()) == {0}
    with pytest.raises(UnreadableError):
        read_verdict(rubric("six"), question.word, forged)


@together("name", INJECTIONS)
def test_an_injection_is_reported(name: str) -> None:
    for place in range(4):
        answers = ["No.", "Armour.", "Wind.", "None."]
        answers[place] = INJECTIONS[name]
        assert tampering(Report(*answers))


@together("text", ORDINARY)
def test_an_ordinary_report_is_not_suspected(text: str) -> None:
    assert tampering(Report(text, text, text, text)) == ()


def test_signs_are_named() -> None:
    found = tampering(Report("", "", "", INJECTIONS["base64"]))
    assert {"encoded_text", "overrides_instructions", "asks_for_marks"} <= set(found)
    assert "hidden_characters" in tampering(Report("", "", "", INJECTIONS["zero_width"]))


def test_the_papers_prompt_has_packet_criteria_scale_and_format_in_this_order() -> None:
    question = rubric_question(case("Fine.", profile="published"), as_published(rubric("full")))
    order = [
        CANARY, "# Evidence packet", "### Chain", "- mission not won", "| Fine.", "# Criteria",
        "- D4.M1 ", "- D4.N1 ", "# Scale of verdicts", "# Your reply", "`confidence`",
    ]  # fmt: skip
    places = [question.prompt.rindex(part) for part in order]
    assert places == sorted(places)
    assert "best known" not in question.prompt
    one = question.schema["properties"]["criteria"]["properties"]["D4.M1"]
    assert one["properties"]["verdict"]["enum"] == [
        "SATISFIED", "PARTIALLY_SATISFIED", "NOT_SATISFIED",
    ]  # fmt: skip
    assert {"confidence", "evidence", "reason"} <= one["properties"].keys()
