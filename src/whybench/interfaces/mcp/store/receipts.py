"""Scores from the store, for the operator: by receipt, or all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from whybench.causal.canonical import Json
from whybench.interfaces.mcp.refusal import Refused
from whybench.interfaces.mcp.store.protocol import Store, StoredAttempt, hashed
from whybench.interfaces.mcp.store.replay import replayed


def claim(store: Store, receipts: Iterable[str]) -> Iterator[dict[str, Json]]:
    """Score again, from stored actions, what receipts stand for; an unknown one is refused."""
    for receipt in receipts:
        found = store.claimed(hashed("receipt", receipt))
        if found is None:
            raise ValueError(f"no attempt of this store goes by the receipt {receipt}")
        yield {"receipt": receipt, **result(store, found)}


def results(store: Store) -> Iterator[dict[str, Json]]:
    """Score every attempt of a store as it stands."""
    return (result(store, attempt) for attempt in store.attempts())


def result(store: Store, found: StoredAttempt) -> dict[str, Json]:
    """Score one attempt as it stands; `error` says why if that cannot be done."""
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
