"""Fuzz the reading and scoring of ReplaySCM answers: nothing an agent writes may raise.

uv pip install atheris
python scripts/fuzz_replayscm.py -max_total_time=300 -print_final_stats=1 [a folder for the corpus]
"""

import json
import sys
from typing import Any

import atheris  # type: ignore[import-untyped]  # it has no stubs

with atheris.instrument_imports(
    include=[
        "whybench.causal.boolean",
        "whybench.episode.prompts.extraction",
        "whybench.families.replayscm.submission",
        "whybench.families.replayscm.world.replay",
        "whybench.families.replayscm.alternative",
        "whybench.families.replayscm.score",
    ]
):
    from whybench.causal.boolean import OPERATORS
    from whybench.episode.episode import ANSWERED
    from whybench.families.replayscm.score import Handed, values
    from whybench.families.replayscm.submission import STAGES, Judged, extract, judge
    from whybench.families.replayscm.world.generation.generate import sample_problem
    from whybench.families.replayscm.world.generation.source import told_of
    from whybench.families.replayscm.world.world import Disclosure, Task, View, World

VARIANTS: tuple[tuple[Task, Disclosure], ...] = (
    ("induce", "ordered"),
    ("induce", "block"),
    ("induce", "hidden"),
    ("induce", "roots"),
    ("alternative", "ordered"),
    ("alternative", "hidden"),
)


def make_worlds() -> list[World]:
    """Every variant of two problems, under both profiles."""
    found = []
    for index in range(2):
        problem = sample_problem("fuzz", index)
        latent = problem.latent
        blocks = (latent.order[:4], latent.order[4:])
        for task, disclosure in VARIANTS:
            for released in (False, True):
                view = View(
                    task,
                    disclosure,
                    told_of(latent, disclosure, blocks),
                    tuple(range(latent.n)),
                    latent.order if disclosure == "ordered" else (),
                    blocks if disclosure == "block" else (),
                    problem.train,
                    len(problem.heldout),
                    latent.formulas if task == "alternative" else (),
                    released,
                )
                found.append(World(view, latent.formulas, problem.heldout, latent.name))
    return found


WORLDS = make_worlds()
WORDS = ("mechanisms", "roots", "alternative", "experiment", "witness", "type", "hard_do")
MORE = ("assignments", "rootAssignment", "differences", "variable", "reference", "0", "1")


class Draw:
    """Values drawn from the fuzzer's bytes."""

    def __init__(self, data: bytes) -> None:
        self.data = atheris.FuzzedDataProvider(data)

    def below(self, most: int) -> int:
        return int(self.data.ConsumeIntInRange(0, most - 1))

    def text(self) -> str:
        return str(self.data.ConsumeUnicode(self.below(24)))

    def formula(self, view: View, depth: int) -> str:
        kind = self.below(10)
        if kind == 0:
            return self.text()
        if kind < 4 or depth == 0:
            return view.names[self.below(view.n)]
        operator = OPERATORS[self.below(len(OPERATORS))]
        count = 1 if operator == "not" else 2 + self.below(2)
        inner = " ".join(self.formula(view, depth - 1) for _ in range(count))
        return f"({operator} {inner})"

    def value(self, view: View, depth: int) -> Any:
        kind = self.below(12)
        if kind < 3 and depth:
            return {self.key(view): self.value(view, depth - 1) for _ in range(self.below(5))}
        if kind < 5 and depth:
            return [self.value(view, depth - 1) for _ in range(self.below(4))]
        plain = (0, 1, True, None, 1.0, float("nan"), 10**400, -1)
        if kind < 8:
            return plain[self.below(len(plain))]
        return self.key(view) if kind < 10 else self.formula(view, 3)

    def key(self, view: View) -> str:
        words = (*WORDS, *MORE, *view.names)
        at = self.below(len(words) + 2)
        return words[at] if at < len(words) else self.text()

    def answer(self, world: World) -> Any:
        """A valid answer with some parts replaced."""
        view = world.view
        own = [v for v in range(view.n) if world.formulas[v]]
        mechanisms: dict[str, Any] = {view.names[v]: world.formulas[v] for v in own}
        for _ in range(self.below(3)):
            mechanisms[view.names[own[self.below(len(own))]]] = self.formula(view, 3)
        scm: dict[str, Any] = {"mechanisms": mechanisms}
        if view.disclosure == "roots":
            scm["roots"] = [view.names[v] for v in range(view.n) if v not in own]
        roots = {view.names[v]: self.below(2) for v in range(view.n) if v not in own}
        claim = {"variable": view.names[self.below(view.n)], "reference": 0, "alternative": 1}
        answer = scm
        if view.task == "alternative":
            answer = {
                "alternative": scm,
                "experiment": {
                    "type": "hard_do",
                    "assignments": {view.names[self.below(view.n)]: self.below(2)},
                },
                "witness": {"rootAssignment": roots, "differences": [claim]},
            }
        for _ in range(self.below(3)):
            self.spoil(view, answer)
        return answer

    def spoil(self, view: View, answer: dict[str, Any]) -> None:
        """Replace, add or delete something somewhere."""
        place: Any = answer
        while isinstance(place, dict) and place:
            key = list(place)[self.below(len(place))]
            if not isinstance(place[key], dict) or self.below(2):
                break
            place = place[key]
        else:
            return
        kind = self.below(3)
        if kind == 0:
            del place[key]
        else:
            place[key if kind == 1 else self.key(view)] = self.value(view, 2)

    def reply(self, world: World) -> str:
        kind = self.below(6)
        if kind == 0:
            return str(self.data.ConsumeUnicode(4096))
        if kind == 1:
            text = json.dumps(self.value(world.view, 4))
        else:
            text = json.dumps(self.answer(world), ensure_ascii=bool(self.below(2)))
        if kind == 2:
            return f"{self.text()}```json\n{text}\n```{self.text()}{{{self.text()}"
        if kind == 3:
            other = json.dumps(self.answer(world))
            return f"{other}{self.text()}{text}{self.text()}"
        if kind == 4:
            at = self.below(len(text) + 1)
            return text[:at] + self.text() + text[at + self.below(3) :]
        return text


def check(world: World, judged: Judged) -> None:
    """Whatever was judged must be scored, and all shares must be shares."""
    valid = judged.failed is None
    if valid != (judged.candidate is not None) or not (valid or judged.failed in STAGES):
        raise AssertionError(judged)
    if not valid and not judged.reason:
        raise AssertionError("refused without a reason")
    judged.reason.encode()
    found, _ = values(world, ANSWERED, Handed(judged, 1, valid, True), {})
    for name in ("task_correct", "train_exact", "heldout_exact", "train_accuracy"):
        if not 0.0 <= found[name] <= 1.0:
            raise AssertionError((name, found[name]))
    if found["valid"] != valid or (found["task_correct"] and not valid):
        raise AssertionError(found)


def one_input(data: bytes) -> None:
    draw = Draw(data)
    world = WORLDS[draw.below(len(WORLDS))]
    reply = draw.reply(world)
    judged = judge(world.view, reply)
    check(world, judged)
    chosen = extract(world.view, reply)
    if chosen is None:
        if judged.failed != "extracted":
            raise AssertionError("an object was judged that is not found")
        return
    again = judge(world.view, chosen.text)
    check(world, again)
    if judged.failed is None and again.failed is not None:
        raise AssertionError("a valid answer got lost")


if __name__ == "__main__":
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
