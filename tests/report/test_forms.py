"""Declared tables, figures and remarks: what a form and rows make together."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from tests.report.soundness import sound

from whybench.report.charts import specification
from whybench.report.filling import filled, written
from whybench.report.forms import FigureForm, RemarkForm, SectionForm, Shown, TableForm, read
from whybench.report.section import Figure, Remark, Section, Table

ROWS = [
    {"system": "one", "size": 10, "score": 0.5, "low": 0.4, "high": 0.6, "published": False},
    {"system": "one", "size": 9, "score": 0.25, "low": 0.2, "high": 0.3, "published": False},
    {"system": "two (published)", "size": 9, "score": 0.75, "published": True},
]
LINES: dict[str, Any] = {
    "id": "by_size", "title": "By {what}", "rows": "scores", "kind": "lines", "x": "size",
    "y": "score", "alt": "{title}. {said}.{published}", "each": "{size}: {score:.2f}",
}  # fmt: skip


def made(*parts: Any, missing: str = "", **functions: Any) -> Section:
    whole = SectionForm("all", "All", parts=parts, missing=missing)
    return written(whole, functions, "subject")


def test_a_figure_is_drawn_named_and_said_in_words() -> None:
    found = made(
        FigureForm(**LINES, columns=("system", "score")),
        scores=lambda subject: Shown(pd.DataFrame(ROWS), {"what": "size"}),
    )
    sound(found)
    (figure,) = found.parts
    assert isinstance(figure, Figure)
    assert (figure.id, figure.title) == ("by-size", "By size")
    assert figure.alt == "By size. one: 10: 0.50, 9: 0.25. Published: 0.75 to 0.75 (1 system)."
    assert list(figure.frame.columns) == ["system", "score"]
    assert specification(figure.chart)["layer"][0]["encoding"]["x"]["sort"] == ["9", "10"]


def test_several_sets_of_rows_are_several_parts_and_a_function_is_asked_once() -> None:
    asked = []

    def scores(subject: str, first: str) -> list[Shown]:
        asked.append((subject, first))
        return [Shown(pd.DataFrame(ROWS), {"n": n}) for n in (first, "b")] + [Shown(pd.DataFrame())]

    table = TableForm("t-{n}", "T", "scores a", drop=("low", "high"))
    remark = RemarkForm("{system} of {n}", "scores a")
    found = made(table, remark, scores=scores)
    assert [part.id for part in found.parts if isinstance(part, Table)] == ["t-a", "t-b"]
    assert [part.text for part in found.parts if isinstance(part, Remark)][:2] == ["one of a"] * 2
    assert asked == [("subject", "a")]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], ["nothing at all"]),
        ([{"kept": False}], ["no other", "none kept"]),
        ([{"kept": True}], ["no other"]),
    ],
)
def test_what_is_missing_is_said_once(rows: list[dict[str, bool]], said: list[str]) -> None:
    found = made(
        TableForm("a", "A", "given"),
        TableForm("b", "B", "nothing", missing="no other"),
        RemarkForm("none kept", "given", unless="kept"),
        missing="nothing at all",
        given=lambda subject: rows,
        nothing=lambda subject: None,
    )
    assert [part.text for part in found.parts if isinstance(part, Remark)] == said


def test_kinds_that_do_not_occur_are_in_no_legend() -> None:
    rows = [{"system": "one", "kind": k, "share": s} for k, s in (("good", 1.0), ("bad", 0.0))]
    form = FigureForm(
        "k", "K", "kinds", "bars", x="share", y="system", color="kind", each="{kind} {share:.1f}",
        unless="share", kinds={"bad": "orange", "good": "blue"},
    )  # fmt: skip
    (figure,) = made(form, kinds=lambda subject: rows).parts
    assert isinstance(figure, Figure)
    assert figure.alt == "one: good 1.0."
    scale = specification(figure.chart)["layer"][0]["encoding"]["color"]["scale"]
    assert scale["domain"] == ["good"]


def test_what_is_not_known_is_said_to_be_unknown() -> None:
    words = {"a": float("nan"), "b": None, "c": pd.NA, "d d": 1}
    assert filled("{a:.2f} {b} {c} {d d:.1f}", words) == "unknown unknown unknown 1.0"


@pytest.mark.parametrize("family", ["causallink", "causalab", "replayscm", "causalgame", "recite"])
def test_every_declared_section_can_be_read(family: str) -> None:
    form = read(f"whybench.families.{family}.extras.report", "section.toml")
    assert form.id == family
    assert all(child.parts for child in form.children)
