"""What a judge is told: instructions, packet, rubric or statements, and the fenced report."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from whybench import CANARY
from whybench.core.canonical import canonical_json
from whybench.episode.fence import Fence, fence, fenced
from whybench.episode.question import CASE, Question
from whybench.episode.skin import Skin, read_skin
from whybench.families.causalgame.judging.checks import checked, told
from whybench.families.causalgame.judging.claims import Claim
from whybench.families.causalgame.judging.packet import JudgedCase, Report, task_report, truth_lines
from whybench.families.causalgame.judging.questionnaire import answers_schema, numbered
from whybench.families.causalgame.judging.rubric import Rubric
from whybench.families.causalgame.judging.verdict import schema


@cache
def _texts() -> Skin:
    folder = files(__package__ or "")
    return read_skin("prompt", lambda name: (folder / f"{name}.md").read_text("utf-8"))


def rubric_question(case: JudgedCase, rubric: Rubric) -> Question:
    """Ask for verdicts on a report."""
    around = _fence(case)
    criteria = [
        f"- {c.id} ({'fault, ' if c.weight < 0 else ''}weight {c.weight}): {c.title}. {c.text}"
        for c in rubric.judged
    ]
    ids = [c.id for c in rubric.judged]
    prompt = _texts().say(
        "rubric",
        canary=CANARY,
        task_report=task_report(case.scenario, case.profile, case.physics),
        truth=truth_lines(case.outcome, case.best_known),
        checks=told(checked(case.report, case.outcome)),
        criteria="\n".join(criteria),
        ids=", ".join(ids),
        example=_example(around.word, ids[:2], {"reason": "…", "verdict": 0.5}),
        **_report(case.report, around),
    )
    return Question(prompt, schema(rubric, around.word), around.word)


def claims_question(case: JudgedCase, claims: Sequence[Claim]) -> Question:
    """Ask which statements a report makes, without saying which are true."""
    around = _fence(case)
    listed = numbered(case.instance_id, claims)
    prompt = _texts().say(
        "claims",
        canary=CANARY,
        statements="\n".join(f"- {key}: {claim.statement}" for key, claim in listed.items()),
        ids=", ".join(listed),
        example=_example(around.word, list(listed)[:2], "not_mentioned"),
        **_report(case.report, around),
    )
    return Question(prompt, answers_schema(around.word, listed), around.word)


def retry(error: ValueError) -> str:
    """Tell a judge why its reply could not be read."""
    return _texts().say("retry", error=str(error))


def _fence(case: JudgedCase) -> Fence:
    return fence("causalgame", "judge", case.instance_id, canonical_json(case.report.answers))


def _report(report: Report, around: Fence) -> dict[str, str]:
    body = "\n".join(f"{fenced(f'[{name}]')}\n{fenced(text)}" for name, text in report.answers)
    return {"report": body, "open": around.open, "close": around.close, "word": around.word}


def _example(word: str, ids: Sequence[str], entry: object) -> str:
    shown = {CASE: word, "criteria": {**dict.fromkeys(ids, entry), "…": "…"}}
    return json.dumps(shown, ensure_ascii=False)
