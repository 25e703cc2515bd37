#!/usr/bin/env python
"""Measure how long the sentences of the documentation are.

scripts/readability.py [FILE ...] [--docstrings] [--json] [--bar MEDIAN SHARE]

Without files it reads README, CONTRIBUTING, `docs`, the cards and the READMEs of `packages`.
Code blocks, tables, headings, comments and links' addresses are not sentences. A sentence ends with
a full stop, a question mark, an exclamation mark, its list item or its paragraph. With
`--bar 14 0.08` it fails if the median over all files is above 14 words, or if more than 8 % of the
sentences have over 25 words.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("README.md", "CONTRIBUTING.md", "docs/**/*.md", "packages/*/README.md")
CARDS = "src/whybench/families/*/card.md"
LONG = 25

FENCE = re.compile(r"^ *(```|~~~).*?^ *\1 *$", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
CODE = re.compile(r"(`+)(.+?)\1")
NEW_BLOCK = re.compile(r"^\s*(?:[-*+] |\d+\. |> ?|\||#|!!!|$)")
END = re.compile(r"(?<=[.!?])[)\"'”*_]*\s+(?=[\"'“(*_`]*[A-Z0-9`])")
SHORT = re.compile(r"\b(e\.g|i\.e|cf|vs|etc|al|Fig|Eq|Sec|No|approx|resp)\.", re.IGNORECASE)
WORD = re.compile(r"[^\W_](?:[\w'’./=×-]*\w)?")


def blocks(text: str) -> Iterator[str]:
    """Yield paragraphs and list items of a Markdown text, each on one line."""
    text = COMMENT.sub("", FENCE.sub("\n", text))
    held: list[str] = []
    for line in [*text.splitlines(), ""]:
        if NEW_BLOCK.match(line):
            if held:
                yield " ".join(held)
            held = []
            if re.match(r"^\s*(?:\||#|--8<--)", line):
                continue
        line = re.sub(r"^\s*(?:[-*+] |\d+\. |> ?|!!! \w+)", "", line).strip()
        if line:
            held.append(line)


def sentences(text: str) -> Iterator[int]:
    """Yield the number of words of each sentence of three words or more."""
    for block in blocks(text):
        plain = CODE.sub("Code", LINK.sub(r"\1", block))
        plain = SHORT.sub(lambda found: found[0].replace(".", ""), plain)
        for part in END.split(plain):
            count = len(WORD.findall(part or ""))
            if count >= 3:
                yield count


def docstrings(path: Path) -> str:
    """Return all docstrings of a Python file as one text."""
    kinds = ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef
    found = [
        ast.get_docstring(node)
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, kinds)
    ]
    return "\n\n".join(text for text in found if text)


def figures(lengths: list[int]) -> dict[str, float]:
    return {
        "sentences": len(lengths),
        "median": median(lengths) if lengths else 0,
        "over_25": sum(n > LONG for n in lengths) / max(len(lengths), 1),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--docstrings", action="store_true", help="read the docstrings of src")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--bar", nargs=2, type=float, metavar=("MEDIAN", "SHARE"))
    options = parser.parse_args()
    patterns = ["src/whybench/**/*.py"] if options.docstrings else [*PAGES, CARDS]
    files = options.files or [path for pattern in patterns for path in sorted(ROOT.glob(pattern))]
    lengths = {
        path: list(sentences(docstrings(path) if path.suffix == ".py" else path.read_text("utf-8")))
        for path in files
    }
    rows = {str(path): figures(own) for path, own in lengths.items() if own}
    total = figures([n for own in lengths.values() for n in own])
    if options.json:
        print(json.dumps({"files": rows, "all": total}, indent=2))
    else:
        shown = rows if len(rows) <= 80 else {}
        for name, row in [*shown.items(), ("all", total)]:
            label = name.removeprefix(f"{ROOT}/")
            print(
                f"{row['sentences']:6,.0f} sentences, median {row['median']:4.1f} words, "
                f"{row['over_25']:5.1%} over {LONG}: {label}"
            )
    if options.bar and (total["median"] > options.bar[0] or total["over_25"] > options.bar[1]):
        print(f"above the bar: median {options.bar[0]:g}, share {options.bar[1]:.0%}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
