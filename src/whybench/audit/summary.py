"""The result of an audit: as rows of a table, as a record, in the documentation, and compared.

The record is `audit.json` in each family's package. Lists, reports, cards and `docs/audit.md` show
what is recorded there, and a dash for a suite whose record has another version.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from string import Template
from textwrap import fill
from typing import Any

from whybench.audit.rule import RULE, VERDICTS
from whybench.episode.declaration import profiles_of
from whybench.episode.registry import families

HEADER = ("suite", "status", "best guesser", "score", "exact", "verdict")
IN_RECORD = (
    "suite",
    "profile",
    "version",
    "status",
    "verdict",
    "label",
    "by_size",
    "reasons",
    "best_guesser",
    "guesser",
    "guesser_interval",
    "exact",
    "exact_interval",
    "instances",
    "seeds",
)
"""What a record keeps of a suite."""
BLOCK = re.compile(r"(<!-- audit -->\n).*?(<!-- /audit -->)", re.DOTALL)
"""The place of the audit in a card."""

Told = Mapping[str, Any]
"""One suite as `whybench audit --json` prints it."""

CERTIFIED = "certified"
"""The profile of the page and of cards."""
MOST_REASONS = 3
"""Reasons of a suite in texts; the others are counted."""


def row_of(told: Told) -> list[str]:
    """Return one suite as a row below `HEADER`."""
    labels = [told["label"], "by size" if told["by_size"] else ""]
    label = f" ({', '.join(filter(None, labels))})" if any(labels) else ""
    return [
        told["suite"],
        told["status"],
        told["best_guesser"] or "–",
        with_interval(told["guesser"], told["guesser_interval"]),
        with_interval(told["exact"], told["exact_interval"]),
        told["verdict"] + label,
    ]


def with_interval(value: float | None, interval: Sequence[float | None] | None) -> str:
    """Return a score with its interval.

    >>> with_interval(0.5, [0.25, 0.75]), with_interval(None, None), with_interval(1.0, [None] * 2)
    ('0.500 [0.250, 0.750]', '–', '1.000')
    """
    if value is None:
        return "–"
    low, high = interval or (None, None)
    return f"{value:.3f}" + (f" [{low:.3f}, {high:.3f}]" if None not in (low, high) else "")


PAGE = Template("""\
# Audit

This page shows the latest audit of all suites. An audit tries to break a suite: cheap guessers play
it, leak tests look for the truth where an agent can see it, and independent code checks the
certificates again.

`scripts/audit_all` writes this page, the table in each family's card, and `audit.json` in each
family's package, which `whybench list FAMILY` and reports read. A dash means that the suite has no
audit in the current version of its family.

Result: $counts.

## The rule

| condition | verdict if broken |
|---|---|
$rule

The verdict is that of the worst broken condition. A suite that breaks none gets PASS. Each family
declares its limits in `[audit]` of its `family.toml`. Only guessers that count enter the rule;
`whybench audit --json` lists the others, with the reason.

A label in parentheses marks a suite that is known not to keep the limits. `enumerated` is one fixed
list of cases, which memory can solve. `warm-up` is small on purpose. For such a suite, what memory
gains makes the verdict WEAK, not FAIL. `by size` marks a suite whose scores keep every limit while
the bounds of their intervals do not: more instances could give PASS.

Scores are means of the family's headline metric. Intervals have the level 95 %: for the exact agent
alone, and for all guessers of a battery together (Bonferroni). They are clustered by hidden system.

The last column has the instances of the best guesser and of the exact agent. Recommended suites and
those with a label are audited with 1,000 instances per guesser, 100 of the exact agent and 50
certificates; the other suites, and families audited with `--small`, with 80, 25 and 8. Only
recommended suites have the log of a sample tested. A guesser that takes more than a second per
instance plays 200 or 40. Every agent stops after 30 or 6 seconds of CPU, so slow ones play fewer.

## Verdicts

$table

## Reasons

$reasons
""")


def record(results: Iterable[Told], before: str = "") -> str:
    """Return the record of a family with new results; the others stay."""
    kept = {(one["suite"], one["profile"]): one for one in json.loads(before or "[]")}
    for one in results:
        shown = {**one, "reasons": shortened(one["reasons"])}
        kept[one["suite"], one["profile"]] = {name: shown[name] for name in IN_RECORD}
    return json.dumps([kept[name] for name in sorted(kept)], indent=1, ensure_ascii=False) + "\n"


def shortened(reasons: Sequence[str]) -> list[str]:
    """Return the first reasons, and how many more there are.

    >>> shortened(["a", "b", "c", "d", "e"])
    ['a', 'b', 'c', 'and 2 more']
    """
    more = len(reasons) - MOST_REASONS
    return [*reasons[:MOST_REASONS], *([f"and {more} more"] if more > 0 else [])]


def documented() -> str:
    """Return the page `docs/audit.md` from the records of all families."""
    known = [one for name in families() for one in families().audited(name).values()]
    counts = Counter(one["verdict"] for one in known)
    return PAGE.substitute(
        counts=", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS),
        rule="\n".join(f"| {one.meaning} | {one.broken} |" for one in RULE),
        table="\n".join(_table(families())),
        reasons="\n".join(line for one in known for line in _reasons(one)) or "None.",
    )


def carded(name: str, card: str) -> str:
    """Return the card of a family with the table of its audit."""
    data = families().declared(name)
    known = families().audited(name)
    block = f"Version {data['version']} has no audit yet (`docs/audit.md`)."
    if known:
        about = f"`{data['headline']}` in the latest audit (`docs/audit.md`), profile `certified`:"
        block = "\n".join([about, "", *_table([name])])
    return BLOCK.sub(lambda found: f"{found[1]}\n{block}\n\n{found[2]}", card)


def _table(names: Iterable[str]) -> Iterator[str]:
    """Return the suites of families in profile `certified` as lines of a table."""
    header = (*HEADER, "instances")
    yield f"| {' | '.join(header)} |"
    yield "|---" * len(header) + "|"
    for name in names:
        known = families().audited(name)
        data = families().declared(name)
        for suite in data["suites"]:
            if CERTIFIED not in profiles_of(data, suite):
                continue
            one = known.get((suite, CERTIFIED))
            row = [f"{name}/{suite}", *["–"] * len(HEADER)]
            if one is not None:
                counts = one["instances"]
                row = [*row_of(one), f"{counts['guesser']}, {counts['exact']}"]
            yield f"| {' | '.join(row)} |"


def _reasons(told: Told) -> Iterator[str]:
    if told["reasons"]:
        yield f"- {told['suite']} ({told['verdict']}):"
    for one in told["reasons"]:
        yield fill(f"- {_plain(one)}", 100, initial_indent=" " * 4, subsequent_indent=" " * 6)


def _plain(text: str) -> str:
    return re.sub(r"([<>|*_])", r"\\\1", text)


def recorded(page: str, column: str = "verdict") -> dict[str, str]:
    """Return a column of the table in `docs/audit.md` by suite, without labels.

    >>> recorded("| causallink/core | proven | a | 1 | 1 | WEAK (enumerated) | 10 |")
    {'causallink/core': 'WEAK'}
    """
    place = 1 + HEADER.index(column)
    lines = [[cell.strip() for cell in line.split("|")] for line in page.splitlines()]
    return {
        cells[1]: cells[place].split()[0]
        for cells in lines
        if len(cells) > len(HEADER) and "/" in cells[1] and cells[place] not in ("", "–")
    }


def worsened(results: Iterable[Told], before: Mapping[str, str]) -> list[str]:
    """Say which suites have a worse verdict than recorded; one without a record must PASS."""
    return [
        f"{one['suite']}: {one['verdict']}, recorded {known}"
        for one in results
        if VERDICTS.index(one["verdict"])
        > VERDICTS.index(known := before.get(one["suite"], "PASS"))
    ]
