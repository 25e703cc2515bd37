"""Write `docs/reproduce.md` from the papers' data."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator

from whybench.report.papers.formats import lined, listed
from whybench.report.papers.model import load_paper, papers

INTRO = """\
<!-- Written by scripts/reproduce_page.py. Do not edit. -->

# Reproduce a paper's tables

`whybench reproduce PAPER --list` lists every table and figure of a paper, with its state and cost.
`whybench reproduce PAPER N --model MODEL` plays what is missing, and prints the table with a row
for the model. The columns have the paper's names and order. Published rows are below. New rows are
marked `(new)`.

<!-- run: wire -->
```console
$ whybench reproduce causallink --list
$ whybench reproduce causallink 4 --model whybench/exact --limit 4 --log-dir trial
$ whybench reproduce causallink "figure 2" --model whybench/exact --limit 4 --log-dir trial
```

- The command applies the paper's sampling settings and shows them. `--temperature` and
  `--max-tokens` replace them.
- `--limit N` plays the first N instances of each run. The same command without it plays the rest.
- `--format csv` prints CSV, and `--page FILE` also writes a report. A report on such logs has the
  section "The paper's tables".
- `-T NAME=VALUE` adds an argument of the tasks, such as a judge or a folder of released files.
- A cell that cannot be had is a dash, and a note says why.

A state is `full` if the paper's columns come from a user's logs, by the paper's definitions, on its
suite. `part` and `none` have a reason. Tokens are those of the exact agent, without reasoning and
without judges. Illustrations and definitions have no result.
"""


def page() -> str:
    """Return the page."""
    return "\n".join([INTRO, *(_paper(name) for name in papers())])


def _paper(family: str) -> str:
    paper = load_paper(family)
    rows = listed(paper)
    counts = Counter((row["place"], row["state"]) for row in rows if row["result"])
    told = "; ".join(
        f"{'main text' if place == 'main' else 'appendix'}: "
        + ", ".join(f"{counts[place, state]} {state}" for state in ("full", "part", "none"))
        for place in ("main", "appendix")
    )
    cells = [
        [
            f"{row['kind'].capitalize()} {row['number']}",
            row["title"],
            row["state"] if row["result"] else "no result",
            "–" if row["samples"] is None else f"{row['samples']:,}",
            "–" if row["tokens"] is None else f"{row['tokens']:,}",
        ]
        for row in rows
    ]
    head = f"## {family}\n\n" + _wrapped(f"{paper.title}. {told}. {paper.sampling_note}")
    table = lined(("item", "content", "state", "samples", "tokens"), cells)
    return "\n".join([head, "", table, "", *_reasons(rows), ""])


def _reasons(rows: list[dict[str, object]]) -> Iterator[str]:
    for row in rows:
        if row["reason"]:
            text = f"- {str(row['kind']).capitalize()} {row['number']}: {row['reason']}"
            yield _wrapped(text, "  ")


def _wrapped(text: str, indent: str = "") -> str:
    return textwrap.fill(text, 100, subsequent_indent=indent, break_long_words=False)
