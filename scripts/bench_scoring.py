"""How many submissions are scored a second on one core, induction and Alternative-SCM.

Submissions are of every quality: the exact agent's answers, and answers spoilt by swapping
operators and variables, as models' answers are. Each is scored once, so a formula is met again only
where different submissions share it. The whole way is timed, as `whybench score` goes it: the
recorded action is carried out on a fresh episode, the JSON is read, formulas are parsed, worlds
replayed, and all components computed. CPU time; on shared machines a core's speed changes from one
moment to the next, so many short rounds are timed, and the median and the fastest round are given.
The bar is for the median.
"""

import argparse
import json
import sys
import time
from statistics import median

from whybench.causal.seeds import Stream
from whybench.episode.family import Suite
from whybench.episode.instance import Instance
from whybench.episode.observation import OK, Observation
from whybench.episode.registry import load_suite
from whybench.episode.trace import Step, Trace

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


def submissions(suite: Suite, count: int) -> list[tuple[Instance, Trace]]:
    """Record one answer to an instance after another, each different, none looked at yet."""
    family, found = suite.family, []
    answers = []
    for instance in suite:
        action = next(family.agent("exact", instance))
        answers.append((instance, json.loads(action.args["answer"])))
    for number in range(count):
        instance, answer = answers[number % len(answers)]
        stream = Stream("bench", suite.name, number)
        changed = json.loads(json.dumps(answer))
        mechanisms = changed.get("alternative", changed)["mechanisms"]
        if number % 4:
            variables = list(family.world(instance).view.names)
            for name in mechanisms:
                mechanisms[name] = spoilt(mechanisms[name], variables, stream)
        step = Step(*family.submission(changed), Observation(OK))
        found.append((instance, Trace(instance.id, (step,), outcome="answered")))
    return found


def measure(suite: Suite, rounds: int) -> tuple[float, float, float, float]:
    """Return submissions a second in the median and the fastest round, and shares valid, solved."""
    recorded = submissions(suite, rounds * ROUND)
    score = suite.family.score
    rates, valid, solved = [], 0.0, 0.0
    for number in range(rounds):
        some = recorded[number * ROUND : (number + 1) * ROUND]
        begin = time.process_time()
        scores = [score(instance, trace) for instance, trace in some]
        rates.append(len(some) / (time.process_time() - begin))
        valid += sum(found.values["valid"] for found in scores)
        solved += sum(found.values["solved"] for found in scores)
    return median(rates), max(rates), valid / len(recorded), solved / len(recorded)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--bars", type=float, nargs=2, default=(5000.0, 1000.0))
    given = parser.parse_args()
    missed = False
    for name, bar in zip(("hid_match", "alt_hid"), given.bars, strict=True):
        suite = load_suite(f"replayscm/{name}")
        usual, best, valid, solved = measure(suite, given.rounds)
        print(
            f"{name}: {usual:,.0f} submissions/s in the median round (bar {bar:,.0f}), {best:,.0f} "
            f"in the fastest; {valid:.0%} of them valid, {solved:.0%} solved"
        )
        missed |= usual < bar
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
