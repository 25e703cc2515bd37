"""All commands: what each does, where it is, an example, and how to go on after Ctrl-C."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Entry:
    """A command, or a group of commands."""

    help: str
    """The first line of the command's docstring; it stands here so that nothing is imported."""
    place: str = ""
    """`module:function`, or `module:app` of a group."""
    example: str = ""
    stopped: str = "Nothing was kept: the same command begins again."
    """What is said after Ctrl-C."""
    members: Mapping[str, Entry] = field(default_factory=dict)


DATA = {
    "generate": Entry(
        "Make a stored set of proven instances.",
        "whybench.cli.data:generate",
        "whybench data generate causallink/large --n 1000 --seed train-1 --out train",
        "Finished shards are kept: the same command goes on where it stopped.",
    ),
    "stats": Entry(
        "Tell what a stored set holds: counts, bits, difficulty, rejections.",
        "whybench.cli.data:stats",
        "whybench data stats train",
    ),
    "distinct": Entry(
        "Count repeats up to renaming, in sets and across them.",
        "whybench.cli.data:distinct",
        "whybench data distinct train --write",
    ),
    "secret": Entry(
        "Make the secret of a private seed, and print the seed's name.",
        "whybench.cli.private:secret",
        "WHYBENCH_SECRETS=secrets.json whybench data secret",
    ),
    "commit": Entry(
        "Print the line that commits to a stored set, to be published.",
        "whybench.cli.private:commit",
        "whybench data commit hidden --out hidden.json",
    ),
    "prove": Entry(
        "Make a committed set anew and compare; exit 1 if something does not hold.",
        "whybench.cli.private:prove",
        "whybench data prove hidden.json hidden",
        "Nothing was kept: the same command begins again; --sample makes fewer shards anew.",
    ),
}

ARENA = {
    "serve": Entry(
        "Let any agent play over the Model Context Protocol: one session is one episode.",
        "whybench.cli.arena:serve",
        "whybench arena serve --http --port 8765",
        "Sessions are kept in the store: start the server again to go on with them.",
    ),
    "claim": Entry(
        "Score what receipts of a blind server stand for, from the stored actions.",
        "whybench.cli.arena:claim",
        "whybench arena claim --all",
    ),
}

DEV = {
    "parity": Entry(
        "Play the same calls through every interface; traces and scores must be equal.",
        "whybench.cli.dev:parity",
        "whybench dev parity --instances 20 --family causallink",
        "Nothing was kept: the same command begins again; --instances makes it shorter.",
    ),
    "local-model": Entry(
        "Serve a small local model, so that everything can be tried without a key.",
        "whybench.cli.dev:local_model",
        "whybench dev local-model --port 8765",
        "The same command starts the server again.",
    ),
}

SHORTER = "Nothing was kept: the same command begins again; --limit makes it shorter."

COMMANDS: Mapping[str, Entry] = {
    "list": Entry(
        "List families with the suites to begin with, or all that one family has.",
        "whybench.cli.list_show:list_families",
        "whybench list causallink",
    ),
    "show": Entry(
        "Show an instance as an agent sees it.",
        "whybench.cli.list_show:show",
        "whybench show causallink/core --index 3",
    ),
    "play": Entry(
        "Play an instance yourself.",
        "whybench.cli.play:play",
        "whybench play causallink/core --index 3",
        "The episode was not kept: the same command opens it again.",
    ),
    "solve": Entry(
        "Let a reference agent play a suite.",
        "whybench.cli.play:solve",
        "whybench solve causallink/core --agent exact --traces exact.jsonl",
        SHORTER,
    ),
    "score": Entry(
        "Score recorded actions or answers.",
        "whybench.cli.play:score",
        "whybench score causallink/core --predictions exact.jsonl",
        SHORTER,
    ),
    "certify": Entry(
        "Prove every instance of suites, or check a stored set again; exit 1 if a proof fails.",
        "whybench.cli.certify:certify",
        "whybench certify causallink/core -T budget=3",
        SHORTER,
    ),
    "reference": Entry(
        "Make Inspect logs of reference agents: floors and ceilings for a report.",
        "whybench.cli.reports:reference",
        "whybench reference causallink/core --agents null,random,exact --log-dir logs",
        "Finished logs are kept: name in --agents only those that are missing.",
    ),
    "report": Entry(
        "Write a page on logs, with its tables (CSV, Parquet) and figures (SVG, PNG).",
        "whybench.cli.reports:report",
        "whybench report logs -o report.html",
    ),
    "compare": Entry(
        "Say which of two systems is better, on the instances that both have played.",
        "whybench.cli.compare_plan:compare",
        "whybench compare logs --a model=whybench/exact --b model=whybench/random",
    ),
    "plan": Entry(
        "Say how many instances and epochs show a difference, and what they cost.",
        "whybench.cli.compare_plan:plan",
        "whybench plan causallink/advanced --detect 0.05",
    ),
    "data": Entry("Stored and private sets of instances.", members=DATA),
    "arena": Entry("Agents that play over a wire.", members=ARENA),
    "dev": Entry("Checks and servers for developers.", members=DEV),
}
