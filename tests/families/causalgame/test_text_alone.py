"""The exact agent plays from the printed text alone, and makes the same moves."""

import re

import pytest

from whybench.causal.canonical import freeze
from whybench.episode.observation import OK, Observation
from whybench.families.causalgame import FAMILY
from whybench.families.causalgame.agents.agent_state import AgentState
from whybench.families.causalgame.agents.particles import exact
from whybench.families.causalgame.agents.strategies import moves
from whybench.families.causalgame.prompts.wording import Wording
from whybench.families.causalgame.proof.certify import agent_rng
from whybench.families.causalgame.view import View
from whybench.families.causalgame.world.drawn.draw import Story, numbers, stories

READ = {
    "plain": {
        "roles": r"are: (\d+) protective, (\d+) harmful, 1 conditional, (\d+) without",
        "wrong": r"It is wrong on (\d+) % of the records",
        "shares": r"is between (\d+) and (\d+) %",
        "strata": "takes place {} or {}.",
        "drones": r"have (\d+) drones in at most (\d+) .*at most (\d+) drones",
        "fleet": r"fleet of (\d+) drones. You win if at least ([\d.]+) %",
        "limits": r"from (\d+) to (\d+), and all DEF .* exceed (\d+)\.",
        "kept": r"only about (\d+) % leave one",
        "storms": r"explore, (\d+) % of the flights .* it will be (\d+) %",
        "counts": "After a deployment you are told how many drones came back",
        "deployed": r"^(?P<flown>\d+) drones of design \w+ were deployed; (?P<back>\d+) came back",
        "table": "Records of the deployment:\n",
    },
    "compact": {
        "roles": r": (\d+) protective [^)]*\), (\d+) harmful [^)]*\), 1 conditional, (\d+) without",
        "wrong": r"Wrong on (\d+) % of the records",
        "shares": r"Flights [\w ]+: (\d+) and (\d+) %, the same",
        "strata": "Each flight is {} or {}.",
        "drones": r"Explore: (\d+) drones in at most (\d+) deployments of at most (\d+),",
        "fleet": r"fleet of (\d+), which flies once. You win if at least ([\d.]+) %",
        "limits": r"from (\d+) to (\d+), together at most (\d+)\.",
        "kept": r"of the lost, about (\d+) %",
        "storms": r": (\d+) % while you explore, (\d+) % when the fleet flies",
        "counts": "Survivors of a deployment are counted",
        "deployed": r"^\w+: (?P<back>\d+) of (?P<flown>\d+) came back\.",
        "table": "Records:\n",
    },
}
"""Template → what its sentences look like."""

MAIN = ("antenna", "antenna_no_selection_bias", "zone", "env_shift", "weather")


def found(pattern: str, text: str) -> tuple[str, ...]:
    match = re.search(pattern, text, re.MULTILINE)
    assert match, pattern
    return match.groups()


def share(printed: str) -> float:
    return round(float(printed) / 100, 4)


def told_class(text: str, read: dict[str, str]) -> str:
    """Return a story whose class of systems is the one that the text states."""
    known = numbers()
    counts = found(read["roles"], text)
    spans = [(share(a), share(b)) for a, b in re.findall(r"(\d+) to (\d+) %", text)]
    fixed = [known.survives.rough, known.survives.calm, known.steady, known.steady_calm]
    fixed += [known.moody, known.option, known.option_spread]
    assert [span for span in spans if span in fixed] == fixed
    assert share(found(r"in [\w ]+, (\d+) % of that$", text)[0]) == known.option_calm

    def fits(story: Story) -> bool:
        roles = tuple(str(story.roles[role]) for role in ("protects", "harms", "inert"))
        wrong = re.search(read["wrong"], text)
        between = re.search(read["shares"], text)
        return (
            roles == counts
            and read["strata"].format(*story.where) in text
            and ("the other way round" in text) == (story.moody_calm[0] < 0)
            and ("Records show the" in text) == story.shown
            and (share(wrong[1]) if wrong else 0.0) == story.misread
            and (between is None or tuple(map(share, between.groups())) == story.rough)
        )

    return next(name for name, story in stories().items() if fits(story))


def read_view(text: str, read: dict[str, str]) -> View:
    """Read the instructions."""
    parts = re.findall(r"^(\w+)_def, (\d+)$", text, re.MULTILINE)
    slot, first, last, default = found(r"^(\w+): (.+) or (\w+) \(default: (\w+)\)$", text)
    drones, deploys, most = found(read["drones"], text)
    fleet, bar = found(read["fleet"], text)
    low, high, budget = found(read["limits"], text)
    kept, storms = re.search(read["kept"], text), re.search(read["storms"], text)
    return View(
        components=tuple(name for name, _ in parts),
        defaults=tuple(int(value) for _, value in parts),
        critical=(False,) * len(parts),
        def_range=(int(low), int(high)),
        total_def_budget=int(budget),
        slots=((slot, default, (*first.split(", "), last)),),
        switches=(),
        threshold=share(bar),
        drones=int(drones),
        deploys=int(deploys),
        most_per_deploy=int(most),
        fleet_size=int(fleet),
        keep_failed=share(kept[1]) if kept else 1.0,
        counts=read["counts"] in text,
        queries=int(found(r"ask the analysts (\d+) questions", text)[0]),
        history=0,
        warning="",
        storms=(share(storms[1]), share(storms[2])) if storms else None,
        noisy=False,
        law=told_class(text, read),
        margin=share(found(r"is (\d+) to \d+ percentage points below", text)[0]),
    )


def cell(printed: str) -> str | int | bool:
    if printed in ("yes", "no"):
        return printed == "yes"
    return int(printed) if printed.isdigit() else printed


def read_observation(text: str, read: dict[str, str]) -> Observation:
    """Read what an action showed."""
    counted = re.search(read["deployed"], text)
    if counted is None:
        return Observation(OK)
    table = text.partition(read["table"])[2].partition("\n\n")[0].splitlines()
    rows = [line.split(", ") for line in table]
    results = {"columns": rows[0], "rows": [[*map(cell, row)] for row in rows[1:]]} if rows else {}
    shown = {
        "deployed": int(counted["flown"]),
        "survived": int(counted["back"]),
        "results": results,
    }
    return Observation(OK, freeze(shown))


@pytest.mark.parametrize("template", READ)
@pytest.mark.parametrize(
    ("suite", "index"),
    [
        *((suite, 0) for suite in MAIN),
        *(pytest.param(s, n, marks=pytest.mark.slow) for s in MAIN for n in range(1, 6)),
    ],
)
def test_the_exact_agent_makes_the_same_moves_from_text_alone(
    suite: str, index: int, template: str
) -> None:
    instance = FAMILY.suite(suite, seed="text").row(index)
    episode = FAMILY.open(instance)
    words, read = Wording(episode, template), READ[template]
    reader = AgentState(read_view(words.instructions(), read))
    playing = moves(reader, agent_rng(FAMILY.world(instance), "exact"), exact)
    action = next(playing)
    while not episode.done:
        seen = episode.step(action)
        if not episode.done:
            action = playing.send(read_observation(words.observation(seen), read))
    assert episode.trace.actions == FAMILY.exact_run(instance).actions
