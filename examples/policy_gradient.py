"""A policy gradient in numpy that learns to experiment, in a few minutes on one core.

REINFORCE with a baseline over a table of preferences. It trains on two suites of CausalLink and is
evaluated on `causallink/core`, whose structures it never meets in training. The agent reads the
words that every agent reads, and is paid for a right answer and nothing else. It is given six
plain facts about the two shapes in question. Which experiment to make, when to stop, and what an
outcome means for the answer is left to learning.

    python examples/policy_gradient.py --seeds 5 --plot curve.svg
"""

import argparse
import re
from pathlib import Path

import gymnasium
import learning_curve
import numpy as np

import whybench as wb
import whybench.interfaces.gym  # registers the ids

TRAIN = (("collider", "train"), ("advanced", "train"))
"""Suites with their splits; they take turns."""
EVALUATE = (("core", None, 84, 5), ("advanced", "eval", 276, 1))
"""Suites, splits, instances, passes through them; none of their systems is in training."""

MOVES = ("move x", "hold x", "move y", "hold y", "move other", "hold other")
CHOICES = (*MOVES, "answer yes", "answer no")
FACTS = (2, 2, 2, 2, len(MOVES) + 1, 2)
"""x moves, y moves, x changed, y changed, the last move (or none yet), no move is left."""

RATE, BASELINE_RATE, ENTROPY = 0.2, 0.05, 0.03


class Sight:
    """What the agent makes of the words it is shown; x and y are the shapes in question."""

    def __init__(self, instructions: str) -> None:
        self.x, self.y = re.findall(r"movement of the (\w+) make the (\w+) move", instructions)[0]
        self.now: dict[str, str] = {}
        self.read(instructions, len(MOVES))

    def read(self, text: str, last: int) -> None:
        """Take in what is seen after the last move."""
        before, pair = self.now, (self.x, self.y)
        listing = re.findall(r"now: ([^.]*)", text, re.IGNORECASE)[0]
        self.now = dict(re.findall(r"(\w+) (moving|static)", listing))
        self.left = int(re.findall(r"(?:at most|left:) (\d+)", text)[0])
        moving = (int(self.now[shape] == "moving") for shape in pair)
        changed = (int(bool(before) and before[shape] != self.now[shape]) for shape in pair)
        self.facts = (*moving, *changed, last, int(self.left == 0))

    def line(self, choice: str) -> str:
        """Return the line to say for a choice, or nothing if the move could change nothing."""
        verb, what = choice.split()
        if verb == "answer":
            return choice
        others = [shape for shape in self.now if shape not in (self.x, self.y)]
        named = {"x": [self.x], "y": [self.y], "other": others}[what]
        fit = [s for s in named if self.now[s] == ("static" if verb == "move" else "moving")]
        return f"{verb} {fit[self.left % len(fit)]}" if fit else ""


def play(env, preferences, rng, seed=None):
    """Play the next episode; return each step's facts, chances and choice, the reward, the info."""
    observation, _ = env.reset(seed=seed)
    sight, path, over = Sight(observation["text"]), [], False
    while not over:
        lines = [sight.line(choice) for choice in CHOICES]
        liking = np.where([bool(line) for line in lines], preferences[sight.facts], -np.inf)
        chances = np.exp(liking - liking.max())
        chances /= chances.sum()
        choice = int((liking + rng.gumbel(size=len(liking))).argmax())  # a draw by these chances
        path.append((sight.facts, chances, choice))
        observation, reward, terminated, truncated, info = env.step(lines[choice])
        over = terminated or truncated
        if not over:
            sight.read(observation["text"], choice)
    return path, reward, info


def learn(preferences, baseline, path, reward):
    """Make choices likelier that paid better than usual, with a small bonus for variety."""
    for facts, chances, choice in path:
        surprise = reward - baseline[facts]
        baseline[facts] += BASELINE_RATE * surprise
        gradient = surprise * ((np.arange(len(CHOICES)) == choice) - chances)
        log = np.log(np.maximum(chances, 1e-12))
        preferences[facts] += RATE * (gradient + ENTROPY * chances * (chances @ log - log))


def evaluate(env, episodes, preferences, rng):
    """Return the accuracy on an environment's first episodes, with its 95 % interval."""
    played = [play(env, preferences, rng, None if n else 0) for n in range(episodes)]
    return wb.rate_interval(
        [r for _, r, _ in played], instances=[i["instance"] for *_, i in played]
    )


def train(seed, episodes, points):
    """Train one agent; return its curve, and its evaluations before and after, suite by suite."""
    rng, other_rng = np.random.default_rng([seed, 0]), np.random.default_rng([seed, 1])
    preferences, baseline = np.zeros((*FACTS, len(CHOICES))), np.full(FACTS, 0.5)
    schools = [make(suite, split) for suite, split in TRAIN]
    exams = [
        (make(suite, split), instances * passes, preferences, other_rng)
        for suite, split, instances, passes in EVALUATE
    ]
    before = [evaluate(*exam) for exam in exams]
    curve = [(0, before[0].estimate)]
    for n in range(episodes):
        begins = seed if n < len(schools) else None
        path, reward, _ = play(schools[n % len(schools)], preferences, rng, begins)
        learn(preferences, baseline, path, reward)
        if (n + 1) % max(1, episodes // points) == 0 and n + 1 < episodes:
            curve.append((n + 1, evaluate(*exams[0]).estimate))
    after = [evaluate(*exam) for exam in exams]
    return [*curve, (episodes, after[0].estimate)], before, after


def make(suite, split):
    """Return the environment of one suite of CausalLink."""
    return gymnasium.make(f"WhyBench/causallink-{suite}-v2", split=split, disable_env_checker=True)


def main() -> None:
    """Train one agent for each seed and print what it was worth before and after."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3, help="how many agents; seeds 0, 1, …")
    parser.add_argument("--episodes", type=int, default=20_000, help="training episodes of each")
    parser.add_argument("--points", type=int, default=10, help="evaluations along the way")
    parser.add_argument("--plot", type=Path, help="write the learning curves to this SVG file")
    asked = parser.parse_args()
    shown = "{0.estimate:.3f} [{0.low:.3f}, {0.high:.3f}]".format
    print("accuracy, 95 % interval  | " + " | ".join(f"{s} before, after" for s, *_ in EVALUATE))
    curves = []
    for seed in range(asked.seeds):
        curve, before, after = train(seed, asked.episodes, asked.points)
        curves.append(curve)
        cells = [f"{shown(b)}  {shown(a)}" for b, a in zip(before, after, strict=True)]
        print(f"seed {seed} | " + " | ".join(cells), flush=True)
    before, after = (np.mean([curve[end][1] for curve in curves]) for end in (0, -1))
    print(f"mean of the seeds on {EVALUATE[0][0]}: {before:.3f} before, {after:.3f} after")
    if asked.plot:
        asked.plot.write_text(learning_curve.svg(curves), "utf-8")


if __name__ == "__main__":
    main()
