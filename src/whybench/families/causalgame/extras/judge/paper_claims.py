"""The paper's golden and distractor claims, which a judge looks for in what an agent wrote.

An agent writes before each deployment. A claim counts from the first text that asserts it, until a
later text denies it. The distance is taken after each deployment and after the report.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageTool

from whybench.families.causalgame.claims import Claim
from whybench.families.causalgame.extras.judge.replies import Answer

DEPLOY = "deploy"
IN_PROGRAM = f"client.{DEPLOY}("
LONGEST = 20_000
"""Characters of a text that a judge reads; the last ones count."""


@cache
def _data() -> dict[str, Any]:
    return tomllib.loads((files(__package__ or "") / "paper_claims.toml").read_text("utf-8"))


def group_of(scenario: str) -> str | None:
    """Return the scenario's group in Table 15; None if the paper has no claims about it.

    >>> group_of("deployment_zone_trap_env_shift"), group_of("weather_noise")
    ('zone', None)
    """
    return next((g for g, own in _data().items() if scenario.startswith(own["start"])), None)


@cache
def paper_claims(scenario: str) -> tuple[Claim, ...]:
    """Return the paper's claims about a scenario, golden ones first; empty if it has none.

    >>> [claim.id for claim in paper_claims("antenna_trap") if not claim.golden]
    ['dist_001', 'dist_002', 'dist_003']
    """
    own = _data().get(group_of(scenario) or "", {})
    return tuple(
        Claim(name, kind == "golden", entry["statement"], (), entry)
        for kind in ("golden", "distractor")
        for name, entry in own.get(kind, {}).items()
    )


def words_before_deployments(
    messages: Iterable[ChatMessage], legal: Sequence[bool]
) -> tuple[str, ...]:
    """Return what an agent wrote before each deployment, since the one before.

    `legal` says of each request for a deployment whether it was carried out; others do not count. A
    program that deploys several times counts once.
    """
    messages = list(messages)
    refused = {
        m.tool_call_id for m in messages if isinstance(m, ChatMessageTool) and m.error is not None
    }
    carried_out = iter(legal)
    texts: list[str] = []
    said: list[str] = []
    for message in messages:
        if not isinstance(message, ChatMessageAssistant):
            continue
        said.append(message.text)
        calls = [c for c in message.tool_calls or () if c.function == DEPLOY]
        made = sum(next(carried_out, False) for call in calls if call.id not in refused)
        for _ in range(made or int(IN_PROGRAM in message.text)):
            texts.append("\n".join(said).strip()[-LONGEST:])
            said = []
    return tuple(texts)


def held(answers: Iterable[Mapping[str, Answer]]) -> list[set[str]]:
    """Return the claims that hold after each text: asserted, and not denied since.

    >>> held([{"a": "asserted"}, {"a": "not_mentioned"}, {"a": "denied"}])
    [{'a'}, {'a'}, set()]
    """
    now: set[str] = set()
    found = []
    for answer in answers:
        now = now | {key for key, said in answer.items() if said == "asserted"}
        now = now - {key for key, said in answer.items() if said == "denied"}
        found.append(now)
    return found
