"""Write `docs/reproduce.md`. With --measure, first measure the samples and tokens of every run."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from whybench.report.papers.costs import COSTS, measured
from whybench.report.papers.model import load_paper, papers
from whybench.report.papers.page import page

TEXTS = 292
"""Texts of ReCITE's released data, which are not in the package."""


def main() -> None:
    """Measure, and write the page."""
    if "--measure" in sys.argv:
        known = json.loads(COSTS.read_text("utf-8"))
        for name in papers():
            paper = load_paper(name)
            for run in (run for item in paper.items for run in paper.wanted(item)):
                if run.key not in known:
                    hub = run.args.get("data") == "hub"
                    arms = 2 if run.task.endswith("_verify") else 1
                    known[run.key] = measured(run, TEXTS if hub else None, arms)
                    print(run.key, known[run.key], flush=True)
        Path(str(COSTS)).write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", "utf-8")
    Path("docs/reproduce.md").write_text(page(), "utf-8")


if __name__ == "__main__":
    main()
