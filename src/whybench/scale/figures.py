"""Summarize a stored set in one pass over its shards. Memory does not grow with the rows."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as compute
import pyarrow.parquet as parquet

from whybench.causal.canonical import canonical_json
from whybench.interfaces.stored.manifest import Manifest, read_manifest
from whybench.interfaces.stored.place import Place
from whybench.scale.histogram import Tally
from whybench.scale.keys import Keys, tallied
from whybench.scale.shard import FIGURES

PLANNED = ("suite", "version", "profile", "seed", "parameters")
SHARES = ("solvable", "identified")
NUMBERS = tuple(name for name in FIGURES if name not in SHARES)


def figures(path: str) -> dict[str, Any]:
    """Summarize a finished set: counts, shares, and histograms of its figures and covariates."""
    place = Place(path)
    manifest = read_manifest(place)
    counts: Counter[str] = Counter(rows=0, blocks=0, clusters=0)
    shares: Counter[str] = Counter(dict.fromkeys(SHARES, 0))
    numbers = {name: Tally() for name in NUMBERS}
    covariates: dict[str, Tally] = {}
    block, clusters = None, set[str]()
    for table in _shards(place, manifest, "instances", ("block", "cluster", *FIGURES)):
        counts["rows"] += len(table)
        shares.update({name: compute.sum(table[name]).as_py() or 0 for name in SHARES})
        for name, tally in numbers.items():
            tally.add_numbers(table[name])
        pairs = zip(table["block"].to_pylist(), table["cluster"].to_pylist(), strict=True)
        for this, cluster in dict.fromkeys(pairs):
            if this != block:  # a cluster id contains its block, and blocks come in order
                block, clusters = this, set()
                counts["blocks"] += 1
            counts["clusters"] += cluster not in clusters
            clusters.add(cluster)
    for table in _shards(place, manifest, "truth", ("covariates",)):
        for name, values in _columns(table["covariates"].to_pylist()).items():
            covariates.setdefault(name, Tally()).add(values)
    for tally in covariates.values():
        tally.missing = counts["rows"] - tally.count
    known = manifest.plan.truth
    told = manifest.to_json()
    return {
        "set": {name: told["plan"][name] for name in PLANNED},
        "counts": {
            **counts,
            "systems": tallied([Keys(place, manifest, "system")]).distinct if known else None,
            "problems": tallied([Keys(place, manifest, "problem")]).distinct if known else None,
        },
        "shares": {name: true / max(1, counts["rows"]) for name, true in shares.items()},
        "figures": {name: tally.to_json() for name, tally in numbers.items()},
        "covariates": {name: covariates[name].to_json() for name in sorted(covariates)},
        "rejected": {
            name: told[name]
            for name in ("asked", "refused", "refusal_rate", "discarded", "discard_rate")
        },
    }  # fmt: skip


def lines(told: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Return the rows of the printed table: item, value and distribution."""
    rows = [(name, _short(value), "") for name, value in told["set"].items() if value != {}]
    rows += [
        (name, f"{value:,}", "") for name, value in told["counts"].items() if value is not None
    ]
    rows += [(name, _percent(value), "") for name, value in told["shares"].items()]
    for part in ("figures", "covariates"):
        rows += [(name, *_spread(tally)) for name, tally in told[part].items()]
    for name in ("refused", "discarded"):
        reasons = told["rejected"][name].items()
        rate = told["rejected"]["refusal_rate" if name == "refused" else "discard_rate"]
        rows.append((name, _percent(rate), ", ".join(f"{why}: {n:,}" for why, n in reasons)))
    return rows


def _shards(
    place: Place, manifest: Manifest, part: str, columns: Sequence[str]
) -> Iterator[pa.Table]:
    for shard in manifest.shards:
        name = manifest.plan.names(shard.number).get(part)
        if name is not None and shard.rows:
            with place.open(name) as file:
                yield parquet.ParquetFile(file).read(list(columns), use_threads=False)


def _columns(texts: Sequence[str]) -> dict[str, list[Any]]:
    """Return the values of each covariate by name, with None for rows that lack it."""
    rows = json.loads(f"[{','.join(texts)}]")
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def _spread(tally: Mapping[str, Any]) -> tuple[str, str]:
    """Return a short form of a tally, and its histogram as text."""
    total, short, parts = tally["count"] or 1, "", []
    if "mean" in tally:
        short = f"{tally['mean']:.4g} ({tally['min']:.4g} … {tally['max']:.4g})"
        parts += [f"{value:.4g}: {_percent(n / total)}" for value, n in tally.get("values", ())]
        if bins := tally.get("bins"):
            most = max(n for *_, n in bins)
            bars = "".join("▁▂▃▄▅▆▇█"[math.ceil(7 * n / most)] for *_, n in bins)
            parts.append(f"{bars} {bins[0][0]:g} … {bins[-1][1]:g}")
    parts += [f"{word}: {_percent(n / total)}" for word, n in tally.get("words", ())]
    if tally.get("other"):
        parts.append(f"other: {_percent(tally['other'] / total)}")
    if tally["missing"]:
        parts.append(f"missing: {tally['missing']:,}")
    return short, ", ".join(parts)


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _short(value: Any) -> str:
    return value if isinstance(value, str) else canonical_json(value)
