"""Commit to a private set by its hash, and prove later that the set was not changed.

The maker of a private set publishes its commitment, or only the line with its seal. A commitment
contains the plan of the set, the name of its seed and the hashes of its shards. These reveal
nothing about the instances. When the maker reveals the secret, anyone can regenerate the shards
from it and compare the hashes. This shows that the set was fixed when the seal was published, and
that only the generator and the secret determined it.
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
from whybench.causal.whole_files import write_whole
from whybench.interfaces.stored.manifest import Manifest, Shard, read_manifest
from whybench.interfaces.stored.place import Place
from whybench.interfaces.stored.plan import Plan, as_file, tools
from whybench.scale.shard import made
from whybench.scale.task_runner import carried_out

KIND = "whybench commitment 1"
"""The kind of a commitment file, with the version of its layout."""


@dataclass(frozen=True, slots=True)
class Claim:
    """The statements of a commitment about a set, and the data needed to check them."""

    plan: Plan
    entries: tuple[Record, ...]
    """For each shard its number, its rows and its hashes by part."""
    secret: str | None = field(default=None, repr=False)
    """The secret behind the name of a secret seed, once it is known."""
    place: Place | None = None
    """The location of the stored set."""
    chosen: frozenset[int] = frozenset()
    """Shards to regenerate."""


def commitment(place: Place) -> dict[str, Json]:
    """Return the commitment of a finished set, with its seal. It can be published."""
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
    """Return the hash of all fields of a commitment except the seal."""
    return digest({name: value for name, value in data.items() if name != "seal"}).hex()


def announcement(data: Mapping[str, Any]) -> str:
    """Return the line to publish. Its seal is enough to check the full commitment later."""
    plan = data["plan"]
    what = f"{plan['suite']} {plan['version']} {plan['profile']}, seed {plan['seed']}"
    return f"{data['kind']}: {what}, {data['instances']} instances, seal {data['seal']}"


def write_commitment(data: Mapping[str, Json], file: str | Path) -> None:
    """Write a commitment to a file."""
    write_whole(Path(file), as_file(data))


def read_commitment(file: str | Path) -> dict[str, Any]:
    """Read a commitment from a file. `prove` checks whether it holds."""
    try:
        data = json.loads(Path(file).read_bytes())
    except ValueError:
        data = None
    found: dict[str, Any] = data if isinstance(data, dict) else {}
    if found.get("kind") != KIND or not {"plan", "shards", "seal"} <= found.keys():
        raise ValueError(f"{file} is not a commitment. Create one with `whybench data commit`.")
    return found


def disclosed(file: str | Path, seed: str) -> str:
    """Return the secret of a seed from a file.

    If the file has no secret of that name, return its first one: `prove` then reports its name.
    """
    known = read_secrets(file)
    if not known:
        raise ValueError(f"{file} contains no secret. Write one secret per line.")
    return next((secret for secret in known if name_of(secret) == seed), known[0])


def sampled(data: Mapping[str, Any], sample: int, challenge: str) -> list[int]:
    """Return the shards to regenerate. Nobody can predict them before the challenge is chosen."""
    if sample < 1 or not challenge:
        raise ValueError(
            "A sample needs at least one shard and a challenge. Pass --challenge with a text that "
            "the verifier chose after the seal was published."
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
    """Return the statements of a commitment that are false. The commitment is proven if none is.

    Args:
        data: The commitment.
        secret: The secret that the maker reveals. Default: it is read from the file of secrets.
        place: The stored set, if its files are to be compared too.
        published: The seal that was published.
        sample: Number of shards to regenerate. Default: all.
        challenge: The verifier's text, which decides the shards of the sample.
        workers: Number of Ray workers. 0 runs a loop in this process.
        address: Address of a Ray cluster.
        progress: Called with the number of each finished shard.

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
    """Return the claim of a commitment, and where the commitment contradicts itself."""
    try:
        plan = Plan.from_json(data["plan"])
        entries: tuple[Record, ...] = freeze(data["shards"])
        shards = tuple(Shard(e["number"], e["rows"], e["hashes"]) for e in entries)
        own = Manifest(plan, shards)
        checks = {
            "its seal is not the hash of its content": data["seal"] == seal(data),
            "its seal differs from the published seal": published in (None, data["seal"]),
            "its digest does not match its shards": data["digest"] == own.digest,
            "its number of instances does not match its shards": data["instances"] == own.rows,
            "its shards do not match its plan": (
                plan.shards == len(shards)
                and [shard.number for shard in shards] == list(range(len(shards)))
                and all(shard.hashes.asdict().keys() == plan.names(0).keys() for shard in shards)
            ),
        }
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError) as error:
        return None, [f"The commitment is incomplete: {error!r}."]
    return Claim(plan, entries), [
        f"The commitment is wrong: {told}." for told, so in checks.items() if not so
    ]


def _known(plan: Plan, secret: str | None) -> tuple[str | None, list[str]]:
    """Return the secret of a secret seed, and the reasons why shards cannot be regenerated."""
    try:
        if not plan.seed.startswith(PRIVATE):
            if secret is not None:
                raise ValueError(f"seed {plan.seed} is not a secret seed and needs no secret")
        elif secret is None:
            secret = secret_of(plan.seed)
        elif name_of(secret) != plan.seed:
            raise ValueError(
                f"the secret belongs to {name_of(secret)}, but the commitment names {plan.seed}"
            )
        with nullcontext() if secret is None else revealed(secret):
            plan.opened()
    except ValueError as error:
        return None, [f"No shard was regenerated: {error}"]
    return secret, []


def _faults(claim: Claim, number: int) -> tuple[int, list[str]]:
    """Compare one shard, as stored and as regenerated, with the commitment."""
    entry, faults = claim.entries[number], []
    promised = entry["hashes"]
    if claim.place is not None:
        for part, name in claim.plan.names(number).items():
            if not claim.place.has(name):
                faults.append(f"Shard {number}: {name} is missing.")
            elif sha256(claim.place.read(name)).hexdigest() != promised[part]:
                faults.append(f"Shard {number}: {name} differs from the commitment.")
    if number in claim.chosen:
        with nullcontext() if claim.secret is None else revealed(claim.secret):
            _, shard = made(claim.plan, number)
        if thaw(_entry(shard)) != thaw(entry):
            faults.append(f"Shard {number}: the regenerated shard differs from the commitment.")
    return number, faults


def _entry(shard: Shard) -> Record:
    return Record.of(number=shard.number, rows=shard.rows, hashes=shard.hashes)


def _other_tools(plan: Plan) -> list[str]:
    """Return which tool versions differ from those of the set. The bytes depend on them."""
    here = tools()
    told = [f"{n} {v} (here {here.get(n)})" for n, v in plan.made_with if here.get(n) != v]
    return [f"The set was made with {', '.join(told)}. Install these versions."] if told else []
