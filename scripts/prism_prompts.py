"""Read Prism's prompts back, and count their tokens.

The first part reads prompts of every surface back into trials and question, and counts differences.
A problem of a suite is drawn several times: the names and the listing order differ. The second part
counts tokens with the tokenizer of SmolLM2 (it needs the extra `local`).

    python scripts/prism_prompts.py --rows 2000 --drawings 5
    python scripts/prism_prompts.py --tokens 40
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from urllib.request import Request, urlopen

from whybench.episode.instance import Instance
from whybench.episode.registry import families
from whybench.families.prism.prompts.surface import TEMPLATES
from whybench.families.prism.rules import PrismEpisode
from whybench.families.prism.world.world import World

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.families.prism.reading_back import ReadingError, as_read, read_back

FAMILY = families()["prism"]


def problems(suites: list[str], rows: int) -> Iterator[tuple[Instance, World]]:
    """Yield problems, an equal number of each suite."""
    for name in suites:
        suite = FAMILY.suite(name)
        for row in range(rows // len(suites)):
            instance = suite.row(row)
            yield instance, FAMILY.world(instance)


def differs(episode: PrismEpisode, template: str) -> bool:
    """Tell whether a prompt is not read back as what its world holds."""
    world, surface = episode.world, episode.surface(template)
    try:
        read = read_back(episode.instructions(template), template)
    except ReadingError:
        return True
    names = tuple(surface.names[v] for v in surface.order)
    inputs = {surface.order[v] for v in read.inputs}
    told = as_read(surface.order, world.roots, world.trials, world.question)
    return (names, inputs, (read.trials, read.question)) != (
        read.names, {*range(world.roots)}, told
    )  # fmt: skip


def read_all(suites: list[str], rows: int, drawings: int) -> None:
    """Read all prompts back and print the number of differences by surface."""
    start, prompts, wrong = perf_counter(), 0, Counter[str]()
    for instance, world in problems(suites, rows):
        for drawing in range(drawings):
            drawn = replace(instance, index=instance.index + drawing * 1_000_000)
            episode = PrismEpisode(drawn, world, 4)
            prompts += 1
            wrong.update(template for template in TEMPLATES if differs(episode, template))
        if prompts % 1000 < drawings:
            print(f"{prompts} prompts of each surface, {perf_counter() - start:.0f} s", flush=True)
    for template in TEMPLATES:
        print(f"{template}: {prompts} prompts, {wrong[template]} differences")


def count_tokens(each: int) -> None:
    """Print tokens of whole prompts by size and surface."""
    from whybench.interfaces.local_model import MODEL, serve

    with serve() as model:
        root = model.base_url.rpartition("/v1")[0]

        def tokens(text: str) -> int:
            data = json.dumps({"content": text}).encode()
            asked = Request(f"{root}/tokenize", data, {"Content-Type": "application/json"})
            with urlopen(asked) as reply:
                return len(json.load(reply)["tokens"])

        print(f"tokens by the tokenizer of {MODEL}: mean, most")
        for n in (5, 6, 7, 8):
            suite = FAMILY.suite("main", parameters={"n": n})
            episodes = [FAMILY.open(suite.row(row)) for row in range(each)]
            for template in TEMPLATES:
                found = [tokens(episode.instructions(template)) for episode in episodes]
                print(f"n = {n}, {template}: {sum(found) / each:.0f}, {max(found)}", flush=True)


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--suites", nargs="+", default=["main", "hidden", "teaching"])
    parser.add_argument("--rows", type=int, default=0, help="Problems in all.")
    parser.add_argument("--drawings", type=int, default=1, help="Drawings of each problem.")
    parser.add_argument("--tokens", type=int, default=0, help="Problems of each size.")
    asked = parser.parse_args()
    if asked.rows:
        read_all(asked.suites, asked.rows, asked.drawings)
    if asked.tokens:
        count_tokens(asked.tokens)


if __name__ == "__main__":
    main()
