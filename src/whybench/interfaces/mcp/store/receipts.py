"""Scores from the store for the operator, by receipt or for all attempts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from whybench.causal.canonical import Json
from whybench.interfaces.mcp.refusal import Refused
from whybench.interfaces.mcp.store.protocol import Store, StoredAttempt, hashed
from whybench.interfaces.mcp.store.replay import replayed


def claim(store: Store, receipts: Iterable[str]) -> Iterator[dict[str, Json]]:
    """Score the attempts of receipts from their stored actions. An unknown receipt is rejected."""
    for receipt in receipts:
        found = store.claimed(hashed("receipt", receipt))
        if found is None:
            raise ValueError(f"The store has no attempt for the receipt {receipt}. Check --store.")
        yield {"receipt": receipt, **result(store, found)}


def results(store: Store) -> Iterator[dict[str, Json]]:
    """Score every attempt of a store in its current state."""
    return (result(store, attempt) for attempt in store.attempts())


def result(store: Store, found: StoredAttempt) -> dict[str, Json]:
    """Score one attempt in its current state. If that fails, `error` states the reason."""
    where = found.session.instance or {}
    told: dict[str, Json] = {
        "suite": f"{where.get('family')}/{where.get('suite')}",
        "index": where.get("index"),
        "instance": f"{where.get('family')}/{where.get('id')}",
        "template": found.session.template,
        "run": found.run,
        "attempt": found.number,
        "counts": found.counts,
        "over": found.over,
    }
    try:
        session = replayed(found.session, store, found.id)
        return told | {"score": session.score().to_json(), "trace": session.trace.to_json()}
    except Refused as refusal:
        return told | {"error": str(refusal)}
    except Exception as error:  # noqa: BLE001 - one broken attempt must not hide the others
        return told | {"error": f"cannot be scored: {type(error).__name__}: {error}"}
