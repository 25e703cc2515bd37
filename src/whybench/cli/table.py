"""All commands: help, place in the code, an example, and what to do after Ctrl-C."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Entry:
    """A command, or a group of commands."""

    help: str
    """The first line of the command's docstring, repeated so that `--help` imports nothing."""
    place: str = ""
    """`module:function`, or `module:app` for a group."""
    example: str = ""
    stopped: str = "Nothing was saved. The same command starts again."
    """The message after Ctrl-C."""
    members: Mapping[str, Entry] = field(default_factory=dict)


DATA = {
    "generate": Entry(
        "Generate a stored set of certified instances.",
        "whybench.cli.data:generate",
        "whybench data generate causallink/large --n 1000 --seed train-1 --out train",
        "Finished shards are saved. The same command resumes.",
    ),
    "curriculum": Entry(
        "List levels of difficulty with counts, and the filter that selects each.",
        "whybench.cli.data:curriculum",
        "whybench data curriculum causallink/advanced replayscm/lab",
    ),
    "stats": Entry(
        "Summarize a stored set: counts, bits, difficulty.",
        "whybench.cli.data:stats",
        "whybench data stats train",
    ),
    "distinct": Entry(
        "Count instances that repeat up to renaming.",
        "whybench.cli.data:distinct",
        "whybench data distinct train --write",
    ),
    "released": Entry(
        "Say where a paper's released files come from, and check a folder of them.",
        "whybench.cli.data:released",
        "whybench data released causalab",
    ),
    "secret": Entry(
        "Create a secret seed and print its public name.",
        "whybench.cli.private:secret",
        "WHYBENCH_SECRETS=secrets.json whybench data secret",
    ),
    "commit": Entry(
        "Print a line that commits to a stored set.",
        "whybench.cli.private:commit",
        "whybench data commit hidden --out hidden.json",
    ),
    "prove": Entry(
        "Regenerate a committed set and compare it.",
        "whybench.cli.private:prove",
        "whybench data prove hidden.json hidden",
        "Nothing was saved. The same command starts again; --sample regenerates fewer shards.",
    ),
}

ARENA = {
    "serve": Entry(
        "Serve episodes over the Model Context Protocol.",
        "whybench.cli.arena:serve",
        "whybench arena serve --http --port 8765",
        "Sessions are in the store. Start the server again to resume them.",
    ),
    "claim": Entry(
        "Score the attempts behind receipts of a blind server.",
        "whybench.cli.arena:claim",
        "whybench arena claim --all",
    ),
    "upgrade": Entry(
        "Bring a store of an older version to the format of this one.",
        "whybench.cli.arena:upgrade",
        "whybench arena upgrade --store sessions.sqlite",
    ),
}

DEV = {
    "parity": Entry(
        "Compare traces and scores across all interfaces.",
        "whybench.cli.dev:parity",
        "whybench dev parity --instances 20 --family causallink",
        "Nothing was saved. The same command starts again; --instances makes it shorter.",
    ),
    "glossary": Entry(
        "Define a term of WhyBench, or list all terms.",
        "whybench.cli.dev:glossary",
        "whybench dev glossary hidden system",
    ),
    "new-family": Entry(
        "Write the package of a new family, which already passes the contract.",
        "whybench.cli.new_family:new_family",
        "whybench dev new-family valves",
    ),
    "local-model": Entry(
        "Serve a small local model; no API key is needed.",
        "whybench.cli.dev:local_model",
        "whybench dev local-model --port 8765",
        "The same command starts the server again.",
    ),
}

SHORTER = "Nothing was saved. The same command starts again; --limit makes it shorter."

COMMANDS: Mapping[str, Entry] = {
    "run": Entry(
        "Evaluate models on a release, and print the table.",
        "whybench.cli.standard.run:run",
        "whybench run whybench/exact whybench/random --set lite --log-dir runs",
        "Finished samples are saved. The same command goes on.",
    ),
    "table": Entry(
        "Print one table: a row per system, a column per family, and the whole.",
        "whybench.cli.standard.tables:table",
        "whybench table runs --format markdown",
    ),
    "release": Entry(
        "Show what a release contains, check it, or make it.",
        "whybench.cli.standard.run:release",
        "whybench release 1rc --check --set lite --limit 3",
    ),
    "reproduce": Entry(
        "Continue a paper's table with a new model, or list the paper's tables.",
        "whybench.cli.standard.reproduce:reproduce",
        "whybench reproduce causallink 4 --model whybench/exact --limit 4",
        "Finished samples are saved. The same command goes on.",
    ),
    "list": Entry(
        "List families and recommended suites, or one family.",
        "whybench.cli.list_show:list_families",
        "whybench list causallink",
    ),
    "show": Entry(
        "Show an instance as an agent sees it.",
        "whybench.cli.list_show:show",
        "whybench show causallink/advanced --index 3",
    ),
    "play": Entry(
        "Play an instance yourself.",
        "whybench.cli.play:play",
        "whybench play causallink/advanced --index 3",
        "The episode was not saved. The same command opens it again.",
    ),
    "solve": Entry(
        "Run a reference agent on a suite.",
        "whybench.cli.play:solve",
        "whybench solve causallink/advanced --agent exact --limit 20 --traces exact.jsonl",
        SHORTER,
    ),
    "score": Entry(
        "Score recorded actions or answers.",
        "whybench.cli.play:score",
        "whybench score causallink/advanced --limit 20 --predictions exact.jsonl",
        SHORTER,
    ),
    "certify": Entry(
        "Certify every instance of suites or of a stored set.",
        "whybench.cli.certify:certify",
        "whybench certify causallink/advanced --limit 20 -T budget=3",
        SHORTER,
    ),
    "audit": Entry(
        "Try to break suites with guessers and leak tests.",
        "whybench.cli.audit:audit",
        "whybench audit causallink/advanced --page audit.html",
        "Finished parts are saved. The same command resumes.",
    ),
    "reference": Entry(
        "Write Inspect logs of reference agents.",
        "whybench.cli.reports:reference",
        "whybench reference causallink/advanced --agents null,random,exact --log-dir logs",
        "Finished logs are saved. Name only the missing agents in --agents.",
    ),
    "report": Entry(
        "Write a report on logs, with its tables and figures.",
        "whybench.cli.reports:report",
        "whybench report logs -o report.html",
    ),
    "results": Entry(
        "Write a result file for each system in logs.",
        "whybench.cli.standard.results:results",
        "whybench results logs -o results",
    ),
    "site": Entry(
        "Build a static leaderboard from result files.",
        "whybench.cli.standard.results:site",
        "whybench site results -o public",
    ),
    "compare": Entry(
        "Test whether two systems differ.",
        "whybench.cli.compare_plan:compare",
        "whybench compare logs --a model=whybench/exact --b model=whybench/random",
    ),
    "plan": Entry(
        "Plan the instances, epochs and cost of a comparison, or the cost of a release.",
        "whybench.cli.compare_plan:plan",
        "whybench plan causallink/advanced --detect 0.05",
    ),
    "data": Entry("Stored sets and secret seeds.", members=DATA),
    "arena": Entry("The server for agents.", members=ARENA),
    "dev": Entry("Tools for developers.", members=DEV),
}
