"""From a PDF file and an edge list to a record of the published schema, step by step.

Each step's result is kept in a work folder under a hash of everything on which it depends: inputs,
the step's version, its prompt, its limits and the model. So a stopped run resumes where it stopped,
and only steps affected by a change run again. The annotation comes before the expensive steps, so a
faulty list stops a paper at once. Passages that reveal the diagram are searched for with the final
names.
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from whybench.causal.canonical import Json
from whybench.families.recite.extras.preparing.annotation import checks as annotating
from whybench.families.recite.extras.preparing.annotation import explicitness, variables
from whybench.families.recite.extras.preparing.change import Change
from whybench.families.recite.extras.preparing.content_cache import ContentCache
from whybench.families.recite.extras.preparing.limits import Limits
from whybench.families.recite.extras.preparing.model_client import Asker, StepError, template
from whybench.families.recite.extras.preparing.papers import Paper
from whybench.families.recite.extras.preparing.text import markdown, normalise
from whybench.families.recite.extras.preparing.text.pdf import text_of

VERSIONS: Mapping[str, int] = {
    "text": 1,
    annotating.STEP: 1,
    variables.STEP: 1,
    markdown.STEP: 1,
    normalise.STEP: 2,
    explicitness.STEP: 1,
}
"""The steps in order; a step whose rules change gets another number and runs again."""

MODEL_STEPS = tuple(name for name in VERSIONS if name not in ("text", annotating.STEP))
"""The steps that ask a model."""

_TITLE = re.compile(r"^#{1,6} +(.+?)\s*$", re.MULTILINE)
_ABSTRACT = re.compile(
    r"^#{1,6} +(?:abstract|summary)\s*$\n(.*?)(?=^#|\Z)", re.MULTILINE | re.DOTALL | re.IGNORECASE
)

Made = tuple[Json, Sequence[Change]]
"""A step's result as JSON data, and its changes."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A paper's record, and how it came about."""

    record: dict[str, Any]
    changes: tuple[Change, ...]

    @property
    def retries(self) -> dict[str, int]:
        """Number of rejected replies of each step."""
        return dict(Counter(c.step for c in self.changes if c.kind == "refused"))


@dataclass(slots=True)
class Resources:
    """Where one paper is worked on; `changes` is filled as steps end, also if a later one fails."""

    cache: ContentCache
    askers: Mapping[str, Asker]
    """The model of each of `MODEL_STEPS`."""
    limits: Limits
    changes: list[Change] = field(default_factory=list)

    async def step(
        self, name: str, inputs: Json, bounds: Json, make: Callable[[], Awaitable[Made]]
    ) -> Json:
        """Return a step's result, made now or before."""
        key = {"step": name, "version": VERSIONS[name], "inputs": inputs, "bounds": bounds}
        if name in MODEL_STEPS:
            key |= {"prompt": template(name), "model": self.askers[name].name}
        kept = self.cache.get(name, key)
        if kept is None:
            value, changes = await make()
            kept = {"value": value, "changes": [change.to_json() for change in changes]}
            self.cache.put(name, key, kept)
        self.changes += [Change(**change) for change in kept["changes"]]
        return kept["value"]


async def prepared(paper: Paper, resources: Resources) -> Prepared:
    """Do all steps for one paper."""
    limits, askers = resources.limits, resources.askers
    spelling = dataclasses.asdict(limits.spelling)

    async def read() -> Made:
        return text_of(paper.pdf, limits.pdf), ()

    bounds = dataclasses.asdict(limits.pdf)
    raw = await resources.step("text", sha256(paper.pdf.read_bytes()).hexdigest(), bounds, read)
    listed = paper.annotation.read_text("utf-8")
    suffix = paper.annotation.suffix.lower()

    async def check() -> Made:
        return _checked(annotating.read_annotation(listed, limits.spelling, suffix, raw))

    graph = await resources.step(annotating.STEP, [listed, suffix, raw], spelling, check)

    async def rename() -> Made:
        edges = [(a, b) for a, b in graph["edges"]]
        nodes, joined, changes = await variables.clean(
            graph["nodes"], edges, askers[variables.STEP], limits.spelling
        )
        return {"nodes": nodes, "edges": joined}, changes

    graph = await resources.step(variables.STEP, graph, spelling, rename)
    edges = [(a, b) for a, b in graph["edges"]]

    async def convert() -> Made:
        return await markdown.convert(raw, askers[markdown.STEP], limits.markdown)

    bounds = dataclasses.asdict(limits.markdown)
    whole = await resources.step(markdown.STEP, raw, bounds, convert)

    async def edit() -> Made:
        return await normalise.normalise(whole, edges, askers[normalise.STEP], limits.normalise)

    bounds = dataclasses.asdict(limits.normalise)
    text = await resources.step(normalise.STEP, [whole, edges], bounds, edit)

    async def label() -> Made:
        return await explicitness.label(text, graph["nodes"], askers[explicitness.STEP])

    labels = await resources.step(explicitness.STEP, [text, graph["nodes"]], None, label)
    return Prepared(record(paper, whole, text, edges, labels), tuple(resources.changes))


def _checked(found: annotating.Annotation) -> Made:
    if found.faults:
        listed = "\n".join(f"  {fault}" for fault in found.faults)
        raise StepError(f"{annotating.STEP}: correct these by hand and run again:\n{listed}")
    return {"nodes": found.nodes, "edges": found.edges}, found.changes


def record(
    paper: Paper, whole: str, text: str, edges: Sequence[tuple[str, str]], labels: Mapping[str, int]
) -> dict[str, Any]:
    """Return the record of a paper; `explicitness` is the lenient share, as published."""
    title, abstract = _TITLE.search(whole), _ABSTRACT.search(text)
    return {
        "id": paper.id,
        "title": paper.title or (title[1] if title else paper.name),
        "source": paper.source,
        "url": paper.url,
        "domains": list(paper.domains),
        "num_nodes": len(labels),
        "num_edges": len(edges),
        "explicitness": explicitness.shares(labels)[0],
        "nodes": sorted(labels),
        "edges": [{"source": cause, "target": effect} for cause, effect in edges],
        "node_explicitness": dict(sorted(labels.items())),
        "input_text": text,
        "abstract": paper.abstract or (abstract[1].strip() if abstract else ""),
        "publication_date": paper.publication_date,
    }
