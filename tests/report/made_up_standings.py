"""Made-up standings and a front page: four systems, six families, every kind of cell."""

from dataclasses import replace
from itertools import combinations

from tests.report.made_up import designs, report, small_graph

from whybench.episode.annotated import AnnotatedEpisode, Arrow, Moment
from whybench.report.front.model import Change, Front, Multiple, Note, Panel
from whybench.report.palette import ranked
from whybench.report.section import Chapter, Report, Section
from whybench.report.standings.model import Cell, Estimate, Gap, Pair, Standings, System

FAMILIES = ("causallink", "replayscm", "causalab", "causalgame", "recite", "prism")

SCORES = {
    "aster-large": ((0.93, 0.62, 0.88, 0.55, 0.71, 0.75), (0.96, 0.88, 0.93, 0.64, 0.82, 0.84)),
    "birch-think": ((0.84, 0.66, 0.91, 0.38, 0.73, 0.50), (0.62, 0.35, 0.22, 0.30, 0.58, 0.45)),
    "cedar-mini": ((0.58, 0.21, 0.44, 0.12, 0.52, 0.41), (0.90, 0.76, 0.81, 0.55, 0.74, 0.78)),
    "dune-135m": ((0.03, 0.00, -0.02, 0.00, 0.05, 0.04), (None,) * 6),
}
"""System → scores and shares understood by family."""


def cell(family: str, score: float, share: float | None, **changes) -> Cell:
    half = 0.06 if score > 0.1 else 0.09
    made = Cell(
        family=family,
        suites=(f"{family}/main",),
        metric="accuracy",
        score=Estimate(score, score - half, score + half),
        raw=Estimate(0.5 + score / 2, 0.5 + (score - half) / 2, 0.5 + (score + half) / 2),
        floor=0.5,
        floor_name="hold_one",
        ceiling=1.0,
        ceiling_name="exact",
        understood=Estimate() if share is None else Estimate(share, share - 0.1, share + 0.1),
        right=0 if share is None else 90,
        experiments=4.0,
        efficiency=0.6,
        input_tokens=1000.0,
        output_tokens=100.0,
        cost=1.25,
        unusable=0.003,
        outcomes={"answered": 1.0},
        episodes=240,
        instances=120,
        clusters=120,
    )
    return replace(made, **changes)


def system(name: str, scores=None, **changes) -> System:
    cells = {
        family: cell(family, score, share)
        for family, score, share in zip(FAMILIES, *(scores or SCORES[name]), strict=True)
    }
    mean = sum(one.score.value for one in cells.values()) / len(cells)
    parts = [one for one in cells.values() if one.understood.known]
    total = sum(one.score.value for one in parts)
    share = sum(one.score.value * one.understood.value for one in parts) / total if total else None
    made = System(
        name=name,
        model=f"mock/{name}",
        reference=False,
        cells=cells,
        overall=Estimate(mean, mean - 0.03, mean + 0.03),
        understood=Estimate() if share is None else Estimate(share, share - 0.04, share + 0.04),
    )
    return replace(made, **changes)


def gap(difference: float, half: float = 0.04, n: int = 120) -> Gap:
    p = 0.001 if abs(difference) > half else 0.4
    return Gap(Estimate(difference, difference - half, difference + half), p, p, n, n)


def standings(systems=None, **changes) -> Standings:
    """All systems, best first, with a paired comparison of any two."""
    systems = tuple(systems or (system(name) for name in SCORES))
    pairs = tuple(
        Pair(
            a.name,
            b.name,
            gap(a.overall.value - b.overall.value) if a.overall.known and b.overall.known else None,
            {
                name: gap(a.cells[name].score.value - b.cells[name].score.value, 0.08)
                for name in FAMILIES
                if name in a.cells and name in b.cells
            },
        )
        for a, b in combinations(systems, 2)
    )
    given = {"release": "1rc", "set": "standard"} | changes
    return Standings(FAMILIES, systems, pairs, **given)


def short_of(one: System, *families: str, **changes) -> System:
    """The same system without some families."""
    cells = {name: held for name, held in one.cells.items() if name not in families}
    return replace(one, cells=cells, overall=Estimate(), missing=families, **changes)


def triangle(verdict: str) -> AnnotatedEpisode:
    """Three nodes; the belief has one arrow right, one reversed and one extra."""
    truth = (Arrow("square", "star"), Arrow("star", "circle"))
    held = (Arrow("square", "star"), Arrow("circle", "star"), Arrow("square", "circle"))
    return AnnotatedEpisode(
        verdict, (Moment("moved the square", "the star moved", arrows=held),),
        ("square", "star", "circle"), truth, sufficed=1,
    )  # fmt: skip


def chapters() -> tuple[Chapter, ...]:
    told = {
        "understood": ("aster-large", "causallink", triangle("It moved the square.")),
        "lucky": ("birch-think", "causalab", small_graph()),
        "contradicted": ("cedar-mini", "causalgame", designs()),
    }
    return tuple(
        Chapter(
            f"card-{kind}", family, f"{family}/main", system, f"{family}-1", 1, "answered", 1.0,
            annotated.to_json(), kind,
        )
        for kind, (system, family, annotated) in told.items()
    )  # fmt: skip


def multiple(names) -> Multiple:
    changes = tuple(
        Change(name, value, value < -0.08)
        for name, value in (("shapes", -0.04), ("board", -0.1), ("game", 0.02), ("prose", -0.17))
    )
    rates = (
        ("answers the unknowable", Estimate(0.22, 0.1, 0.3)),
        ("gives up too soon", Estimate(0.31, 0.2, 0.4)),
    )
    return Multiple(
        "Prism: does the wording matter, and does it know its limits?",
        "One hidden system described in five ways, and some questions that nobody can answer.",
        "table", "Score as a table, and change in other wordings", "Knows its limits?",
        tuple(Panel(name, 0.8, changes, rates, "Loses in board and prose.") for name in names),
        "prism",
    )  # fmt: skip


def fronted(held: Standings | None = None) -> Report:
    """The made-up report behind a front page."""
    held = held or standings()
    names = [one.name for one in held.systems]
    base = report()
    sections = (
        *base.sections,
        *(Section(f, f.title(), "Text.") for f in FAMILIES if f != "causalab"),
    )
    notes = {
        name: Note(f"What {name} asks of a system, in one sentence.", "a few words for it", name)
        for name in held.families
    }
    front = Front(
        held, notes, (multiple(names),), tuple(c for c in chapters() if c.system in names)
    )
    return replace(
        base, title="WhyBench report", sections=sections, systems=ranked(names), front=front,
        chapters=(*base.chapters, *chapters()),
    )  # fmt: skip
