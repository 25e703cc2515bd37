"""Turn a system's reply into an executable SCM: the validation funnel.

An answer passes a stage only if it passed all stages before it:

- an object can be extracted;
- it has the task's schema;
- exactly the right variables have mechanisms;
- the mechanisms parse;
- they use only what the disclosure allows;
- they form no cycle.

Whether the text is strict JSON is reported, but not required. Formulas are never corrected.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from whybench.causal.boolean import Formula, FormulaError, essential, parse, truth_table
from whybench.causal.graph import members
from whybench.episode.prompts.conversation import object_schema
from whybench.episode.prompts.extraction import LONGEST, Found, is_bare_object, json_objects
from whybench.families.replayscm.world.world import (
    ANSWERS,
    Task,
    Told,
    View,
    names,
    names_of,
    numbers,
    ordered,
)

Stage = Literal["extracted", "schema", "keys", "parse", "legal", "acyclic", "valid"]

STAGES: tuple[Stage, ...] = ("extracted", "schema", "keys", "parse", "legal", "acyclic", "valid")
"""The stages of the funnel that a submission must pass, in order."""
_RANK = {stage: rank for rank, stage in enumerate(STAGES)}


@dataclass(frozen=True, slots=True)
class Candidate:
    """An SCM as submitted: formulas with their functions."""

    roots: int
    formulas: tuple[Formula | None, ...]
    """For each variable; None for roots."""
    tables: tuple[int, ...]
    parents: tuple[int, ...]
    """Essential parents of each variable."""
    order: tuple[int, ...]
    """The endogenous variables in an order in which they can be computed."""

    @property
    def size(self) -> int:
        """The nodes of all formulas."""
        return sum(len(formula.program) for formula in self.formulas if formula is not None)


@dataclass(frozen=True, slots=True)
class Judged:
    """The result of validating a submission."""

    failed: Stage | None
    """The first stage that the submission did not pass; None if it is valid."""
    reason: str = ""
    candidate: Candidate | None = None
    roots: int | None = None
    """The roots that it names, if they and the keys are well formed."""
    answer: Mapping[str, Any] | None = None
    """The whole object, if it has the task's schema."""

    def passed(self, stage: Stage) -> bool:
        """Return whether the submission passed a stage."""
        return self.failed is None or _RANK[stage] < _RANK[self.failed]


class _RefusedError(Exception):
    """A submission fails a stage."""

    def __init__(self, stage: Stage, reason: str, roots: int | None = None) -> None:
        super().__init__(reason)
        self.judged = Judged(stage, reason, roots=roots)


def answer_schema(task: Task, told: Told, display: tuple[int, ...]) -> dict[str, Any]:
    """Return the JSON schema of an answer; variables come in their order of display."""
    if task == "rows":
        return object_schema({"answer": {"type": "string", "enum": list(ANSWERS)}})
    text, bit = {"type": "string"}, {"type": "integer", "enum": [0, 1]}
    every, roots = [names(told.n)[v] for v in display], told.roots
    if roots is None:
        mechanisms: dict[str, Any] = {"type": "object", "additionalProperties": text}
        listed = {"type": "array", "items": {"type": "string", "enum": every}}
        return object_schema({"roots": listed, "mechanisms": mechanisms})
    mechanisms = object_schema({names(told.n)[v]: text for v in display if not roots >> v & 1})
    if task == "induce":
        return object_schema({"mechanisms": mechanisms})
    rooted = object_schema({names(told.n)[v]: bit for v in display if roots >> v & 1})
    variable = {"type": "string", "enum": every}
    difference = object_schema({"variable": variable, "reference": bit, "alternative": bit})
    return object_schema(
        {
            "alternative": object_schema({"mechanisms": mechanisms}),
            "experiment": object_schema(
                {"type": text, "assignments": {"type": "object", "additionalProperties": bit}}
            ),
            "witness": object_schema(
                {
                    "rootAssignment": rooted,
                    "differences": {"type": "array", "items": difference},
                }
            ),
        }
    )


def judge(view: View, text: object) -> Judged:
    """Validate an answer, given as JSON text, stage by stage."""
    try:
        answer = _decoded(text, view.released)
        if view.task == "rows":
            return _said(answer)
        scm = _scm_part(view.task, view.disclosure == "roots", answer)
        roots, mechanisms = _keyed(view, scm)
        try:
            candidate = _executable(view, roots, mechanisms)
        except _RefusedError as refused:
            failed = refused.judged
            return Judged(failed.failed, failed.reason, roots=roots, answer=answer)
    except _RefusedError as refused:
        return refused.judged
    return Judged(None, "", candidate, roots, answer)


def _said(answer: Mapping[str, Any]) -> Judged:
    """Check the answer to a question about a cell."""
    said = answer.get("answer")
    if not isinstance(said, str) or said.strip().casefold() not in ANSWERS:
        raise _RefusedError("schema", f"`answer` must be one of {', '.join(ANSWERS)}")
    return Judged(None, answer={"answer": said.strip().casefold()})


def _decoded(text: object, released: bool) -> dict[str, Any]:
    if not isinstance(text, str):
        raise _RefusedError("extracted", "the answer must be given as one JSON text")
    if len(text) > LONGEST:
        raise _RefusedError("extracted", f"an answer of {len(text)} characters is too long to read")
    try:
        found = json.loads(text)
        if not released and _keys(found) != len(_KEY.findall(text)):
            json.loads(text, object_pairs_hook=_unique)
    except RecursionError:
        raise _RefusedError("extracted", "the JSON is nested too deeply") from None
    except _TwiceError as twice:
        raise _RefusedError("schema", f"the key {str(twice)[:40]!r} is there twice") from None
    except ValueError as error:
        raise _RefusedError("extracted", f"this is not JSON: {str(error)[:80]}") from None
    if not isinstance(found, dict):
        raise _RefusedError("extracted", "the answer must be one JSON object")
    return found


_KEY = re.compile(r'"\s*:')
"""What follows a key. It may also occur in a string, so too many matches prove nothing yet."""


def _keys(value: Any) -> int:
    """Count the keys of all objects in a value."""
    if isinstance(value, dict):
        return len(value) + sum(_keys(item) for item in value.values() if item.__class__ is not str)
    return sum(_keys(item) for item in value) if isinstance(value, list) else 0


class _TwiceError(ValueError):
    pass


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _TwiceError(key)
            seen.add(key)
    return found


def _scm_part(task: Task, name_roots: bool, answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """Check the outer schema; return the object that contains `mechanisms`."""
    scm: Any = answer
    if task == "alternative":
        scm = answer.get("alternative")
        for key in ("alternative", "experiment", "witness"):
            if not isinstance(answer.get(key), dict):
                raise _RefusedError("schema", f"`{key}` must be an object")
    if not isinstance(scm.get("mechanisms"), dict):
        raise _RefusedError("schema", "`mechanisms` must be an object from variables to formulas")
    if name_roots and not isinstance(scm.get("roots"), list):
        raise _RefusedError("schema", "`roots` must be a list of variables")
    for name, text in scm["mechanisms"].items():
        if not isinstance(text, str):
            raise _RefusedError("schema", f"the mechanism of {name[:20]!r} must be a text")
    return dict(scm)


def _keyed(view: View, scm: Mapping[str, Any]) -> tuple[int, Mapping[str, str]]:
    """Check that exactly the endogenous variables have mechanisms; return the roots too."""
    told, known = view.told, numbers(view.n)
    roots = told.roots
    if roots is None:
        named = scm["roots"]
        if any(not isinstance(name, str) or name not in known for name in named):
            raise _RefusedError("keys", "`roots` names something that is no variable")
        roots = sum(1 << known[name] for name in set(named))
        if len(set(named)) < len(named) or len(named) != told.root_count:
            raise _RefusedError("keys", f"`roots` must name {told.root_count} different variables")
    mechanisms: Mapping[str, str] = scm["mechanisms"]
    wanted = names_of(told.n, told.every & ~roots)
    if mechanisms.keys() == wanted:
        return roots, mechanisms
    for name in mechanisms:
        if name not in wanted:
            raise _RefusedError("keys", f"{name[:20]!r} should have no mechanism")
    missing = ", ".join(sorted(wanted - mechanisms.keys()))
    raise _RefusedError("keys", f"{missing} should have a mechanism")


SHORT = 200
"""Formulas up to this many characters are cached, because answers repeat them."""


def _compile(text: str, n: int) -> tuple[Formula, int, int]:
    """Return a formula, its truth table and its essential parents."""
    formula = parse(text, numbers(n))
    truth = truth_table(formula, n)
    return formula, truth, essential(truth, n, formula.mentions)


_compiled = lru_cache(maxsize=16384)(_compile)


def _executable(view: View, roots: int, mechanisms: Mapping[str, str]) -> Candidate:
    told = view.told
    n, known = told.n, numbers(told.n)
    formulas: list[Formula | None] = [None] * n
    tables, parents = [0] * n, [0] * n
    for name, text in mechanisms.items():
        try:
            compiled = (_compiled if len(text) <= SHORT else _compile)(text, n)
        except FormulaError as error:
            raise _RefusedError("parse", f"{name}: {error}") from None
        v = known[name]
        formulas[v], tables[v], parents[v] = compiled
    for v, formula in enumerate(formulas):
        if formula is None:
            continue
        mentions = formula.mentions
        if mentions & ~told.admissible[v]:
            named = ", ".join(view.names[u] for u in members(mentions & ~told.admissible[v]))
            raise _RefusedError("legal", f"{view.names[v]} may not depend on {named}")
        if not view.released and parents[v].bit_count() > told.k:
            reason = f"depends on {parents[v].bit_count()} variables, more than {told.k}"
            raise _RefusedError("legal", f"{view.names[v]} {reason}")
    edges = parents
    if view.released:
        edges = [0 if formula is None else formula.mentions for formula in formulas]
    order = ordered(edges, told.every & ~roots)
    if order is None:
        raise _RefusedError("acyclic", "the mechanisms depend on one another in a circle")
    return Candidate(roots, tuple(formulas), tuple(tables), tuple(parents), order)


# Extraction.


@dataclass(frozen=True, slots=True)
class Extracted:
    """The object that a reply submits, as text from the reply."""

    text: str
    strict: bool
    """Whether the reply was that object and nothing else."""


def extract(view: View, reply: str) -> Extracted | None:
    """Choose the object that a reply submits; how well it replays plays no role.

    This is the policy of the paper's Table A.3. It sorts all JSON objects in the reply: first by
    likeness to the task's answer, then by number of keys, then longer before shorter, then earlier
    before later. It chooses the first that is executable, or the first if none is.
    """
    if is_bare_object(reply):
        return Extracted(reply, "\n" not in reply.strip())
    found = sorted(_candidates(view, reply), key=lambda pair: pair[0])[:MOST_TRIED]
    if not found:
        return None
    texts = [reply[item.start : item.end] for _, item in found]
    whole = 4 if view.task == "alternative" else 1 + (view.disclosure == "roots")
    shaped = [text for (rank, _), text in zip(found, texts, strict=True) if -rank[0] == whole]
    chosen = next((text for text in shaped if judge(view, text).failed is None), texts[0])
    return Extracted(chosen, False)


MOST_TRIED = 20
"""The most objects of one reply that are tried; no reply contains more answers."""


def _candidates(view: View, reply: str) -> list[tuple[tuple[int, ...], Found]]:
    return [
        ((-_likeness(view, item.value), -len(item.value), item.start - item.end, item.start), item)
        for item in json_objects(reply)
    ]


def _likeness(view: View, value: Mapping[str, Any]) -> int:
    """Count the parts of the task's answer that an object has."""
    if view.task == "alternative":
        inner = value.get("alternative")
        parts = [
            isinstance(value.get(key), dict) for key in ("alternative", "experiment", "witness")
        ]
        return sum(parts) + (isinstance(inner, dict) and isinstance(inner.get("mechanisms"), dict))
    if view.task == "rows":
        return int("answer" in value)
    roots = view.disclosure == "roots" and isinstance(value.get("roots"), list)
    return roots + isinstance(value.get("mechanisms"), dict)
