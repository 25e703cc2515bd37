"""A judge's prompt: instructions, packet, rubric or statements, and the quoted report."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from whybench import CANARY
from whybench.causal.canonical import canonical_json
from whybench.episode.prompts.untrusted_text import Delimiter, delimiter, quoted
from whybench.families.causalgame.claims import Claim
from whybench.families.causalgame.extras.judge.case import JudgedCase, task_report, truth_lines
from whybench.families.causalgame.extras.judge.replies import answers_schema, numbered, schema
from whybench.families.causalgame.extras.judge.rubric import Rubric
from whybench.families.causalgame.report_checks import Checks, checked
from whybench.judge.question import CASE, Question, prompt_texts

PAPER_ENTRY = {
    "verdict": "PARTIALLY_SATISFIED",
    "confidence": 0.8,
    "reason": "…",
    "evidence": ["…"],
}
"""The form of a verdict in the paper."""


def rubric_question(case: JudgedCase, rubric: Rubric) -> Question:
    """Ask for verdicts on a report."""
    around = _delimiter(case)
    criteria = [
        f"- {c.id} ({'fault, ' if c.weight < 0 else ''}weight {c.weight}): {c.title}. {c.text}"
        for c in rubric.judged
    ]
    ids, released = [c.id for c in rubric.judged], case.profile == "published"
    entry = PAPER_ENTRY if released else {"reason": "…", "verdict": 0.5}
    prompt = prompt_texts(__name__).say(
        "rubric_paper" if released else "rubric",
        canary=CANARY,
        task_report=case.task or task_report(case.scenario, case.profile, case.physics),
        truth=truth_lines(case.outcome, None if released else case.best_known),
        checks=_told(checked(case.report, case.outcome)),
        criteria="\n".join(criteria),
        ids=", ".join(ids),
        example=_example(around.word, ids[:2], entry),
        **_report(case.report.answers, around),
    )
    return Question(prompt, schema(rubric, around.word, released), around.word)


def claims_question(
    case: JudgedCase, claims: Sequence[Claim], notes: str | None = None
) -> Question:
    """Ask which statements a report makes, or `notes`, without saying which are true."""
    answers = case.report.answers if notes is None else (("notes", notes),)
    around = delimiter("causalgame", "judge", case.instance_id, canonical_json(answers))
    listed = numbered(case.instance_id, claims)
    prompt = prompt_texts(__name__).say(
        "claims",
        canary=CANARY,
        kind="report" if notes is None else "set of notes",
        statements="\n".join(f"- {key}: {claim.statement}" for key, claim in listed.items()),
        ids=", ".join(listed),
        example=_example(around.word, list(listed)[:2], "not_mentioned"),
        **_report(answers, around),
    )
    return Question(prompt, answers_schema(around.word, listed), around.word)


def _told(checks: Checks) -> str:
    """Return the results of the checks as lines for a judge."""
    return "\n".join(
        f"- {name}: {value.replace('_', ' ')}"
        for name, value in (
            ("victory", checks.won),
            ("survival rate", checks.survival_rate),
            ("bar", checks.threshold),
            ("fleet size", checks.fleet_size),
        )
    )


def _delimiter(case: JudgedCase) -> Delimiter:
    return delimiter("causalgame", "judge", case.instance_id, canonical_json(case.report.answers))


def _report(answers: Iterable[tuple[str, str]], around: Delimiter) -> dict[str, str]:
    body = "\n".join(f"{quoted(f'[{name}]')}\n{quoted(text)}" for name, text in answers)
    return {"report": body, "open": around.open, "close": around.close, "word": around.word}


def _example(word: str, ids: Sequence[str], entry: object) -> str:
    shown = {CASE: word, "criteria": {**dict.fromkeys(ids, entry), "…": "…"}}
    return json.dumps(shown, ensure_ascii=False)
