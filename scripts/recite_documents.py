"""Write the documents that `docs/recite-documents` shows in full."""

from __future__ import annotations

from pathlib import Path
from textwrap import fill

import whybench as wb

SHOWN = (("short", 4), ("short", 5), ("short", 12), ("ladder", 6), ("standard", 10))
FOLDER = Path("docs/recite-documents")


def wrapped(line: str) -> str:
    """Break a line of prose; the text that an agent reads has one line per paragraph."""
    return line if line.startswith(("|", "#")) else fill(line, 100, break_on_hyphens=False)


def main() -> None:
    """Write one file for each document, with its gold graph at the end."""
    FOLDER.mkdir(exist_ok=True)
    for name, index in SHOWN:
        suite = wb.load_suite(f"recite/{name}")
        world = suite.family.world(suite[index])
        names = [node.name for node in world.nodes]
        lines = [
            *(wrapped(line) for line in world.view.text.rstrip().splitlines()),
            "",
            "---",
            "",
            "Gold graph (not shown to the agent):",
            "",
        ]
        for edge in world.edges:
            sign = "+" if edge.sign > 0 else "−"
            note = "" if edge.plausible else ", against common knowledge"
            told = f"{edge.status}, told {len(edge.frames)} times{note}"
            line = f"- {names[edge.cause]} → {names[edge.effect]} ({sign}; {told})"
            lines.append(fill(line, 100, subsequent_indent="  ", break_on_hyphens=False))
        path = FOLDER / f"{name}-{index:04d}.md"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        print(path, len(world.nodes), len(world.edges), len(world.view.text), world.domains)


if __name__ == "__main__":
    main()
