"""How many submissions are scored a second on one core, induction and Alternative-SCM.

Submissions are of every quality: the exact agent's, the gold mechanisms, and answers spoilt by
swapping operators and variables, as models' answers are. Each text is different, so nothing is
saved by meeting a formula again. The whole way is timed, as `whybench score` goes it: the recorded
action is replayed on a fresh episode, the JSON is read, formulas are parsed, worlds replayed, and
all components computed. CPU time; on shared machines a core's speed changes from one moment to the
next, so many short rounds are timed, and the fastest and the median round are given.
"""

import argparse
import json
import sys
import time
from statistics import median

from whybench.core.seeds import Stream
from whybench.episode.episode import Episode, play
from whybench.episode.family import Suite, find_suite
from whybench.episode.trace import Trace

ROUND = 250
"""Submissions timed at a stretch."""

OPERATORS = ("and", "or", "xor", "iff")


def spoilt(text: str, names: list[str], stream: Stream) -> str:
    """Change some words of every formula; the result may be wrong, illegal or cyclic."""
    words = text.replace("(", "( ").replace(")", " )").split()
    for i, word in enumerate(words):
        if word in OPERATORS and stream.below(4) == 0:
            words[i] = stream.choice(OPERATORS)
        elif word in names and stream.below(8) == 0:
            words[i] = stream.choice(names)
    return " ".join(words).replace("( ", "(").replace(" )", ")")


def submissions(suite: Suite, count: int) -> list[tuple[object, Trace]]:
    """Record one answer to an instance after another, each different."""
    family, found = suite.family, []
    answers = []
    for instance in suite:
        trace = play(family.open(instance), family.agent("exact", instance))
        answers.append((instance, json.loads(trace.actions[-1].args["answer"])))
    for number in range(count):
        instance, answer = answers[number % len(answers)]
        stream = Stream("bench", suite.name, number)
        changed = json.loads(json.dumps(answer))
        holder = changed.get("alternative", changed)
        names = list(holder["mechanisms"])
        for name in names:
            if number >= len(answers):
                holder["mechanisms"][name] = spoilt(holder["mechanisms"][name], names, stream)
        episode: Episode = family.open(instance)
        episode.step(family.submission(changed))
        found.append((instance, episode.trace))
    return found


def measure(suite: Suite, count: int, rounds: int) -> tuple[float, float, float]:
    """Return submissions a second, in the fastest and the median round, and the share valid."""
    recorded = submissions(suite, count)
    family = suite.family
    valid = sum(family.score(*pair).values["valid"] for pair in recorded) / count
    rates = []
    for number in range(rounds):
        some = recorded[number * ROUND % count :][:ROUND]
        begin = time.process_time()
        for instance, trace in some:
            family.score(instance, trace)
        rates.append(len(some) / (time.process_time() - begin))
    return max(rates), median(rates), valid


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--submissions", type=int, default=3000)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--bars", type=float, nargs=2, default=(5000.0, 1000.0))
    given = parser.parse_args()
    missed = False
    for name, bar in zip(("hid_match", "alt_hid"), given.bars, strict=True):
        suite = find_suite(f"replayscm/{name}")
        best, usual, valid = measure(suite, given.submissions, given.rounds)
        print(
            f"{name}: {best:,.0f} submissions/s, median round {usual:,.0f} (bar {bar:,.0f}), "
            f"{valid:.0%} of them valid"
        )
        missed |= best < bar
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
