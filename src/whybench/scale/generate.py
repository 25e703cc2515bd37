"""Generate a set from its plan, resume after an interruption, and write the manifest."""

from __future__ import annotations

from collections.abc import Callable

from whybench.causal.canonical import canonical_json
from whybench.interfaces.stored.index import write_index
from whybench.interfaces.stored.manifest import (
    MANIFEST,
    Manifest,
    Shard,
    read_manifest,
    write_manifest,
)
from whybench.interfaces.stored.place import Place
from whybench.interfaces.stored.plan import Plan, read_plan, write_plan
from whybench.scale.shard import Promised, settled
from whybench.scale.task_runner import carried_out


def generate(
    plan: Plan,
    place: Place,
    *,
    workers: int | None = 0,
    address: str | None = None,
    progress: Callable[[Shard], None] = lambda _: None,
) -> Manifest:
    """Make the missing shards of a set, and write its manifest."""
    promised = _begin(plan, place)
    shards = []
    for shard in carried_out(
        settled, (plan, place, promised), range(plan.shards), workers=workers, address=address
    ):
        shards.append(shard)
        progress(shard)
    if read_plan(place) != plan:
        raise ValueError(f"Another run has changed the plan of {place.address}. Run this again.")
    place.sweep()
    manifest = Manifest.of(plan, shards)
    write_index(place, plan, manifest.digest)
    write_manifest(place, manifest)
    return manifest


def _begin(plan: Plan, place: Place) -> Promised:
    """Write the plan, or reject a location with another set. Return the hashes of old manifests."""
    known = read_plan(place)
    if known is None:
        write_plan(place, plan)
        return {}
    if known.key != plan.key:
        raise ValueError(
            f"{place.address} holds another set ({_differences(known, plan)}). "
            "Choose another --out, or repeat the command of that set."
        )
    if known.n > plan.n:
        raise ValueError(
            f"{place.address} is planned with {known.n} rows. Ask for at least as many, or choose "
            "another --out."
        )
    promised: Promised = {}
    if place.has(MANIFEST):
        old = read_manifest(place)
        whole = [s for s in old.shards if old.plan.numbers(s.number) == plan.numbers(s.number)]
        promised = {shard.number: shard.hashes for shard in whole}
    if known != plan:
        place.remove(MANIFEST)  # it describes the shorter set
        write_plan(place, plan)
    return promised


def _differences(known: Plan, plan: Plan) -> str:
    old, new = known.to_json(), plan.to_json()
    told = [
        f"{name} is {canonical_json(old[name])} there and {canonical_json(new[name])} here"
        for name in old
        if old[name] != new[name] and name != "n"
    ]
    return "; ".join(told)
