"""The writers under test: what each writes, and what must hold after a fault.

`made` prepares what a writer needs, before any fault. `run` writes into a folder, and resumes what
it finds there. `flaws` names what looks whole in a folder and is not, and what was confirmed and is
lost. `short` names what a complete folder has and this one lacks.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

SUITE = "causallink/advanced"
OLD = b"a file of an earlier run\n"


def contents(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder that do not say that they are unfinished."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not (path.name.startswith(".") and path.suffix == ".tmp")
    }


class Writer:
    """A writer whose files are the same bytes in every run."""

    wanted: Mapping[str, bytes]
    """The files of an undisturbed run."""
    earlier: Mapping[str, bytes]
    """The files before a run."""

    modules: tuple[str, ...] = ()
    """What a run imports: imported once, before processes are forked."""

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch
        for name in self.modules:
            import_module(name)
        self.made()

    def made(self) -> None:
        """Prepare."""

    def before(self, folder: Path) -> None:
        """Put files of an earlier run into the folder."""
        for name in self.wanted:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(OLD)

    def run(self, folder: Path) -> None:
        """Write."""
        raise NotImplementedError

    def accept(self, folder: Path) -> None:
        """Take the folder of an undisturbed run as the right one."""
        self.wanted = contents(folder)

    def flaws(self, folder: Path) -> Iterator[str]:
        """Yield what is not as it seems."""
        for name, data in contents(folder).items():
            if data not in (self.earlier.get(name), self.wanted.get(name)):
                yield f"{name} is not whole"

    def short(self, folder: Path) -> Iterator[str]:
        """Yield what is missing."""
        found = contents(folder)
        yield from (name for name, data in self.wanted.items() if found.get(name) != data)
        yield from (f"{name} besides" for name in found if name not in self.wanted)


class Generate(Writer):
    """A stored set of three shards, half of the time after a shorter one."""

    modules = ("whybench.scale.generate",)

    def made(self) -> None:
        from whybench.episode.registry import load_suite
        from whybench.interfaces.stored.plan import Plan

        self.plans = [Plan.of(load_suite(SUITE), n, rows=10) for n in (10, 30)]

    def before(self, folder: Path) -> None:
        self._write(folder, 0)

    def run(self, folder: Path) -> None:
        self._write(folder, 1)

    def _write(self, folder: Path, which: int) -> None:
        from whybench.interfaces.stored.place import Place
        from whybench.scale.generate import generate

        generate(self.plans[which], Place(str(folder)), workers=0)


class Results(Writer):
    """Result files, and the site that is made from them."""

    modules = ("whybench.report.results.site",)

    def made(self) -> None:
        from whybench.report.results.make import results

        self.results = results(logs(self.scratch))

    def run(self, folder: Path) -> None:
        from whybench.report.results.files import write_results
        from whybench.report.results.site import build_site

        write_results(self.results, folder / "files")
        build_site(folder / "files", folder / "site")


class Page(Writer):
    """A report with its tables and figures."""

    modules = ("whybench.report.page.files",)

    def made(self) -> None:
        from whybench.report.build import Wishes, build
        from whybench.report.section import Report

        whole = build(logs(self.scratch), Wishes(title="Killed"))
        self.report = Report(**{**_fields(whole), "sections": whole.sections[:2]})

    def run(self, folder: Path) -> None:
        from whybench.report.page.files import write

        write(self.report, folder / "report.html")

    def flaws(self, folder: Path) -> Iterator[str]:
        yield from super().flaws(folder)
        page = contents(folder).get("report.html")
        if page == self.wanted["report.html"]:
            yield from (f"the page is there without {name}" for name in self.short(folder))


class Prepare(Writer):
    """Two papers prepared by a model that answers by rule, half of the time after the first."""

    modules = ("tests.interfaces.test_prepare", "inspect_ai.log", "inspect_ai._eval.eval")

    def made(self) -> None:
        import pymupdf

        self.papers: list[Path] = []
        for name in ("first", "second"):
            document, path = pymupdf.open(), self.scratch / f"{name}.pdf"
            text = "Rain wets roads. Wet roads slow the traffic down.\n" * 5 + f"A {name} paper.\n"
            document.new_page().insert_textbox((50, 50, 550, 800), text, fontsize=9)
            document.save(path)
            path.with_suffix(".csv").write_text("source,target\nRain,Wet roads\n")
            self.papers.append(path)

    def before(self, folder: Path) -> None:
        self._write(folder, 1)

    def run(self, folder: Path) -> None:
        failed = self._write(folder, 2)
        if failed:
            raise OSError(f"papers failed: {failed}")

    def _write(self, folder: Path, papers: int) -> Mapping[str, str]:
        import anyio
        from tests.interfaces.test_prepare import copyist

        from whybench.families.recite.extras.prepare import prepare

        async def call() -> Mapping[str, str]:
            found = await prepare(self.papers[:papers], self.scratch, folder, copyist(), at_once=1)
            return found.failed

        return anyio.run(call)

    def flaws(self, folder: Path) -> Iterator[str]:
        found = contents(folder)
        texts, wanted = records(found), records(self.wanted)
        wrong = [name for name in texts if texts[name] != wanted[name]]
        yield from (f"the record of {name} is wrong" for name in wrong)
        yield from (f"{name} is lost" for name in records(self.earlier) if name not in texts)
        for name, data in found.items():
            for line in data.decode().splitlines() if name.endswith("l") else [data.decode()]:
                try:
                    json.loads(line)
                except ValueError:
                    yield f"{name} is not whole"

    def short(self, folder: Path) -> Iterator[str]:
        found = records(contents(folder))
        yield from (name for name in records(self.wanted) if name not in found)


def records(files: Mapping[str, bytes]) -> dict[str, Any]:
    """Return the records of prepared papers by name. Ids hang on what failed before."""
    rows = map(json.loads, files.get("texts.jsonl", b"").decode().splitlines())
    return {row["paper"]: {**row, "id": 0} for row in rows}


class Store(Writer):
    """The store of the server: every change that a method confirmed is in it."""

    modules = ("whybench.interfaces.mcp.store.sqlite",)
    sessions, actions = 5, 6

    def before(self, folder: Path) -> None:
        self._write(folder, 2)

    def run(self, folder: Path) -> None:
        self._write(folder, self.sessions)

    def _write(self, folder: Path, sessions: int) -> None:
        from whybench.interfaces.mcp.store.sqlite import SqliteStore

        store = SqliteStore(folder / "store.sqlite")
        journal = folder.with_suffix(".confirmed").open("a")

        def confirmed(*what: object) -> None:
            journal.write(json.dumps(what) + "\n")
            journal.flush()

        for number in range(sessions):
            key = f"session {number}"
            if store.find(key) is None:
                store.begin(key, "owner", 1.0)
                confirmed(key, 0, 0)
            attempt = store.find(key).attempt
            if not attempt:
                instance = {"family": "f", "suite": "s", "id": key}
                attempt = store.open(key, 0, instance, "plain", "scope", "run", 2.0).id
                confirmed(key, attempt, 0)
            for place in range(len(store.actions(attempt)), self.actions):
                over = place + 1 == self.actions
                store.append(attempt, place, json.dumps({"name": "a" * 400}), over, 3.0)
                confirmed(key, attempt, place + 1)
        store.shut()

    def accept(self, folder: Path) -> None:
        pass

    def flaws(self, folder: Path) -> Iterator[str]:
        from whybench.interfaces.mcp.store.sqlite import SqliteStore

        path, journal = folder / "store.sqlite", folder.with_suffix(".confirmed")
        if not path.exists() or not path.stat().st_size:
            if journal.exists() and journal.read_text():
                yield "the store is lost"
            return
        with sqlite3.connect(path) as base:
            told = base.execute("PRAGMA integrity_check").fetchone()[0]
        base.close()
        if told != "ok":
            yield told
        store = SqliteStore(path)
        for line in journal.read_text().splitlines() if journal.exists() else ():
            key, attempt, count = json.loads(line)
            found = store.find(key)
            if found is None or found.attempt < attempt or len(store.actions(attempt)) < count:
                yield f"{line} was confirmed and is lost"
        for one in store.attempts():
            if one.over != (len(store.actions(one.id)) == self.actions):
                yield f"attempt {one.id} is half a change"
        store.shut()

    def short(self, folder: Path) -> Iterator[str]:
        from whybench.interfaces.mcp.store.sqlite import SqliteStore

        store = SqliteStore(folder / "store.sqlite")
        ended = sum(one.over for one in store.attempts())
        store.shut()
        if ended != self.sessions:
            yield f"{self.sessions - ended} sessions"


class Inspect(Writer):
    """A run of `whybench run` on four samples: a log that says success has them all."""

    modules = ("whybench.interfaces.inspectai.runner", "whybench.interfaces.inspectai.tasks")
    samples = 4

    def made(self) -> None:
        from whybench.interfaces.inspectai.runner import release_tasks

        release_tasks("1rc", "lite", ["causallink"])

    def before(self, folder: Path) -> None:
        pass

    def run(self, folder: Path) -> None:
        from whybench.interfaces.inspectai.runner import run

        options = {"families": ["causallink"], "limit": self.samples, "display": "none"}
        ended, _ = run(["whybench/exact"], "1rc", "lite", str(folder), **options)
        if not ended:
            raise OSError("the run did not end")

    def accept(self, folder: Path) -> None:
        self.scores = self._scores(folder)[0]

    def flaws(self, folder: Path) -> Iterator[str]:
        for scores in self._scores(folder):
            if len(scores) != self.samples:
                yield f"a log that says success has {len(scores)} samples"

    def short(self, folder: Path) -> Iterator[str]:
        if self.scores not in self._scores(folder):
            yield "no log has all scores"

    def _scores(self, folder: Path) -> list[dict[str, Any]]:
        """Return the scores of the samples of each log that says success."""
        from inspect_ai.log import read_eval_log

        found = []
        for path in folder.glob("*.eval"):
            try:
                log = read_eval_log(str(path))
            except Exception:  # noqa: BLE001 - it cannot be read, so it does not look whole
                continue
            if log.status == "success":
                samples = [one for one in log.samples or () if one.scores]
                found.append({str(one.id): one.scores["episode_score"].value for one in samples})
        return found


WRITERS: dict[str, type[Writer]] = {
    "generate": Generate,
    "results": Results,
    "report": Page,
    "prepare": Prepare,
    "store": Store,
    "inspect": Inspect,
}


def logs(scratch: Path) -> Any:
    """Return the logs of two reference agents, played once."""
    from whybench.episode.registry import load_suite
    from whybench.interfaces.inspectai.runner import reference_logs
    from whybench.report.runs import read_runs

    folder = scratch / "logs"
    if not folder.exists():
        reference_logs(load_suite(SUITE), ["exact", "random"], folder, 4)
    return read_runs([folder])


def _fields(thing: Any) -> dict[str, Any]:
    return {name: getattr(thing, name) for name in thing.__dataclass_fields__}
