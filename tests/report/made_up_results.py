"""Made-up results: systems of a given strength on six families."""

from __future__ import annotations

import math
from dataclasses import replace

from whybench.report.results.model import Result
from whybench.report.standings.model import Cell, Estimate, System

FAMILIES = ("causalab", "causalgame", "causallink", "prism", "recite", "replayscm")


def cell(family: str, score: float, **changes) -> Cell:
    raw = 0.5 + 0.5 * score
    made = Cell(
        family=family,
        suites=(f"{family}/main",),
        metric="accuracy",
        score=Estimate(score, score - 0.08, score + 0.06),
        raw=Estimate(raw, raw - 0.04, raw + 0.03),
        floor=0.5,
        floor_name="first_listed",
        ceiling=1.0,
        ceiling_name="exact",
        understood=Estimate(0.75, 0.6, 0.85),
        right=30,
        experiments=math.nan if family == "recite" else 3.5,
        efficiency=math.nan if family == "recite" else 0.8,
        input_tokens=120_000.0,
        output_tokens=8_000.0,
        cost=1.25,
        unusable=0.02,
        outcomes={"answered": 0.98, "cut_off": 0.02},
        episodes=50,
        instances=50,
        clusters=40,
    )
    return replace(made, **changes)


def system(name: str, score: float, families=FAMILIES, **changes) -> System:
    values = {family: score + 0.05 * (i % 3 - 1) for i, family in enumerate(families)}
    cells = {family: cell(family, value) for family, value in values.items()}
    missing = tuple(family for family in FAMILIES if family not in families)
    mean = math.fsum(values.values()) / len(values)
    overall = Estimate() if missing else Estimate(mean, mean - 0.05, mean + 0.05)
    made = System(name, name, False, cells, overall, Estimate(0.75, 0.7, 0.8), missing)
    return replace(made, **changes)


def result(name: str = "lab/one", score: float = 0.6, families=FAMILIES, **changes) -> Result:
    made = Result(
        system(name, score, families),
        release="1rc",
        set="standard",
        date="2026-11-02",
        versions={"inspect_ai": "0.3.285", "whybench": "0.1.0"},
        settings={"prism": {"protocol": "tools", "temperature": "0.7"}},
        logs={"one.eval": "0" * 63 + "a"},
    )
    return replace(made, **changes)
