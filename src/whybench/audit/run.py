"""Audit suites: battery and exact agent on unused seeds, certificates, leaks, prompt, verdict.

The work is cut into parts: one agent of one suite each, its claims, and its leaks. A finished part
is kept as a file, so the same command resumes. The name of the file holds a hash of all that the
result depends on: sizes, seeds, versions, and the code of the family and of the audit.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from whybench.audit.certificates import checked
from whybench.audit.leaks import leaks
from whybench.audit.limits import Limits
from whybench.audit.logs import logged
from whybench.audit.obedient import discrepancies
from whybench.audit.plays import (
    EXACT,
    Row,
    Sizes,
    battery,
    difference,
    exact_agent,
    gained,
    measured,
    played,
)
from whybench.audit.rule import (
    LEVEL,
    MEMORY,
    Case,
    Findings,
    Judged,
    Measured,
    corrected_level,
    judged,
)
from whybench.causal.canonical import Json, digest
from whybench.causal.whole_files import write_whole
from whybench.episode.family import Family, Suite
from whybench.episode.guesser import Guesser
from whybench.episode.registry import families, load_suite
from whybench.scale.task_runner import carried_out

SEEDS = ("audit-heron", "audit-lynx")
"""Seeds that nothing else in the project uses."""
TRAIN = "audit-train"
"""The seed on which guessers are fitted."""
CLAIMS, LEAKS = "claims", "leaks"
OTHERS = {CLAIMS, LEAKS}
"""Parts of the work that are not plays of an agent."""
INSTANCES_OF_LEAKS = 100
"""Instances of each seed in which leaks are looked for; never more than a slow guesser plays."""
WRITTEN = {"card.md", "audit.json"}
"""Files of a family that an audit writes, so no result depends on them."""


@dataclass(frozen=True, slots=True)
class Order:
    """What to audit, and how thoroughly."""

    path: str
    profile: str = "certified"
    seeds: tuple[str, ...] = SEEDS
    sizes: Sizes = field(default_factory=Sizes)
    logs: bool = True
    """Whether to look for leaks in a log, too."""
    only: tuple[str, ...] = ()
    """The guessers that play; empty: all of the battery."""

    def suite(self, seed: str) -> Suite:
        """Return the suite of a seed."""
        return load_suite(self.path, profile=self.profile, seed=seed)

    @property
    def family(self) -> Family[Any]:
        """The family of the suite."""
        return families()[self.path.partition("/")[0]]

    @property
    def limits(self) -> Limits:
        """The limits that the family declares for the suite."""
        if not self.family.audit:
            raise ValueError(f"{self.family.name} declares no limits: add [audit] to family.toml")
        return Limits.of(self.family.audit, self.path.partition("/")[2])

    @property
    def battery(self) -> list[Guesser]:
        """The guessers that play."""
        every = battery(self.family)
        return [one for one in every if not self.only or one.name in self.only]

    @property
    def parts(self) -> list[str]:
        """The parts of the work."""
        return [EXACT, *(one.name for one in self.battery), CLAIMS, LEAKS]

    def file(self, part: str) -> str:
        """Return the name of a part's file."""
        module = type(self.family).__module__.rpartition(".")[0]
        told: Json = [
            json.loads(json.dumps(asdict(self))),
            self.family.version,
            part,
            _code(module),
            _code(__package__),
        ]
        name = f"{self.path.replace('/', '-')}-{self.profile}-{part}"
        return f"{name}-{digest(told).hex()[:12]}.json"


@dataclass(frozen=True, slots=True)
class Audited:
    """The result of one suite."""

    order: Order
    status: str
    """The statuses of its certificates."""
    case: Case
    judged: Judged
    tests: Mapping[str, str]
    """Leak test → `clean`, `leak`, or `not tested`: it does not apply, or instances are too few."""

    def to_json(self) -> dict[str, Json]:
        """Return the result as JSON data."""
        case, best = self.case, self.case.best
        exact = case.exact
        return {
            "suite": self.order.path,
            "profile": self.order.profile,
            "status": self.status,
            "verdict": self.judged.verdict,
            "label": self.judged.label,
            "by_size": self.judged.by_size,
            "reasons": list(self.judged.reasons),
            "best_guesser": best.name if best else None,
            "guesser": _number(best.estimate) if best else None,
            "guesser_interval": [_number(best.low), _number(best.high)] if best else None,
            "exact": _number(exact.estimate),
            "exact_interval": [_number(exact.low), _number(exact.high)],
            "limits": case.limits.to_json(),
            "headline": self.order.family.headline,
            "guessers": [_told(case, one) for one in case.guessers],
            "leak_tests": dict(self.tests),
            "instances": {"guesser": best.n if best else 0, "exact": exact.n},
            "seeds": list(self.order.seeds),
            "version": self.order.family.version,
        }


def _told(case: Case, one: Measured) -> dict[str, Json]:
    limit = case.limits.also.get(one.metric) if one.metric else case.limit(one)
    told = asdict(one) | {"limit": limit if one.counts else None}
    return {name: _number(v) if isinstance(v, float) else v for name, v in told.items()}


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


def audit(
    orders: Sequence[Order],
    folder: Path,
    *,
    workers: int | None = 0,
    address: str | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> Iterator[Audited]:
    """Audit suites; parts that are in the folder are not done again."""
    for order in orders:
        check_names(order)
    folder.mkdir(parents=True, exist_ok=True)
    work = [(order, part, folder / order.file(part)) for order in orders for part in order.parts]
    missing = [number for number, (_, _, file) in enumerate(work) if not file.exists()]
    progress(len(work) - len(missing))
    for _ in carried_out(do_part, (work,), missing, workers=workers, address=address):
        progress(1)
    for order in orders:
        found = {
            part: json.loads((folder / order.file(part)).read_text("utf-8")) for part in order.parts
        }
        yield put_together(order, found)


def check_names(order: Order) -> None:
    """Refuse limits that name what the family does not declare."""
    family, limits = order.family, order.limits
    named = {
        "metric": (limits.also, {one.name for one in family.metrics}),
        "suite": ({**limits.exempt, **family.audit.get("suites", {})}, set(family.suites)),
    }
    for what, (told, known) in named.items():
        if unknown := sorted(told.keys() - known):
            raise ValueError(f"[audit] of {family.name} names an unknown {what}: {unknown[0]!r}")


def do_part(work: Sequence[tuple[Order, str, Path]], number: int) -> str:
    """Do one part and keep its result."""
    order, part, file = work[number]
    suites = [order.suite(seed) for seed in order.seeds]
    told: Any
    if part == CLAIMS:
        count = order.sizes.certificates
        statuses, wrong = checked(suites, count)
        obedient = list(discrepancies(suites, -(-count // len(suites))))
        told = {"statuses": dict(statuses), "wrong": wrong, "obedient": obedient}
    elif part == LEAKS:
        told = leaks(suites, min(INSTANCES_OF_LEAKS, -(-order.sizes.slow // len(suites))))
        told["logs"] = logged(suites[0]) if order.logs else None
    else:
        agents = {one.name: one for one in (exact_agent(), *order.battery)}
        told = played(suites, order.suite(TRAIN), agents[part], order.sizes)
    write_whole(file, json.dumps(told))
    return file.name


def put_together(order: Order, found: Mapping[str, Any]) -> Audited:
    """Measure the agents and apply the rule."""
    family, limits = order.family, order.limits
    rows: dict[str, list[Row]] = {
        part: [(name, cluster, values) for name, cluster, values in own]
        for part, own in found.items()
        if part not in OTHERS
    }
    agents = order.battery
    counting = [one for one in agents if one.counts]
    level = corrected_level(counting)
    exact = measured(family, exact_agent(), rows[EXACT], LEVEL)
    if exact is None:
        raise ValueError(f"{order.path}: the exact agent has no value of {family.headline}")
    table = [
        one
        for guesser in agents
        for metric in ("", *limits.also)
        if (one := measured(family, guesser, rows[guesser.name], level, metric)) is not None
    ]
    gain = {one.name: gained(rows[one.name], rows[EXACT], family.headline) for one in counting}
    memory = None
    if MEMORY in rows and limits.prior in rows:
        memory = difference(rows[MEMORY], rows[limits.prior], family.headline)
    claims, tests = found[CLAIMS], found[LEAKS]
    findings = Findings(
        tuple(claims["wrong"]),
        tuple(f"{test}: {one}" for test, told in tests.items() for one in told or ()),
        tuple(claims["obedient"]),
        memory,
        tuple(name for name, more in gain.items() if more > 0),
        family.capability("battery") is None,
    )
    case = Case(order.path.partition("/")[2], limits, exact, tuple(table), findings)
    outcome = {
        test: "not tested" if told is None else "leak" if told else "clean"
        for test, told in tests.items()
    }
    return Audited(order, "+".join(sorted(claims["statuses"])), case, judged(case), outcome)


@cache
def _code(package: str) -> str:
    """Return a hash of the files of a package that a result can depend on."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return ""
    root = Path(spec.submodule_search_locations[0])
    files = sorted(
        one
        for one in root.rglob("*")
        if one.is_file() and one.name not in WRITTEN and "__pycache__" not in one.parts
    )
    found = sha256()
    for file in files:
        found.update(str(file.relative_to(root)).encode() + b"\0" + file.read_bytes() + b"\0")
    return found.hexdigest()
