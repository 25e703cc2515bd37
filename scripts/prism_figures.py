"""Measure Prism: what agents reach, the exact agent in every surface and mode, and CPU time.

    python scripts/prism_figures.py agents --suite main --triples 2
    python scripts/prism_figures.py exact --rows 24
    python scripts/prism_figures.py cost --rows 24
    python scripts/prism_figures.py certified --rows 10000

`agents` prints the accuracy by kind of question. `exact` lets the exact agent answer through the
prompts of each surface, in each mode, with a justification. `cost` prints milliseconds of CPU: for
making the three members of a triple, divided by three, and for a certificate. `certified` makes
and certifies instances of `main`, and checks every tenth certificate.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from statistics import fmean, median
from time import process_time

from whybench.episode.episode import play
from whybench.episode.registry import families
from whybench.families.prism.parameters import PLANS
from whybench.families.prism.prompts.dialogue import Dialogue
from whybench.families.prism.proof.certify import listed

FAMILY = families()["prism"]


def agents(suite: str, triples: int) -> None:
    """Print the accuracy of every agent, in all and by kind of question."""
    found = FAMILY.suite(suite, seed="figures", parameters={"triples": triples})
    print(f"prism/{suite}, {len(found)} instances")
    for agent in FAMILY.agents:
        hits = defaultdict(list)
        for instance in found:
            episode = FAMILY.open(instance)
            play(episode, FAMILY.agent(agent, instance))
            score = FAMILY.score_episode(episode)
            for kind in ("all", score.labels["kind"]):
                hits[kind].append(score.values["accuracy"])
        print(agent, *(f"{kind} {fmean(some):.3f}" for kind, some in hits.items()), flush=True)


def exact(rows: int) -> None:
    """Print accuracy and justified answers of the exact agent by suite, mode and surface."""
    for suite, modes in {
        "main": ("own", "fetched"), "hidden": ("own", "fetched"), "lab": ("own", "optimal"),
    }.items():  # fmt: skip
        asked = {} if suite == "lab" else {"justify": True}
        found = FAMILY.suite(suite, seed="figures", parameters=asked)
        for mode in modes:
            for template in FAMILY.templates:
                values = [_talked(found.row(row), mode, template) for row in range(rows)]
                shares = [fmean(one[name] for one in values) for name in ("accuracy", "understood")]
                print(suite, mode, template, *(f"{share:.3f}" for share in shares), flush=True)


def _talked(instance, mode: str, template: str):
    """Let the exact agent answer in words, and return the values of the score."""
    episode = FAMILY.open(instance, evidence=mode)
    talk = Dialogue(episode, template)
    moves = FAMILY.agent("exact", instance, episode.evidence_given)
    action = next(moves)
    while talk.turn() is not None:
        talk.reply(talk.say(action)[0])
        if not episode.done:
            action = moves.send(episode.trace.steps[-1].observation)
    return FAMILY.score_episode(episode).values


def cost(rows: int) -> None:
    """Print CPU time for making and for certifying instances of `main`."""
    for n in PLANS["main"].sizes:
        every = [], []
        for kind in PLANS["main"].kinds:
            making, proving = _cost(rows, {"n": n, "kind": kind, "triples": rows})
            print(f"n = {n}, {kind}: {_told(making, proving)}", flush=True)
            if kind != "see":
                every[0].extend(making)
                every[1].extend(proving)
        print(f"n = {n}, all but see: {_told(*every)}", flush=True)


def _cost(rows: int, parameters: dict[str, int | str]) -> tuple[list[float], list[float]]:
    suite = FAMILY.suite("main", seed="cost", parameters=parameters)
    making, proving = {}, []
    for row in range(rows):
        began = process_time()
        base = FAMILY.world(suite[row]).base
        making.setdefault(base, (process_time() - began) * 1000 / 3)
        listed.cache_clear()
        began = process_time()
        FAMILY.certify(suite[row])
        proving.append((process_time() - began) * 1000)
    return list(making.values()), proving


def _told(making: list[float], proving: list[float]) -> str:
    return (
        f"making {median(making):.0f} ms, mean {fmean(making):.0f}; "
        f"certifying {median(proving):.1f} ms"
    )


def certified(rows: int) -> None:
    """Make and certify the first instances of the endless list, and check every tenth."""
    suite, spent = FAMILY.suite("main", seed="certified"), [0.0, 0.0, 0.0]
    checker, wrong, checked, flawed = FAMILY.capability("checker"), 0, 0, 0
    for row in range(rows):
        times = [process_time()]
        instance = suite.row(row)
        world = FAMILY.world(instance)
        times.append(process_time())
        certificate = FAMILY.certify(instance)
        times.append(process_time())
        wrong += certificate.solvable is not True or certificate.defects() != []
        if row % 10 == 0:
            checked += 1
            flawed += bool(checker.flaws(instance, world, certificate))
        times.append(process_time())
        spent = [s + b - a for s, a, b in zip(spent, times, times[1:], strict=False)]
        if (row + 1) % 250 == 0 or row + 1 == rows:
            made, proved = (1000 * s / (row + 1) for s in spent[:2])
            print(
                f"{row + 1} instances, {wrong} defective; {checked} checked, {flawed} with flaws; "
                f"mean ms: making {made:.1f}, certifying {proved:.1f}, "
                f"checking {1000 * spent[2] / checked:.1f}; {sum(spent):.0f} s in all",
                flush=True,
            )


def main() -> None:
    """Read the command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=("agents", "exact", "cost", "certified"))
    parser.add_argument("--suite", default="main")
    parser.add_argument("--triples", type=int, default=1)
    parser.add_argument("--rows", type=int, default=24)
    asked = parser.parse_args()
    if asked.command == "agents":
        agents(asked.suite, asked.triples)
    else:
        {"exact": exact, "cost": cost, "certified": certified}[asked.command](asked.rows)


if __name__ == "__main__":
    main()
