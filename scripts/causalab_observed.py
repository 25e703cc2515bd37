#!/usr/bin/env python3
"""Find and test what a reader of the design knows: scripts/causalab_observed.py [SYSTEMS].

`world/observed_design.toml` of CausaLab is what this prints for 100 systems. A reader of the design
of `observed_5` knows how often each property was set, and no reading. Records are chosen against a
table of what it expects, the table is computed again from the chosen records, and both are averaged
over rounds. Then a forest is fitted to the designs of half of as many fresh systems, and tested on
the others.
"""

import sys
from collections import Counter, defaultdict
from functools import cache

from sklearn.ensemble import RandomForestClassifier

from whybench.episode.registry import load_suite
from whybench.families.causalab.proof.ambiguity import answers, verdicts
from whybench.families.causalab.world import observed
from whybench.families.causalab.world.world import FREQUENCY, View

ROUNDS = 12
WORDS = tuple(observed.WANTED)


def drawn(seed: str, count: int) -> list[list[View]]:
    """Return all sets of records that are drawn for each of some systems."""
    kept: list[list[View]] = []
    choose = observed.offers

    def noted(*args):
        kept.append(choose(*args))
        return kept[-1]

    observed.offers = noted
    suite = load_suite("causalab/observed_5", seed=seed)
    for number in range(count):
        suite.row(number)
    observed.offers = choose
    return kept


def gold(view: View) -> dict[tuple[int, int], str]:
    return answers(view, verdicts(observed.given(view)))


def table(views: list[View]) -> dict[str, dict[str, float]]:
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for view in views:
        for pair, word in gold(view).items():
            if pair[1] != FREQUENCY:
                counts[observed.setting(view, *pair)][word] += 1
    return {
        name: {word: (own[word] + 1) / (own.total() + 3) for word in WORDS}
        for name, own in counts.items()
    }


def found(offers: list[list[View]]) -> dict[str, dict[str, float]]:
    known = table([first for first, *_ in offers])
    even = dict.fromkeys(WORDS, 1 / 3)
    for number in range(2, ROUNDS):
        new = table([min(own, key=lambda view: observed.cost(view, known)) for own in offers])
        known = {
            name: {
                word: known.get(name, even)[word] * (1 - 1 / number)
                + new.get(name, even)[word] / number
                for word in WORDS
            }
            for name in {*known, *new}
        }
    return known


def read(views: list[View]) -> tuple[float, Counter[str]]:
    """Return the share of verdicts that a forest knows from the design, and their shares."""
    rows = [
        ([*map(int, observed.setting(view, *pair).split("-")), not to, len(view.records)], word)
        for view in views
        for pair, word in gold(view).items()
        for _, to in [pair]
    ]
    half = len(rows) // 2
    forest = RandomForestClassifier(200, min_samples_leaf=8, random_state=0)
    forest.fit(*zip(*rows[:half], strict=True))
    right = forest.predict([seen for seen, _ in rows[half:]]) == [word for _, word in rows[half:]]
    return float(right.mean()), Counter(word for _, word in rows)


def main() -> None:
    observed.given = cache(observed.given)  # verdicts are kept as long as their evidence
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    known = found(drawn("observed-design", count))
    for name in sorted(known):
        print(f"{name} = {{", ", ".join(f"{w} = {known[name][w]:.2f}" for w in WORDS), "}")
    fresh = drawn("observed-test", count)
    for what, views in {
        "first drawn": [first for first, *_ in fresh],
        "chosen": [min(own, key=lambda view: observed.cost(view, known)) for own in fresh],
    }.items():
        print(f"# {what}: a reader of the design knows", *read(views))


if __name__ == "__main__":
    main()
