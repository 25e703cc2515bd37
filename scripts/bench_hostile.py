"""Processor time that hostile texts cost: what counts of calls in the tests cannot see.

    python scripts/bench_hostile.py

Regular expressions and the JSON scanner do their work inside one call; a text that makes one of
them slow is found only by time. The texts are those of the tests. Bars are some ten times what is
usual, so a busy machine passes, and backtracking, which takes minutes, does not.
"""

import gc
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.episode import test_extraction
from tests.families.causalgame.judging import test_checks
from tests.families.recite import test_answer, test_pattern
from tests.families.replayscm import test_submission

Case = tuple[str, float, Callable[[], object]]


def cases() -> Iterator[Case]:
    """Return a name, the bar in seconds and what is timed."""
    for text in test_extraction.HOSTILE:
        yield "objects in a reply", 0.5, lambda text=text: list(test_extraction.json_objects(text))
    for text in test_checks.HOSTILE:
        long = (text * 20_000)[:20_000]
        report = test_checks.Report(long, long, long, long)
        yield "CausalGame: checks", 3, lambda r=report: test_checks.checked(r, test_checks.LOST)
    for reply in test_answer.HOSTILE:
        for read in (test_answer.read, test_answer.read_released):
            yield (
                "ReCITE: an answer",
                1,
                lambda r=read, t=reply: test_answer.outcome(r, test_answer.FREE, t),
            )
    for text in test_pattern.ODD:
        yield "ReCITE: the pattern reader", 4, lambda t=text: test_pattern.relations(t)
    whole = test_pattern.longest()
    yield (
        "ReCITE: the longest document",
        6,
        lambda: test_pattern.relations(whole, test_pattern.NAMES),
    )
    seen = test_submission.view(*test_submission.EVERY[2])
    for text in test_submission.hostile().values():
        yield "ReplaySCM: an answer", 0.3, lambda t=text: test_submission.judge(seen, t)
        yield "ReplaySCM: a reply", 1, lambda t=text: test_submission.extract(seen, t)


def spent(call: Callable[[], object], bar: float) -> float:
    """Return the least processor time of up to three tries."""
    least = float("inf")
    for _ in range(3):
        began = time.process_time()
        call()
        least = min(least, time.process_time() - began)
        if least < bar:
            break
    return least


def main() -> None:
    gc.disable()
    worst: dict[str, tuple[float, float, int]] = {}
    for name, bar, call in cases():
        most, _, count = worst.get(name, (0.0, bar, 0))
        worst[name] = (max(most, spent(call, bar)), bar, count + 1)
    for name, (most, bar, count) in worst.items():
        print(f"{name}: the slowest of {count} hostile texts {most:.3f} s, at most {bar} s")
    slow = [name for name, (most, bar, _) in worst.items() if most >= bar]
    if slow:
        raise SystemExit(f"too slow: {', '.join(slow)}")


if __name__ == "__main__":
    main()
