"""Alternative-SCM from users' own logs: problems to play, and Table G.2 by source relation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inspect_ai.log import EvalLog

from whybench.causal.canonical import Json
from whybench.causal.seeds import Stream
from whybench.families.replayscm.alternative import candidate_of, contrast
from whybench.families.replayscm.extras.analyses.conditional import Conditional
from whybench.families.replayscm.extras.analyses.editing import SOURCES
from whybench.families.replayscm.extras.protocol.export import mechanisms, record, supports, write
from whybench.families.replayscm.extras.protocol.mined import (
    Alternative,
    Key,
    Tried,
    alternatives,
    gold_order,
    read_logs,
    tried,
)
from whybench.families.replayscm.parameters import FAMILY
from whybench.families.replayscm.world.world import World
from whybench.interfaces.inspectai.record import located

COLUMNS = {
    "Joint success": "joint_success",
    "Alternative success": "alt_success",
    "Experiment valid": "experiment_valid",
    "Separates": "pair_separates",
    "Witness": "witness_valid",
}
"""Column of Table G.2 → metric."""

RELATIONS = {
    "KP-all": "known pair: some model's answer is an alternative",
    "OM-src": "known pair that rests on answers of other models only (leave-model-out)",
    "SM-src": "known pair that rests on an answer of the same model",
    "OE": "open-ended: no answer gave an alternative",
}


def write_tasks(
    found: Sequence[Tried], folder: Path, without: Sequence[str] = ()
) -> dict[str, tuple[Path, int, int]]:
    """Write Alternative-SCM problems; return file, known pairs and all problems by suite.

    A known pair takes the alternative of most models that one experiment separates from gold. A
    coin of the problem decides which of the two is given. An open-ended problem gives gold.
    """
    mined = alternatives((one for one in found if one.instance.suite in dict(SOURCES)), without)
    written = {}
    for source, suite in SOURCES:
        problems = {one.key: one for one in found if one.instance.suite == source}
        records = [_record(one, mined.get(key, ())) for key, one in sorted(problems.items())]
        if records:
            known = sum(bool(one["alt"]["support"]) for one in records)
            written[suite] = write(folder, suite, records), known, len(records)
    return written


def _record(one: Tried, mined: Sequence[Alternative]) -> dict[str, Json]:
    world = one.world
    chosen = next((found for found in mined if separable(world, found)), None)
    given, role = world.formulas, "gold"
    models = () if chosen is None else chosen.models
    if chosen is not None and Stream(FAMILY, "alternatives", *one.key).below(2):
        given, role = chosen.formulas, "alternative"
    alt = {"reference": mechanisms(given), "role": role, "support": list(models)}
    return record(world, gold_order(one.instance, world), world.view.train, alt)


def separable(world: World, other: Alternative) -> bool:
    """Return whether setting one variable separates an alternative from gold."""
    seen = contrast(world.view.n, candidate_of(world.formulas), candidate_of(other.formulas))
    return seen.pair_rate(*seen.best()) > 0


@dataclass(frozen=True, slots=True)
class Relation:
    """A row of Table G.2."""

    pool: str
    model: str
    relation: str
    n: int
    rates: tuple[Conditional, ...]


def relations(
    logs: Iterable[EvalLog], mined: Mapping[Key, Sequence[Alternative]]
) -> Iterator[Relation]:
    """Return Table G.2 for the logs of Alternative-SCM.

    A log of problems made by `write_tasks` has its supports in their folder. For the other logs, an
    alternative that `mined` has for the same problem makes a known pair.
    """
    scored: dict[tuple[str, str], list[tuple[tuple[str, ...], Mapping[str, Any]]]] = {}
    for log in logs:
        for sample in log.samples or ():
            family, instance = located(sample.metadata)
            if family.name != FAMILY or instance.suite not in dict(SOURCES).values():
                continue
            world, data = family.world(instance), instance.parameters.get("data")
            if data is not None:
                support = supports(Path(str(data)), instance.suite)[instance.index]
            else:
                known = mined.get((world.cluster, world.view.disclosure), ())
                support = tuple(model for one in known for model in one.models)
            score = (sample.scores or {})["episode_score"].value
            values = score if isinstance(score, Mapping) else {}
            scored.setdefault((instance.suite, log.eval.model), []).append((support, values))
    for (pool, model), listed in scored.items():
        for relation in RELATIONS:
            own = [values for support, values in listed if _holds(relation, model, support)]
            rates = tuple(
                Conditional.of(float(values.get(name) or 0) for values in own)
                for name in COLUMNS.values()
            )
            yield Relation(pool, model, relation, len(own), rates)


def relations_of(paths: Iterable[str]) -> list[Relation]:
    """Return Table G.2 from logs of the matched pools and of Alternative-SCM."""
    logs = read_logs(paths)
    return list(relations(logs, alternatives(tried(logs))))


def _holds(relation: str, model: str, support: Sequence[str]) -> bool:
    if relation in ("KP-all", "OE"):
        return bool(support) == (relation == "KP-all")
    return bool(support) and (model in support) == (relation == "SM-src")


def markdown(rows: Iterable[Relation]) -> str:
    """Return Table G.2; – means no problem, * means 1 to 5, as in the paper."""
    head = ["Pool", "Model", "Source relation", "n", *COLUMNS]
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for row in rows:
        cells = [row.pool, row.model, row.relation, str(row.n), *(rate.shown for rate in row.rates)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, "", *(f"{name}: {meaning}." for name, meaning in RELATIONS.items())])
