"""Send hostile replies through sessions, conversations and Inspect: nothing may break a run.

python scripts/fuzz_replies.py --session 1000000 --inspect 50000 > docs/runs/fuzz-replies.txt

A reply breaks a run if an exception comes out, if one reply takes more than --slowest seconds of
CPU time, or if its episode has no named outcome. Through Inspect, the scores of every log are also
replayed from its actions and must agree. The script ends with status 1 if anything of this fails.
"""

import argparse
import json
import logging
import random
import resource
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from inspect_ai import eval as inspect_eval
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ContentReasoning,
    ContentText,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    get_model,
    modelapi,
)
from inspect_ai.tool import ToolCall, ToolChoice, ToolInfo

import whybench as wb
from whybench.causal.canonical import canonical_json
from whybench.episode.action import ActionSpec
from whybench.episode.episode import ANSWERED
from whybench.episode.score import MODES
from whybench.interfaces.inspectai.build import build
from whybench.interfaces.inspectai.instance_selection import Chosen
from whybench.interfaces.inspectai.record import EPISODE, LIVE, Live
from whybench.interfaces.inspectai.solver import TOOLS
from whybench.report.replay.check import said
from whybench.report.runs import read_runs

BIG = 10_000_000
"""Characters of the longest texts: one reply in two thousand is as long."""


def deep(levels: int) -> Any:
    value: Any = []
    for _ in range(levels):
        value = [value]
    return value


TEXTS = (
    *("", " \n", "\x00", "yes\x00", "\ud800", "\udfff\ud800", "\ud83d\ude00", "NaN", "1e999", "-0"),
    *(
        "9" * 5_000,
        "[" * 500 + "]" * 500,
        "[" * 50_000,
        "{" * 20_000,
        '{"a":' * 900 + "1" + "}" * 900,
    ),
    *("```" * 5_000, "```json\n" * 2_000, '{"answer": "yes"}' * 500, '"' * 20_001, "\\" * 20_000),
    *(
        "<tool_call>" * 3_000,
        "<think>",
        "<think>only this",
        "</think>",
        "\u202eyes",
        "ｙｅｓ",
        "yes\u200b",
    ),
    *(
        "\x1b[2J\x1b]52;c;eA==\x07",
        "<script>alert(1)</script>",
        "a\u2028b",
        "\u0301" * 5_000,
        "İ" * 900,
    ),
    *(
        '{"answer": "\\ud800"}',
        '{"answer": "\\u0000"}',
        '{"experiment": "\\udfff"}',
        "None",
        "null",
    ),
    *(
        "x" * 250_000,
        "hold " + "a " * 120_000,
        "answer " + "'" * 60_001,
        "2**2**2**2**2",
        "-" * 20_000,
    ),
    *('{"name": "answer", "arguments": {"answer": "yes"}}', '{"name": "answer", "arguments": [1]}'),
)
VALUES: tuple[Any, ...] = (
    *(float("nan"), float("inf"), -1, 10**400, 10**5_000, True, None, [], {}, [[[]]], deep(40)),
    *(
        deep(900),
        ["x"] * 20_000,
        {str(i): i for i in range(5_000)},
        b"x",
        object(),
        {1: 2},
        {"\ud800": 1},
    ),
)


def a_text(rng: random.Random) -> str:
    if rng.random() < 0.0005:
        return rng.choice(("a", "\ud800", "{", "hold circle ", "\x00")) * (BIG // 4)
    kind = rng.randrange(4)
    if kind == 0:
        return "".join(chr(rng.randrange(0x110000)) for _ in range(rng.randrange(60)))
    if kind == 1:
        return rng.randbytes(rng.randrange(80)).decode("latin-1")
    if kind == 2:
        return rng.choice(TEXTS)[: rng.randrange(1, 400)]
    return rng.choice(TEXTS) if rng.random() < 0.2 else rng.choice(TEXTS)[:2_000]


def a_call(rng: random.Random, specs: tuple[ActionSpec, ...]) -> tuple[Any, Any]:
    """Return name and arguments: often those of an action, sometimes nothing that is a call."""
    if rng.random() < 0.15:
        return rng.choice((a_text(rng), "malformed", None, 3)), rng.choice((*VALUES[:12], "x"))
    spec = rng.choice(specs)
    args = {a.name: rng.choice((a_text(rng), rng.choice(VALUES))) for a in spec.arguments}
    if rng.random() < 0.2:
        args[a_text(rng)[:50]] = a_text(rng)
    return spec.name, rng.choice((args, args, args, list(args.values()), None, "text"))


@dataclass
class Found:
    """What a run showed."""

    slowest: float
    replies: int = 0
    episodes: int = 0
    longest: float = 0.0
    next_word: float = field(default_factory=lambda: time.monotonic() + 120)
    faults: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)

    def progress(self) -> None:
        """Say now and then how far the run is, so that a run that is stopped has a result."""
        if time.monotonic() > self.next_word:
            self.next_word = time.monotonic() + 120
            faults = sum(self.faults.values())
            print(
                f"{self.replies} replies, {faults} faults, slowest {self.longest:.2f} s, "
                f"CPU {time.process_time():.0f} s",
                file=sys.stderr,
                flush=True,
            )

    def timed(self, start: float, what: str) -> None:
        """Note the CPU time since a start."""
        took = time.process_time() - start
        self.longest = max(self.longest, took)
        if took > self.slowest:
            self.faults[f"slow: {what}"] += 1

    def raised(self, error: Exception) -> None:
        """Note an exception, by the last place in our code."""
        frames = [f for f in traceback.extract_tb(error.__traceback__) if "whybench" in f.filename]
        place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "?"
        self.faults[f"{type(error).__name__} in {place}: {str(error)[:60]!r}"] += 1

    def ended(self, outcome: str | None, notes: Iterator[str]) -> None:
        """Note how an episode ended, and what was cleaned in it."""
        self.episodes += 1
        self.outcomes[str(outcome)] += 1
        self.notes.update(notes)
        if not outcome or not (outcome == ANSWERED or outcome in MODES or outcome in OWN):
            self.faults[f"no named outcome: {outcome}"] += 1


OWN = {"unreported"} | {f"{limit}_limit" for limit in ("message", "token", "time", "working")}
"""Outcomes of single families, and limits of Inspect."""

INSTANCES = [
    wb.load_suite(f"{family.name}/{family.recommended[0]}")[place]
    for family in wb.installed_families().values()
    for place in range(3)
]


def through_sessions(replies: int, seed: int, found: Found) -> None:
    """Send replies to sessions by calls, lines and texts, and to conversations."""
    number = 0
    while found.replies < replies:
        number += 1
        found.progress()
        rng = random.Random(f"{seed} {number}")
        instance = INSTANCES[number % len(INSTANCES)]
        session = wb.Session(instance)
        way = rng.choice(("call", "line", "text", "dialogue"))
        family, episode = session.family, session.episode
        talk = family.conversation(episode, session.template)
        for _ in range(12):
            if session.done or (way == "dialogue" and talk.turn() is None):
                break
            found.replies += 1
            text, call = a_text(rng), a_call(rng, episode.actions)
            start = time.process_time()
            try:
                if way == "call":
                    session.call(*call)
                elif way == "line":
                    session.say(text)
                elif way == "text":
                    session.without_call(text)
                elif getattr(talk, "program", lambda _: None)(text) is None:
                    talk.reply(text)
            except Exception as error:  # noqa: BLE001 - every kind is a fault
                found.raised(error)
            found.timed(start, f"{family.name} {way}")
        try:
            kept = canonical_json(session.trace.to_json())
            str(session.trace.to_json()).encode()
            assert canonical_json(family.again(instance, session.trace).trace.to_json()) == kept
            score = session.score()
            ended = score.outcome
        except Exception as error:  # noqa: BLE001 - every kind is a fault
            found.raised(error)
            continue
        found.ended(ended, (note for one in session.trace.actions for note in one.cleaned))


@modelapi(name="hostile")
class Hostile(ModelAPI):
    """A provider whose every reply is hostile."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008 - Inspect's own signature
        *,
        found: Found,
        seed: int,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        self.found, self.seed = found, seed
        self.told: tuple[float, str] | None = None

    async def generate(
        self,
        input: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        """Return a reply that depends on the sample and the number of the reply alone."""
        self.found.replies += 1
        live = LIVE.get()
        if self.told is not None and self.told[1] == live.instance.id:
            self.found.timed(self.told[0], f"inspect {live.family.name}")
        output = self._reply(input, tools, live)
        self.told = time.process_time(), live.instance.id
        return output

    def _reply(self, input: list[ChatMessage], tools: list[ToolInfo], live: Live) -> ModelOutput:
        rng = random.Random(f"{self.seed} {live.instance.id} {len(input)}")
        if rng.random() < 0.02:
            return ModelOutput(model="hostile", choices=[])
        content: Any = a_text(rng)
        if rng.random() < 0.3:
            thought = ContentReasoning(reasoning=a_text(rng), signature=a_text(rng)[:99])
            content = [thought, *([ContentText(text=content)] if rng.random() < 0.5 else [])]
        message = ChatMessageAssistant(content=content)
        if tools and rng.random() < 0.7:
            many = rng.choices((1, 3, 40, 3_000), (60, 30, 9, 1))[0]
            message.tool_calls = [self._call(rng, live.episode.actions) for _ in range(many)]
        reason = rng.choices(("stop", "tool_calls", "max_tokens", "content_filter"), (80, 10, 5, 5))
        output = ModelOutput.from_message(message, reason[0])  # type: ignore[arg-type]
        output.metadata = {"raw": a_text(rng)[:200]}
        return output

    def _call(self, rng: random.Random, specs: tuple[ActionSpec, ...]) -> ToolCall:
        name, args = a_call(rng, specs)
        call = ToolCall(id=rng.choice(("", "1", a_text(rng)[:20])), function="x", arguments={})
        call.function = name if isinstance(name, str) else "none"
        call.arguments = args  # not an object, sometimes: a provider can assign what it likes
        call.parse_error = a_text(rng) if rng.random() < 0.1 else None
        return call


class Rows:
    """Instances of a suite, from a place on."""

    def __init__(self, suite: wb.Suite, first: int, size: int) -> None:
        self.held = [suite[(first + place) % len(suite)] for place in range(size)]

    def __len__(self) -> int:
        return len(self.held)

    def instance(self, position: int) -> wb.Instance:
        """Return the instance at a position."""
        return self.held[position]

    def names(self, positions: Any) -> Iterator[str]:
        """Yield ids."""
        return (self.held[position].id for position in positions)


def through_inspect(replies: int, seed: int, found: Found) -> None:
    """Play tasks of every family and protocol with the hostile provider."""
    batch, size = 0, 20 if replies >= 2_000 else 2
    while found.replies < replies:
        found.progress()
        for family in wb.installed_families().values():
            for protocol in family.protocols:
                if protocol != TOOLS and family.name == "causalgame":
                    continue  # its programs belong to the tests of the sandbox
                if found.replies < replies:
                    _batch(family, protocol, batch, size, f"{seed}{batch}", found)
        batch += 1


def _batch(family: Any, protocol: str, batch: int, size: int, seed: str, found: Found) -> None:
    suite = family.suite(family.recommended[0])
    rows = Rows(suite, batch * size, min(size, len(suite)))
    chosen = Chosen(suite, rows, range(len(rows)))  # type: ignore[arg-type]
    task = build(chosen, protocol, family.templates[0], "own", None, schema=False)
    model = get_model("hostile/x", memoize=False, found=found, seed=int(seed))
    with TemporaryDirectory() as folder:
        [log] = inspect_eval(
            task, model=model, log_dir=folder, display="none", score_display=False,
            message_limit=40, max_samples=1,
        )  # fmt: skip
        samples = list(log.samples or ())
        for line in said(read_runs([folder], trust=False)) if log.status == "success" else ():
            found.faults[f"{family.name} {protocol}, score not as replayed: {line}"] += 1
    if log.status != "success":
        found.faults[f"{family.name} {protocol}: the task ended with {log.status}"] += 1
    for sample in samples:
        if sample.error is not None:
            found.faults[f"{family.name} {protocol}: {sample.error.message[:80]}"] += 1
            continue
        score = (sample.scores or {})["episode_score"]
        actions = json.loads(sample.store[EPISODE])["actions"]
        found.ended(score.answer, (n for action in actions for n in action.get("cleaned", ())))
    missing = len(rows) - len(samples)
    if missing:
        found.faults[f"{family.name} {protocol}: samples without a record"] += missing


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--session", type=int, default=900)
    parser.add_argument("--inspect", type=int, default=100)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--slowest", type=float, default=1.0, help="seconds of CPU for one reply")
    given = parser.parse_args()
    logging.disable(logging.WARNING)
    print(f"python scripts/fuzz_replies.py {' '.join(sys.argv[1:])}")
    print("through, replies, episodes, crashes, slow replies, episodes without a named outcome,")
    print("slowest reply (CPU; through Inspect, until the next reply), peak memory, CPU time")
    bad = 0
    for name, replies, play in (
        ("session", given.session, through_sessions),
        ("inspect", given.inspect, through_inspect),
    ):
        found, start = Found(given.slowest), time.process_time()
        if replies:
            play(replies, given.seed, found)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
        crashes = sum(n for what, n in found.faults.items() if not what.startswith(("slow", "no ")))
        slow = sum(n for what, n in found.faults.items() if what.startswith("slow"))
        unnamed = sum(n for what, n in found.faults.items() if what.startswith("no "))
        print(
            f"{name}, {found.replies}, {found.episodes}, {crashes}, {slow}, {unnamed}, "
            f"{found.longest:.2f} s, {peak} MiB, {time.process_time() - start:.0f} s"
        )
        print("  outcomes", dict(found.outcomes.most_common()))
        print("  cleaned", dict(found.notes.most_common()))
        for what, count in found.faults.most_common():
            print(f"  FAULT {count} × {what}")
        bad += sum(found.faults.values())
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
