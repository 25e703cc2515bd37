"""Prepare users' own papers for ReCITE with models of Inspect.

`await prepare([Path("a.pdf")], Path("annotations"), Path("out"), "openai/gpt-x")` leaves in `out`:
`texts.jsonl` (records of the published schema, each with the name of its `paper`; `-T data=out`
plays them), `changes/NAME.jsonl` (every change, doubt and rejected reply of a paper) and `work/`
(from which a stopped run resumes). A later run adds its papers to the existing ones.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
from inspect_ai.model import GenerateConfig, Model, get_model

from whybench.causal.whole_files import write_whole
from whybench.families.recite.extras.preparing.content_cache import ContentCache
from whybench.families.recite.extras.preparing.limits import Limits
from whybench.families.recite.extras.preparing.limits import limits as usual_limits
from whybench.families.recite.extras.preparing.model_client import (
    Ask,
    Asker,
    RefusedError,
    StepError,
)
from whybench.families.recite.extras.preparing.papers import Paper, gathered
from whybench.families.recite.extras.preparing.pipeline import (
    MODEL_STEPS,
    Prepared,
    Resources,
    prepared,
)
from whybench.families.recite.extras.preparing.texts import NAME, read_texts, write_texts

TEMPERATURE = 0.0
"""Models run at temperature 0, as far as providers allow it."""

AT_ONCE = 4
"""Number of papers that are prepared in parallel."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The results of the papers, by the names of their files."""

    texts: Path
    """The file with all prepared records, from this run and earlier ones."""
    prepared: Mapping[str, Prepared]
    failed: Mapping[str, str]
    """Why the other papers failed."""

    def to_json(self) -> dict[str, Any]:
        """Return a short summary as JSON data."""
        return {
            "texts": str(self.texts),
            "prepared": {
                name: {
                    "nodes": one.record["num_nodes"],
                    "edges": one.record["num_edges"],
                    "characters": len(one.record["input_text"]),
                    "explicitness": one.record["explicitness"],
                    "changes": len(one.changes),
                    "doubts": sum(change.kind == "doubt" for change in one.changes),
                    "retries": one.retries,
                }
                for name, one in self.prepared.items()
            },
            "failed": dict(self.failed),
        }


async def prepare(
    papers: Sequence[Path],
    annotations: Mapping[str, Path] | Path,
    out: Path,
    model: str | Model | Mapping[str, str | Model] | None = None,
    *,
    details: Mapping[str, Mapping[str, Any]] | Path | None = None,
    limits: Limits | None = None,
    max_tokens: int | None = None,
    at_once: int = AT_ONCE,
) -> Outcome:
    """Prepare papers; one that fails does not stop the others, and a second run resumes.

    Records that are in `out` stay, with their ids. A paper of the same name takes the place of its
    own record, once it is prepared again.

    Args:
        papers: PDF files.
        annotations: Edge lists by the names of the papers' files, or a folder of `NAME.csv` etc.
        out: A folder for the results.
        model: Model name as in Inspect; by default the one of the environment. A mapping gives a
            model to each step, with the key "" for the others.
        details: Details of the papers by name, or a JSON file with them.
        limits: Limits that replace the default ones.
        max_tokens: Maximum length of a reply; a truncated reply is rejected.
        at_once: Number of papers that are prepared in parallel.

    """
    texts = out / NAME
    before = read_texts(texts)
    ids = {name: record["id"] for name, record in before.items()}
    todo = gathered(papers, annotations, details, ids)
    bounds = limits or usual_limits()
    cache = ContentCache(out / "work")
    askers = {
        step: Asker(asking(chosen, max_tokens), str(chosen), bounds.tries, cache)
        for step, chosen in models(model).items()
    }
    done: dict[str, Prepared] = {}
    failed: dict[str, str] = {}
    room = anyio.CapacityLimiter(at_once)

    async def one(paper: Paper) -> None:
        resources = Resources(cache, askers, bounds)
        async with room:
            try:
                done[paper.name] = await prepared(paper, resources)
            except (StepError, ValueError, OSError) as error:
                failed[paper.name] = str(error)
            finally:
                listed = (change.to_json() for change in resources.changes)
                write_whole(out / "changes" / f"{paper.name}.jsonl", _lines(listed))

    try:
        async with anyio.create_task_group() as group:
            for paper in todo:
                group.start_soon(one, paper)
    except ExceptionGroup as several:  # what stops all, such as a provider that is gone
        raise several.exceptions[0] from None
    names = [paper.name for paper in todo]
    kept = {name: done[name] for name in names if name in done}
    write_texts(texts, before | {name: one.record for name, one in kept.items()})
    return Outcome(texts, kept, {name: failed[name] for name in names if name in failed})


def models(given: str | Model | Mapping[str, str | Model] | None) -> dict[str, Model]:
    """Return the model of each step that asks one."""
    named = given if isinstance(given, Mapping) else {} if given is None else {"": given}
    if unknown := [step for step in named if step not in ("", *MODEL_STEPS)]:
        raise ValueError(f"There is no step {unknown[0]!r}. Use {', '.join(MODEL_STEPS)}.")
    return {step: get_model(named.get(step, named.get(""))) for step in MODEL_STEPS}


def asking(model: Model, max_tokens: int | None = None) -> Ask:
    """Return a model as a function from a prompt to a complete reply."""
    config = GenerateConfig(temperature=TEMPERATURE, max_tokens=max_tokens)

    async def ask(prompt: str) -> str:
        output = await model.generate(prompt, config=config)
        if output.stop_reason in ("max_tokens", "model_length"):
            raise RefusedError("it was too long and broke off in the middle")
        return output.completion

    return ask


def _lines(rows: Iterable[Mapping[str, Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
