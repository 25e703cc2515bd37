"""The results of an audit as one page with figures, in the style of reports."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import altair as alt
import pandas as pd

from whybench import __version__
from whybench.audit.rule import RULE
from whybench.audit.summary import HEADER, Told, row_of, with_interval
from whybench.causal.whole_files import write_whole
from whybench.report.charts import dots, rows_of
from whybench.report.page.render import render
from whybench.report.palette import LIGHT
from whybench.report.section import Figure, Part, Remark, Report, Section, Table

COUNTS, LISTED, EXACT = "guesser that counts", "guesser that does not count", "exact agent"
BY_SIZE = (
    "Every score keeps its limit, but the bounds of intervals do not. More instances could give "
    "PASS."
)


def write_page(results: Sequence[Told], file: Path) -> None:
    """Write the page."""
    write_whole(file, render(page_of(results)))


def page_of(results: Sequence[Told]) -> Report:
    """Return the content of the page."""
    rule = pd.DataFrame(
        [
            {"condition": one.meaning.replace("`", ""), "verdict if broken": one.broken}
            for one in RULE
        ]
    )
    table = pd.DataFrame([row_of(one) for one in results], columns=list(HEADER))
    table.insert(1, "verdict", table.pop("verdict"))  # it must not need scrolling
    summary = Section(
        "verdicts",
        "Verdicts",
        "An audit tries to break each suite with cheap guessers, leak tests and a second look at "
        "certificates, on seeds that nothing else uses.",
        (
            Table(
                "verdicts",
                "Verdict of each suite",
                table,
            ),
            Table("rule", "The rule: a suite that breaks no condition gets PASS", rule),
        ),
    )
    about = {"WhyBench": __version__, "seeds": ", ".join(results[0]["seeds"]) if results else "–"}
    return Report("WhyBench audit", (summary, *map(_section, results)), about=about)


def _section(told: Told) -> Section:
    name = re.sub(r"[^A-Za-z0-9]+", "-", f"{told['suite']}-{told['profile']}")
    verdict = row_of(told)[-1]
    why: list[Part] = []
    if told["by_size"]:
        why.append(Remark(BY_SIZE))
    if told["reasons"]:
        reasons = pd.DataFrame({"reason": told["reasons"]})
        why.append(Table(f"{name}-reasons", "Why it is not PASS", reasons))
    tests = pd.DataFrame([{"test": t, "result": r} for t, r in told["leak_tests"].items()])
    return Section(
        name,
        f"{told['suite']}: {verdict}",
        f"Profile {told['profile']}, certificates: {told['status']}. "
        f"Best guesser: {told['best_guesser'] or 'none'}.",
        (
            *why,
            _figure(name, told),
            Table(f"{name}-leaks", "Leak tests", tests),
        ),
    )


def _figure(name: str, told: Told) -> Figure:
    rows = [
        {
            "agent": one["name"] if not one["metric"] else f"{one['name']} ({one['metric']})",
            "kind": COUNTS if one["counts"] else LISTED,
            "score": one["estimate"],
            "low": one["low"],
            "high": one["high"],
            "limit": one["limit"],
            "instances": one["n"],
            "why it does not count": one["reason"],
        }
        for one in told["guessers"]
    ]
    low, high = told["exact_interval"]
    rows.append(
        {
            "agent": "exact",
            "kind": EXACT,
            "score": told["exact"],
            "low": low,
            "high": high,
            "limit": None,
            "instances": told["instances"]["exact"],
            "why it does not count": "",
        }
    )
    frame = pd.DataFrame(rows)
    order = list(dict.fromkeys(frame["agent"]))
    limits = frame[frame["limit"].notna()]
    marks = (
        alt.Chart(rows_of(limits))
        .mark_tick(color=LIGHT["ink"], thickness=3, height=18)
        .encode(x=alt.X("limit:Q", title=told["headline"]), y=alt.Y("agent:N", sort=order))
    )
    lowest = min([0.0, *frame["low"].dropna(), *frame["score"].dropna()])
    best = with_interval(told["guesser"], told["guesser_interval"])
    return Figure(
        name,
        f"Guessers, their limits and the exact agent: {told['headline']}",
        f"{told['best_guesser'] or 'no guesser'} reaches {best}, "
        f"exact {with_interval(told['exact'], told['exact_interval'])}.",
        dots(
            frame,
            x="score",
            y="agent",
            color="kind",
            low="low",
            high="high",
            x_title=told["headline"],
            y_sort=order,
            domain=(min(0.0, float(lowest)), 1.0),
            under=[marks],
        ),
        frame,
        "A point is the mean, the line its interval: 95 % for the exact agent, and for all "
        "guessers together (Bonferroni). An upright mark is the limit of a guesser.",
    )
