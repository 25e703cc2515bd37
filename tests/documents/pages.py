"""The pages of the documentation, and what they show to be run.

A fenced block `console` holds commands after `$ ` and, below each, what it prints. `...` on a line
of its own stands for any lines, `…` for any text within a line, spaces for any number of spaces
(tables fit their columns to what is in them), and a line `> text` is typed in.
A block `python` is run in one namespace per page. The comment before a block says how to run it:

- `<!-- run: slow -->`: the tier of tests in which it is run; without a comment the default tier
- `<!-- run: whybench-openenv -->`: the package in whose environment it is run
- `<!-- run: exit 1 -->`: the exit code to expect, after a tier or alone
- `<!-- run: wire, MODEL=whybench/exact, 8765=8771 -->`: what the test puts for a word of the
  block, such as a name that the reader has to fill in, or a port
- `<!-- run: never, REASON -->`: it cannot be run by a test
- `<!-- output -->`: the block is what the block of Python before it prints
- `<!-- file: NAME -->`: the block is written to a file of this name for the commands below it
- `<!-- from: examples/agent.py -->`: the block is a part of this file
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = {
    str(page.relative_to(ROOT)): page.read_text("utf-8")
    for page in (
        *sorted(ROOT.glob("*.md")),
        *sorted(ROOT.glob("docs/**/*.md")),
        *sorted(ROOT.glob("packages/*/README.md")),
        *sorted(ROOT.glob("src/whybench/families/*/card.md")),
    )
    if page.name not in {"VOICE.md", "CHANGELOG.md"}
}
"""Path → text. VOICE.md quotes what we no longer write."""

FENCE = re.compile(r"^( *)```+ *([\w-]*)(.*)$")
DIRECTIVE = re.compile(r"^ *<!-- (run|output|file|from)(?:: *(.*?))? *-->$")
TIERS = ("slow", "wire", "sandbox", "browser", "ray", "real_model")
PACKAGES = ("whybench-openenv", "whybench-verifiers")
"""Packages with environments of their own: `scripts/try_package` runs what pages show of them."""


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: str
    line: int
    language: str
    text: str
    tier: str = ""
    """The tier of tests, or the package, in which it is run; empty for the default tier."""
    code: int = 0
    never: str = ""
    """Why no test can run it."""
    is_output: bool = False
    file: str = ""
    """The name of the file to which the block is written."""
    source: str = ""
    """The file of the checkout of which the block is a part."""


@dataclass(frozen=True)
class Command:
    """A command and what the page says that it prints."""

    line: str
    printed: tuple[str, ...]
    typed: tuple[str, ...]


def blocks(page: str) -> Iterator[Block]:
    """Yield the fenced blocks of a page in order."""
    lines = PAGES[page].splitlines()
    number = 0
    python = Block(page, 0, "python", "")
    directive: re.Match[str] | None = None
    while number < len(lines):
        fence = FENCE.match(lines[number])
        if not fence:
            directive = DIRECTIVE.match(lines[number]) or (
                directive if not lines[number].strip() else None
            )
            number += 1
            continue
        began, indent = number, len(fence[1])
        number += 1
        held = []
        while lines[number].strip() != "```":
            held.append(lines[number][indent:])
            number += 1
        number += 1
        block = _block(page, began + 1, fence[2], "\n".join(held), directive)
        if block.is_output:
            block = replace(block, tier=python.tier, never=python.never)
        elif block.language == "python":
            python = block
        yield block
        directive = None


def _block(page: str, line: int, language: str, text: str, told: re.Match[str] | None) -> Block:
    block = Block(page, line, language, text)
    if told is None:
        return block
    kind, rest = told.groups(default="")
    if kind == "output":
        return replace(block, is_output=True)
    if kind == "file":
        return replace(block, file=rest)
    if kind == "from":
        return replace(block, source=rest)
    if rest.startswith("never, "):
        return replace(block, never=rest.removeprefix("never, "))
    for part in rest.split(", "):
        name, equals, value = part.partition("=")
        if part in TIERS + PACKAGES:
            block = replace(block, tier=part)
        elif code := re.fullmatch(r"exit (\d+)", part):
            block = replace(block, code=int(code[1]))
        else:
            word = rf"(?<!\w){re.escape(name)}(?!\w)"
            filled, many = re.subn(word, lambda _, v=value: v, block.text)
            assert all((equals, many)), f"{page}:{line}: run: {rest}"
            block = replace(block, text=filled)
    return block


def commands(block: Block) -> list[Command]:
    """Return the commands of a block `console`."""
    found: list[Command] = []
    lines = iter(block.text.splitlines())
    for line in lines:
        if line.startswith("$ "):
            whole = line[2:]
            while whole.endswith("\\"):
                whole = whole[:-1].rstrip() + " " + next(lines).strip()
            found.append(Command(_without_comment(whole), (), ()))
        elif found and line.startswith("> "):
            last = found.pop()
            found.append(Command(last.line, last.printed, (*last.typed, line[2:])))
        elif found:
            last = found.pop()
            found.append(Command(last.line, (*last.printed, line.rstrip()), last.typed))
        else:
            assert not line.strip(), f"{block.page}:{block.line}: output before any command"
    return found


def _without_comment(line: str) -> str:
    return re.sub(r"\s+# .*$", "", line)


def shown_pattern(printed: tuple[str, ...]) -> re.Pattern[str]:
    """Return what fits the output that a page shows."""
    lines = list(printed)
    while lines and not lines[-1].strip():
        lines.pop()
    parts = []
    for line in lines:
        if line.strip() == "...":
            parts.append(r"(?:.*\n)*?")
        else:
            told = ".*".join(re.escape(part) for part in line.rstrip().split("…"))
            told = re.sub(r"(?:\\ )+", " +", told)
            parts.append(re.sub(r" \+\.\*$", "(?: .*)?", told) + r" *\n")
    return re.compile("".join(parts) + r"\s*\Z")
