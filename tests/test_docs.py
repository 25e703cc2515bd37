"""What the documentation names is there: modules, public names, files, tests, commands, options."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from typer.main import get_command

import whybench as wb
from tests.documents.pages import PAGES, ROOT
from tests.tables import together
from whybench.cli import app
from whybench.episode.registry import families
from whybench.testing import rules

PACKAGE = ROOT / "src/whybench"
WRITTEN = {"docs/full-run.md"}
"""Files that a script writes."""

NAME = re.compile(r"(?<![\w/.-])whybench(?:\.[A-Za-z_]\w*)+")
TOP = r"src|tests|scripts|examples|docs|packages|\.ci|changelog\.d"
PARTS = r"audit|causal|episode|families|interfaces|judge|sandbox|report|scale|stats|testing|cli"
FILE = re.compile(
    rf"(?<![\w/.-])(?:(?:{TOP})/[\w./-]*\w(?![\w*<])|(?:{PARTS})/[\w/-]+\.(?:py|toml|json|md)\b)"
)
TEST = re.compile(r"`(?:[\w/]*/)?(test_\w+)(?:\.py)?(?:::(test_\w+))?`")
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHOWN = re.compile(r"^`([\w./]+)`:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`(whybench [^`]+)`")


def fenced(page: str, *languages: str) -> Iterator[str]:
    return (text for language, text in FENCE.findall(PAGES[page]) if language in languages)


def commands(page: str) -> Iterator[list[str]]:
    """Yield the calls of `whybench` on a page, in words."""
    told = [line[2:] for text in fenced(page, "console") for line in _whole_lines(text)]
    for line in told + INLINE.findall(PAGES[page]):
        for part in re.split(r"\s+(?:\||&&|&|#|>)(?:\s+|$)", line):
            words = [word for word in part.split() if not re.match(r"[A-Z_]+=", word)]
            if words[:1] == ["whybench"]:
                yield words[1:]


def _whole_lines(text: str) -> list[str]:
    return [line for line in text.replace("\\\n", " ").splitlines() if line.startswith("$ ")]


def is_there(dotted: str) -> bool:
    """Tell whether a dotted name is a module of the package, or a name that is written in one."""
    module, rest = PACKAGE.parent, ""
    for part in dotted.split("."):
        if rest or not ((module / part).is_dir() or (module / f"{part}.py").is_file()):
            rest = rest or part
        else:
            module /= part
    file = module / "__init__.py" if module.is_dir() else module.with_suffix(".py")
    return not rest or re.search(rf"\b{rest}\b", file.read_text("utf-8")) is not None


every_page = together("page", PAGES)


@every_page
def test_modules_and_public_names(page: str) -> None:
    named = set(NAME.findall(PAGES[page])) - {"whybench.examples"}  # a module of the wheel alone
    groups = {"whybench.families", "whybench.interfaces"}  # entry points, too
    assert [name for name in named - groups if not is_there(name)] == []
    public = set(re.findall(r"\bwb\.([A-Za-z_]\w*)", PAGES[page]))
    assert public <= {*wb.__all__}


@every_page
def test_files(page: str) -> None:
    places = ROOT, PACKAGE, ROOT / "docs", (ROOT / page).parent
    named = {name for name in FILE.findall(PAGES[page]) if not re.search("[A-Z]{4}", name)}
    gone = [n for n in named if not any((place / n).exists() for place in places)]
    assert set(gone) <= WRITTEN


@cache
def known_tests() -> dict[str, str]:
    """Return the text of all test modules of a name."""
    found: dict[str, str] = {}
    for file in (*ROOT.glob("tests/**/test_*.py"), *ROOT.glob("packages/*/tests/test_*.py")):
        found[file.stem] = found.get(file.stem, "") + file.read_text("utf-8")
    return found


@every_page
def test_tests(page: str) -> None:
    everything = "\n".join([*known_tests().values(), *(f"def {rule}(" for rule in rules())])
    for module, function in TEST.findall(PAGES[page]):
        assert module in known_tests() or f"def {module}(" in everything, module
        assert f"def {function}" in known_tests().get(module, everything), f"{module}::{function}"
    for chosen in re.findall(r" -k (\w+)", PAGES[page]):
        assert chosen in everything or chosen in families(), chosen


@cache
def command_named(*words: str) -> Any:
    """Return a command or a group; None if there is none of this name."""
    return command_named(*words[:-1]).get_command(None, words[-1]) if words else get_command(app)


def option_names(command: Any) -> set[str]:
    names = {n for one in command.params for n in (*one.opts, *one.secondary_opts)}
    return names | {"--help"}


@every_page
def test_commands(page: str) -> None:
    for words in commands(page):
        told, command, length = " ".join(words), command_named(), 0
        if re.match(r"[A-Z…-]", words[0]):
            continue  # a word for any command, an option
        while hasattr(command, "commands") and length < len(words):
            command, length = command_named(*words[: length + 1]), length + 1
            assert command is not None, told
        options = {word.split("=")[0] for word in words[length:] if re.match(r"--?[a-zA-Z]", word)}
        assert options <= option_names(command), told
        for family, suite in re.findall(r"\b(\w+)/(\w+)\b", told):
            if family in families() and not suite.isupper():
                assert suite in families().declared(family)["suites"], told


@every_page
def test_python_snippets(page: str) -> None:
    for text in fenced(page, "python"):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("whybench."):
                missing = [a.name for a in node.names if not is_there(f"{node.module}.{a.name}")]
                assert missing == [], node.module


def test_the_house_lists_all_public_names() -> None:
    section = PAGES["docs/explanation/architecture.md"].partition("## Public names")[2]
    told = re.findall(r"`(\w+)`", "".join(re.findall(r"^\|.*$", section, re.MULTILINE)))
    assert sorted(told) == sorted({*wb.__all__} - {"__version__"})


def test_the_house_explains_all_that_families_declare() -> None:
    told = set(re.findall(r"`\[?([a-z_]+)\]?`", PAGES["docs/explanation/architecture.md"]))
    for family in families():
        data = families().declared(family)
        tasks = [key for task in data.get("tasks", {}).values() for key in task]
        assert {*data, *data["extras"], *data.get("understanding", ()), *tasks} <= told


def test_the_files_on_the_page_are_those_of_the_example() -> None:
    shown = dict(SHOWN.findall(PAGES["docs/add-a-family.md"]))
    assert {Path(name).name for name in shown} == {"family.py", "family.toml", "plain.md"}
    for name, text in shown.items():
        assert text == (ROOT / "examples/family" / name).read_text("utf-8"), name


def test_the_page_lists_every_rule_of_the_contract_with_its_reason() -> None:
    rows = re.findall(r"^\| `(test_\w+)` \| (.+) \| (.+) \|$", PAGES["docs/add-a-family.md"], re.M)
    listed = {name: (what, f"{why[0].lower()}{why[1:]}") for name, what, why in rows}
    assert listed == {
        name: (what, f"{why[0].lower()}{why[1:]}") for name, (what, why) in rules().items()
    }
