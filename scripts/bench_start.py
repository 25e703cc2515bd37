"""User CPU that commands take to start: the median of five runs each, held to a bar.

    python scripts/bench_start.py [--repeats 5] [--bar 0.6] [--import-bar 0.05]

`import whybench` is counted beyond a bare interpreter. Bytecode is written first, as after an
installation.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys

COMMANDS = ("--help", "list", "show causallink/core --index 3", "show causalink/core")


def seconds(command: list[str], repeats: int) -> float:
    """Return the median of user CPU seconds; the first run, which compiles, is not counted."""
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    taken = []
    for _ in range(repeats + 1):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        subprocess.run(command, capture_output=True, env=env)
        taken.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)
    return statistics.median(taken[1:])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--bar", type=float, default=0.6)
    parser.add_argument("--import-bar", type=float, default=0.05)
    asked = parser.parse_args()
    python = [sys.executable]
    bare = seconds([*python, "-c", "pass"], asked.repeats)
    found = {"import whybench, beyond bare Python": asked.import_bar}
    measured = [seconds([*python, "-c", "import whybench"], asked.repeats) - bare]
    for words in COMMANDS:
        found[f"whybench {words}"] = asked.bar
        measured.append(seconds([*python, "-m", "whybench", *words.split()], asked.repeats))
    for (name, bar), taken in zip(found.items(), measured, strict=True):
        print(f"{name}: {taken:.3f} s of user CPU, bar {bar:g}")
    if any(taken > bar for bar, taken in zip(found.values(), measured, strict=True)):
        sys.exit("too slow to start")


if __name__ == "__main__":
    main()
