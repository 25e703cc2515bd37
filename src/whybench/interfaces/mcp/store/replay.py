"""Rebuild episodes from stored sessions. Episodes are deterministic, so their actions suffice."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from whybench.episode.action import Action
from whybench.episode.instance import Instance
from whybench.episode.registry import families
from whybench.interfaces.mcp.refusal import Refused
from whybench.interfaces.mcp.store.protocol import Store, StoredSession
from whybench.interfaces.session import Session


def replayed(found: StoredSession, store: Store, attempt: int) -> Session:
    """Return the episode of a stored session after the stored actions of an attempt."""
    data: Mapping[str, Any] = found.instance or {}
    try:
        instance: Instance = families()[data["family"]].rebuilt(data)
    except (KeyError, ValueError):
        raise Refused(
            "this session was begun with another WhyBench, or its suite is no longer here"
        ) from None
    session = Session(instance, found.template)
    for action in store.actions(attempt):
        session.episode.step(Action.from_json(json.loads(action)))
    return session
