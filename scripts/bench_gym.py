"""How many steps a second a gymnasium environment makes on one core, as a user has it.

The environment comes from `gymnasium.make`, with its wrappers, text and JSON observations and the
sparse reward. Resets and scores are inside the clock. What is said is laid out beforehand: on
`causallink/core` three random interventions and a random answer in every episode, on the other
suites the run of the exact agent. CPU time; on shared machines a core's speed changes from one
moment to the next, so several repeats are timed, and beside each stands how fast a plain loop ran
just before and after it. The bar is for the median of `causallink/core`, as measured.
"""

import argparse
import json
import sys
import time
from statistics import median

import gymnasium

from whybench.causal.seeds import Stream
from whybench.interfaces.gym import EpisodeEnv
from whybench.interfaces.session import Session

OTHERS = ("causalab-main_3", "replayscm-lab", "causalgame-antenna")

Script = list[list[str]]
"""What is said in one episode after another."""


def session_of(env: gymnasium.Env) -> Session:
    """Return the session behind an environment and its wrappers."""
    found = env.unwrapped
    if not isinstance(found, EpisodeEnv):
        raise TypeError(f"{env} is no environment of ours")
    return found.session


def random_script(env: gymnasium.Env, seed: int, episodes: int) -> Script:
    """Write three random interventions and an answer for each instance that a seed brings."""
    stream = Stream("bench_gym", seed)
    script = []
    for number in range(episodes):
        env.reset(seed=seed if number == 0 else None)
        session = session_of(env)
        names = session.family.world(session.instance).view.names
        verbs = [f"{stream.choice(('move', 'hold'))} {stream.choice(names)}" for _ in range(3)]
        script.append([*verbs, f"answer {stream.choice(('yes', 'no'))}"])
    return script


def exact_script(env: gymnasium.Env, seed: int, episodes: int) -> Script:
    """Write down the exact agent's run for each instance that a seed brings."""
    script = []
    for number in range(episodes):
        env.reset(seed=seed if number == 0 else None)
        session = session_of(env)
        run = session.family.exact_run(session.instance)
        script.append([json.dumps(action.to_json()) for action in run.actions])
    return script


def timed(env: gymnasium.Env, seed: int, script: Script) -> float:
    """Play a script; return steps per second of CPU time."""
    steps = scored = 0
    start = time.process_time()
    for number, lines in enumerate(script):
        env.reset(seed=seed if number == 0 else None)
        for line in lines:
            _, _, terminated, _, info = env.step(line)
        steps += len(lines)
        scored += terminated and "score" in info
    spent = time.process_time() - start
    if scored != len(script):
        raise RuntimeError(f"only {scored} of {len(script)} episodes ended with a score")
    return steps / spent


def gauge() -> float:
    """Return millions of rounds a second of a plain loop: how fast this core is at the moment."""
    start, total = time.process_time(), 0
    for number in range(1_000_000):
        total += number & 3
    return 1 / (time.process_time() - start)


def main() -> int:
    """Time all, print a line per repeat and the medians."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--episodes", type=int, default=5000, help="per repeat, causallink/core")
    parser.add_argument("--endless", action="store_true", help="fresh instances, never met again")
    parser.add_argument("--reward", choices=("sparse", "dense"), default="sparse")
    parser.add_argument("--only-core", action="store_true", help="leave the other suites out")
    parser.add_argument("--bar", type=float, help="fail if the median on causallink/core is below")
    given = parser.parse_args()
    options = {"endless": given.endless, "reward": given.reward}
    env = gymnasium.make("WhyBench/causallink-core-v2", **options)
    timed(env, 0, random_script(env, 0, 500))
    rates = []
    for repeat in range(1, given.repeats + 1):
        script = random_script(env, repeat, given.episodes)
        before = gauge()
        rates.append(timed(env, repeat, script))
        loop = f"a plain loop: {before:.0f} and {gauge():.0f} million rounds/s"
        print(f"causallink/core repeat {repeat}: {rates[-1]:,.0f} steps/s ({loop})", flush=True)
    print(f"causallink/core median: {median(rates):,.0f} steps/s, best {max(rates):,.0f}")
    for name in () if given.only_core else OTHERS:
        env = gymnasium.make(f"WhyBench/{name}", rows=4)  # the newest version
        script = exact_script(env, 1, 12)
        several = [timed(env, 1, script) for _ in range(3)]
        shown = ", ".join(f"{rate:,.0f}" for rate in several)
        print(f"{name.replace('-', '/')} median: {median(several):,.0f} steps/s ({shown})")
    if given.bar is not None and median(rates) < given.bar:
        print(f"below the bar of {given.bar:,.0f} steps/s", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
