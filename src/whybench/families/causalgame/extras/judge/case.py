"""The evidence packet: the truth about the task and about the episode."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, cast

from whybench.episode.family import Family
from whybench.episode.instance import Instance
from whybench.episode.prompts.template import PromptTemplate, paragraphs, read_template
from whybench.episode.trace import Trace
from whybench.families.causalgame.claims import Claim
from whybench.families.causalgame.drawn_claims import known_claims
from whybench.families.causalgame.episode import DroneEpisode
from whybench.families.causalgame.extras.judge.paper_claims import paper_claims
from whybench.families.causalgame.report_checks import Outcome, Report
from whybench.families.causalgame.score import reported
from whybench.families.causalgame.world.world import World

REPORTS = (
    "antenna",
    "zone",
    "default",
    "env_shift",
    "weather",
)
"""Physics with a task report."""

SCENARIOS = "scenarios"
"""The file with the part that each scenario adds: its history and what is hidden."""

SECTIONS = ("chain", "traps", "strategy")


@dataclass(frozen=True, slots=True)
class JudgedCase:
    """Everything that is needed to judge a report."""

    instance_id: str
    scenario: str
    profile: str
    physics: str
    report: Report
    outcome: Outcome
    best_known: float | None = None
    """Survival of the best known design, a fraction."""
    task: str = ""
    """The task report of a drawn system; if empty, the scenario has its own."""
    known: tuple[Claim, ...] = ()
    """The claims about a drawn system; the paper's claims about a scenario of the paper."""
    words: tuple[str, ...] = ()
    """What the author wrote before each deployment, if the paper has claims about the scenario."""


def judged_case(family: Family[Any], instance: Instance, trace: Trace) -> JudgedCase | None:
    """Return the case of a trace's report; None without a report."""
    episode = family.replay_episode(instance, trace.actions, trace.given, trace.evidence)
    if not isinstance(episode, DroneEpisode):
        raise ValueError(f"{family.name} has no reports to judge. Give a log of CausalGame.")
    told = reported(episode)
    if told is None:
        return None
    world, best = episode.world, cast("float", family.covariates(instance)["best_known"])
    drawn = (drawn_report(world), known_claims(world))
    if not world.drawn:
        drawn = ("", paper_claims(world.scenario))
    return JudgedCase(
        instance.id, world.scenario, instance.profile, world.rules.physics, *told, best, *drawn
    )


def drawn_report(world: World) -> str:
    """Return what is true of a drawn system and what its records suggest, as Markdown."""
    known = known_claims(world)
    true, false = ([c.statement for c in known if c.golden is golden] for golden in (True, False))
    return _file("drawn").say(
        "task",
        true="\n".join(f"- {statement}" for statement in true),
        false="\n".join(f"- {statement}" for statement in false),
        records=_file("drawn").say("records" if world.history.designs else "no_records"),
    )


@cache
def _file(name: str) -> PromptTemplate:
    folder = files(__package__ or "") / "reports"
    return read_template(name, lambda file: (folder / f"{file}.md").read_text("utf-8"))


def scenarios() -> tuple[str, ...]:
    """Return the scenarios with a task report."""
    named = _file(SCENARIOS).passages
    return tuple(name for name in named if not name.endswith("_published"))


def task_report(scenario: str, profile: str, physics: str) -> str:
    """Return causal chain, traps and best strategy of a scenario, as Markdown."""
    if physics not in REPORTS:
        raise ValueError(f"No task report for physics {physics!r}. Known: {', '.join(REPORTS)}.")
    told = _file(SCENARIOS).passages
    if scenario not in told:
        raise ValueError(f"No task report for {scenario!r}. Known: {', '.join(scenarios())}.")
    truth = _file(physics)
    parts = [f"### {name.capitalize()}\n\n{truth.say(name)}" for name in SECTIONS]
    own = paragraphs(told[scenario], told.get(f"{scenario}_{profile}", ""))
    return paragraphs(*parts, f"### This scenario\n\n{own}")


def truth_lines(outcome: Outcome, best_known: float | None = None) -> str:
    """Return the true result of an episode, as a list."""
    lines = [
        f"- mission {'won' if outcome.won else 'not won'}",
        f"- survival rate of the submitted design: {100 * outcome.survival_rate:.1f} %",
        f"- bar (survival rate to reach): {100 * outcome.threshold:g} %",
        f"- fleet size: {outcome.fleet_size:,} drones",
    ]
    if best_known is not None:
        lines.append(f"- survival rate of the best known design: {100 * best_known:.1f} %")
    return "\n".join(lines)
