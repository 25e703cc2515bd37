#!/usr/bin/env python
"""Count the commands in the documentation, and how many of them tests run, by tier."""

import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.documents.pages import PAGES, blocks, commands


def main() -> None:
    counts: Counter[tuple[str, str]] = Counter()
    never: Counter[str] = Counter()
    for page in PAGES:
        for block in blocks(page):
            if block.language not in {"console", "python"}:
                continue
            many = len(commands(block)) if block.language == "console" else 1
            tier = block.tier or ("compared with a file" if block.source else "default")
            counts[block.language, "never" if block.never else tier] += many
            if block.never:
                never[block.never] += many
    for language in ("console", "python"):
        own = {tier: n for (kind, tier), n in sorted(counts.items()) if kind == language}
        total = sum(own.values())
        word = "commands" if language == "console" else "blocks of Python"
        print(f"{total} {word}, {total - own.get('never', 0)} run by tests: {own}")
    for reason, many in never.most_common():
        print(f"{many:4} not run: {reason}")


if __name__ == "__main__":
    main()
