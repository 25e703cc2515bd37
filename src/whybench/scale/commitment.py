"""A set promised by hash, and proven later.

The maker of a private set publishes its commitment, or only the one line with its seal: the set's
plan, the name of its seed and the hashes of its shards tell nothing of what is in them. When the
secret is revealed, anybody makes shards anew from it and compares: the set was fixed when the seal
was published, and nothing but the generator and the secret has shaped it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from whybench import CANARY
from whybench.causal.canonical import Json, Record, digest, freeze, thaw
from whybench.causal.seeds import Stream
from whybench.causal.suite_seeds import PRIVATE, name_of, read_secrets, revealed, secret_of
from whybench.interfaces.stored.manifest import Manifest, Shard, read_manifest
from whybench.interfaces.stored.place import Place
from whybench.interfaces.stored.plan import Plan, as_file, tools
from whybench.scale.shard import made
from whybench.scale.task_runner import carried_out

KIND = "whybench commitment 1"
"""What a commitment calls itself, with the number of its layout."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What a commitment says of a set, and by what it is to be tested."""

    plan: Plan
    entries: tuple[Record, ...]
    """Of each shard: its number, its rows and its hashes by part."""
    secret: str | None = field(default=None, repr=False)
    """What a secret seed stands for, once it is known."""
    place: Place | None = None
    """Where the set is stored."""
    chosen: frozenset[int] = frozenset()
    """Shards to be made anew."""


def commitment(place: Place) -> dict[str, Json]:
    """Return what may be published of a finished set, sealed."""
    manifest = read_manifest(place)
    data: dict[str, Json] = {
        "canary": CANARY,
        "kind": KIND,
        "plan": manifest.plan.to_json(),
        "instances": manifest.rows,
        "digest": manifest.digest,
        "shards": [thaw(_entry(shard)) for shard in manifest.shards],
    }
    return {**data, "seal": seal(data)}


def seal(data: Mapping[str, Json]) -> str:
    """Return the hash of all that a commitment says."""
    return digest({name: value for name, value in data.items() if name != "seal"}).hex()


def announcement(data: Mapping[str, Any]) -> str:
    """Return the one line to publish: who has it can later check a whole commitment."""
    plan = data["plan"]
    what = f"{plan['suite']} {plan['version']} {plan['profile']}, seed {plan['seed']}"
    return f"{data['kind']}: {what}, {data['instances']} instances, seal {data['seal']}"


def write_commitment(data: Mapping[str, Json], file: str | Path) -> None:
    """Write a commitment to a file."""
    path = Path(file)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(as_file(data))


def read_commitment(file: str | Path) -> dict[str, Any]:
    """Return the commitment in a file; whether it holds is for `prove` to say."""
    try:
        data = json.loads(Path(file).read_bytes())
    except ValueError:
        data = None
    found: dict[str, Any] = data if isinstance(data, dict) else {}
    if found.get("kind") != KIND or not {"plan", "shards", "seal"} <= found.keys():
        raise ValueError(f"{file} holds no commitment: `whybench data commit` makes one")
    return found


def disclosed(file: str | Path, seed: str) -> str:
    """Return the secret of a seed from a file; another one there if it has none of that name."""
    known = read_secrets(file)
    if not known:
        raise ValueError(f"{file} holds no secret: one a line")
    return next((secret for secret in known if name_of(secret) == seed), known[0])


def sampled(data: Mapping[str, Any], sample: int, challenge: str) -> list[int]:
    """Return the shards to be made anew: nobody knows them before the challenge is spoken."""
    if sample < 1 or not challenge:
        raise ValueError(
            "a sample has at least one shard, and needs a challenge: any text that the verifier "
            "chooses after the seal was published"
        )
    shards = range(len(data["shards"]))
    rng = Stream("whybench proof", seal(data), challenge)
    return sorted(rng.sample(shards, min(sample, len(shards))))


def prove(
    data: Mapping[str, Any],
    *,
    secret: str | None = None,
    place: Place | None = None,
    published: str | None = None,
    sample: int | None = None,
    challenge: str = "",
    workers: int | None = 0,
    address: str | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> list[str]:
    """Return what does not hold of a commitment; empty: it is proven.

    `secret` is what the maker reveals (else the file of secrets is asked), `place` the stored set,
    if it is to be compared too, and `published` the seal as it was once published. All shards are
    made anew, or a `sample` of them that hangs on the verifier's `challenge`. `progress` is told
    the number of each shard that is done.
    """
    claim, faults = _read(data, published)
    if claim is None or faults:
        return faults
    everything = range(len(claim.entries))
    wanted = everything if sample is None else sampled(data, sample, challenge)
    known, faults = _known(claim.plan, secret)
    chosen = frozenset() if faults else frozenset(wanted)
    claim = Claim(claim.plan, claim.entries, known, place, chosen)
    numbers = sorted(chosen) if place is None else everything
    wrong: dict[int, list[str]] = {}
    for number, found in carried_out(_faults, (claim,), numbers, workers=workers, address=address):
        wrong[number] = found
        progress(number)
    faults += [fault for number in sorted(wrong) for fault in wrong[number]]
    return faults + (_other_tools(claim.plan) if chosen and any(wrong.values()) else [])


def _read(data: Mapping[str, Any], published: str | None) -> tuple[Claim | None, list[str]]:
    """Return what is claimed, or why the commitment contradicts itself."""
    try:
        plan = Plan.from_json(data["plan"])
        entries: tuple[Record, ...] = freeze(data["shards"])
        shards = tuple(Shard(e["number"], e["rows"], e["hashes"]) for e in entries)
        own = Manifest(plan, shards)
        checks = {
            "its seal is not the hash of what it says": data["seal"] == seal(data),
            "the published seal is another": published in (None, data["seal"]),
            "its digest is not that of its shards": data["digest"] == own.digest,
            "its shards have other numbers of rows than it says": data["instances"] == own.rows,
            "its shards are not those of its plan": (
                plan.shards == len(shards)
                and [shard.number for shard in shards] == list(range(len(shards)))
                and all(shard.hashes.asdict().keys() == plan.names(0).keys() for shard in shards)
            ),
        }
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError) as error:
        return None, [f"the commitment is not whole: {error!r}"]
    return Claim(plan, entries), [
        f"the commitment: {told}" for told, so in checks.items() if not so
    ]


def _known(plan: Plan, secret: str | None) -> tuple[str | None, list[str]]:
    """Return the secret of a secret seed, and what keeps shards from being made anew."""
    try:
        if not plan.seed.startswith(PRIVATE):
            if secret is not None:
                raise ValueError(f"seed {plan.seed} is no secret seed, there is nothing to reveal")
        elif secret is None:
            secret = secret_of(plan.seed)
        elif name_of(secret) != plan.seed:
            raise ValueError(f"the secret is that of {name_of(secret)}, promised was {plan.seed}")
        with nullcontext() if secret is None else revealed(secret):
            plan.opened()
    except ValueError as error:
        return None, [f"no shard was made anew: {error}"]
    return secret, []


def _faults(claim: Claim, number: int) -> tuple[int, list[str]]:
    """Compare one shard, stored and made anew, with what was promised of it."""
    entry, faults = claim.entries[number], []
    promised = entry["hashes"]
    if claim.place is not None:
        for part, name in claim.plan.names(number).items():
            if not claim.place.has(name):
                faults.append(f"shard {number}: {name} is not there")
            elif sha256(claim.place.read(name)).hexdigest() != promised[part]:
                faults.append(f"shard {number}: {name} is not the promised file")
    if number in claim.chosen:
        with nullcontext() if claim.secret is None else revealed(claim.secret):
            _, shard = made(claim.plan, number)
        if thaw(_entry(shard)) != thaw(entry):
            faults.append(f"shard {number}: made anew it is not the promised one")
    return number, faults


def _entry(shard: Shard) -> Record:
    return Record.of(number=shard.number, rows=shard.rows, hashes=shard.hashes)


def _other_tools(plan: Plan) -> list[str]:
    """Say which versions differ from those that the set was made with: bytes hang on them."""
    here = tools()
    told = [f"{n} {v} (here {here.get(n)})" for n, v in plan.made_with if here.get(n) != v]
    return [f"it was made with {', '.join(told)}: try again with those"] if told else []
