"""The family's face: every room of this folder behind the one protocol."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from whybench.core.canonical import Json, Record, freeze
from whybench.core.graph import Graph, canonical_form
from whybench.core.seeds import Stream
from whybench.episode.action import Action
from whybench.episode.certificate import Certificate
from whybench.episode.conversation import Conversation
from whybench.episode.episode import ANSWERED, Episode, Moves
from whybench.episode.family import Family
from whybench.episode.instance import Instance, Profile
from whybench.episode.retelling import Retelling
from whybench.episode.score import UNFINISHED, Score
from whybench.episode.trace import Step, Trace
from whybench.families.recite import agents, certify, check, released
from whybench.families.recite.dialogue import Dialogue
from whybench.families.recite.filters import Filter, kept, parse
from whybench.families.recite.generate import Order, made
from whybench.families.recite.matching import Similarity
from whybench.families.recite.params import (
    COLLECTIONS,
    FAMILY,
    MADE_ONLY,
    PUBLISHED,
    Knobs,
    levels,
    shares,
)
from whybench.families.recite.retell import retelling
from whybench.families.recite.rules import REPAIRED, ReciteEpisode
from whybench.families.recite.score import METRICS, Handed, values
from whybench.families.recite.traits import traits
from whybench.families.recite.vocabulary import FIELDS
from whybench.families.recite.world import World


class ReCITE(Family[World]):
    """A long document; the answer is the causal graph that it describes."""

    name = FAMILY
    knobs: Mapping[str, str] = {k: f.description or "" for k, f in Knobs.model_fields.items()}
    metrics = METRICS
    unchecked = check.UNCHECKED

    def validated(
        self, suite: str, profile: Profile, knobs: Mapping[str, Any]
    ) -> tuple[Record, int]:
        """Check knobs; keep those that differ from their defaults."""
        checked = self.checked(Knobs, knobs)
        turned = checked.model_dump(exclude_defaults=True)
        if checked.data is None and checked.filter is not None:
            raise ValueError("knob `filter` chooses among published texts: give `data` too")
        if checked.field is not None and checked.field not in FIELDS:
            raise ValueError(f"no field {checked.field!r}: try {', '.join(FIELDS)}")
        if checked.data is None:
            shares(suite, 0, checked)
            return self.knob_record(turned), COLLECTIONS[suite].size
        if profile != "published" or suite not in PUBLISHED:
            raise ValueError(
                f"knob `data` belongs to profile `published` and the suites {', '.join(PUBLISHED)}"
            )
        if made_only := [name for name in MADE_ONLY if name in turned]:
            raise ValueError(f"knob `{made_only[0]}` is for made texts: leave out `data`")
        return self.knob_record(turned), len(_texts(checked.data, checked.filter))

    def world(self, instance: Instance) -> World:
        """Rebuild the hidden world."""
        world = _world(instance.suite, instance.seed, instance.index, instance.knobs)
        if instance.profile == "published":
            return replace(world, view=replace(world.view, released=True))
        return world

    def content(self, world: World) -> Json:
        """Return the document, what is told with it, and the gold graph."""
        view = world.view
        nodes = [[node.name, node.mention, list(node.aliases)] for node in world.nodes]
        edges = [
            [e.cause, e.effect, e.status, [list(span) for span in e.spans]] for e in world.edges
        ]
        return [view.text, view.count, view.names, list(view.nodes), nodes, edges]

    def latent(self, world: World) -> Json:
        """Return the graph's own name: documents on the same graph are one cluster."""
        return world.latent

    def system(self, world: World) -> Json:
        """Return the gold graph up to renaming: neither names count, nor how the text gives it.

        A problem is this with the text as written: other concepts make another problem.
        """
        return canonical_form(Graph.from_edges(len(world.nodes), world.pairs).children)

    def check(self, instance: Instance, certificate: Certificate) -> list[str]:
        """Check a certificate by another reading of the text."""
        return check.flaws(instance, self.world(instance), certificate)

    def open_world(self, instance: Instance, world: World) -> ReciteEpisode:
        """Start an episode."""
        return ReciteEpisode(instance, world, _knobs(instance.knobs).max_errors)

    def certify(self, instance: Instance) -> Certificate:
        """Prove a made document: what its text determines, and what a perfect reader can score.

        A published text is never proven: nobody knows all that it says.
        """
        world = self.world(instance)
        if _knobs(instance.knobs).data is not None:
            return Certificate(
                instance.id,
                "texts by other hands: what they say is not known",
                solvable=False,
                identified=False,
                best_score=1.0,
                facts=certify.facts(world),
            )
        found = certify.proof(world)
        best = self.score(instance, self.exact_run(instance)).values["edge_f1"]
        return Certificate(
            instance=instance.id,
            hypotheses=certify.HYPOTHESES,
            solvable=found.right,
            identified=found.right and not found.unnamed,
            best_score=best,
            fewest=0,
            minimax=0,
            exact_steps=0,
            bits=found.bits,
            witness=freeze(found.witness),
            facts=certify.facts(world),
        )

    def score(self, instance: Instance, trace: Trace) -> Score:
        """Replay a trace's actions on the rebuilt world and score what was handed in."""
        if trace.instance != instance.id:
            raise ValueError(f"this is a trace of {trace.instance}, not of {instance.id}")
        episode = self._again(instance, trace)
        repaired = any(action.args.get(REPAIRED) is True for action in trace.actions[-1:])
        handed = Handed(episode.outcome or UNFINISHED, episode.answer, episode.errors, repaired)
        found, labels = values(episode.world, handed, _similarity(instance))
        return Score(handed.outcome, found, labels)

    def answered_edges(
        self, instance: Instance, trace: Trace
    ) -> tuple[tuple[str, str], ...] | None:
        """Return the arrows that were handed in, by their names; None if there is no answer."""
        answer = self._again(instance, trace).answer
        return None if answer is None else answer.edges

    def _again(self, instance: Instance, trace: Trace) -> ReciteEpisode:
        episode = self.reopened(instance, trace.actions, trace.given, trace.evidence)
        if not isinstance(episode, ReciteEpisode):
            raise ValueError("this is not an episode of recite")
        return episode

    def agent(self, name: str, instance: Instance, given: Sequence[Step] | None = None) -> Moves:  # noqa: ARG002
        """Start a reference agent; `random` is told the gold nodes, as the paper's baseline is."""
        if name not in self.agents:
            raise ValueError(f"{self.name} has no agent {name!r}: try {', '.join(self.agents)}")
        return agents.agent(name, self.world(instance), Stream("agent", name, instance.id))

    def submission(self, answer: Json) -> tuple[Action, ...]:
        """Hand in an answer, an object or its JSON text."""
        text = answer if isinstance(answer, str) else json.dumps(answer)
        return (Action.of(self.final_action, answer=text),)

    def conversation(self, episode: Episode, skin: str) -> Conversation:
        """Tell an episode as one question."""
        if not isinstance(episode, ReciteEpisode):
            raise ValueError("this is not an episode of recite")
        return Dialogue(episode, skin)

    def traits(self, instance: Instance) -> Record:
        """Return length, size, shape, openness and field of a document; for authors."""
        return traits(self.world(instance))

    def retell(self, instance: Instance, trace: Trace) -> Retelling:
        """Tell what was handed in beside the gold graph, over the document; for authors."""
        episode = self._again(instance, trace)
        world = episode.world
        return retelling(
            world,
            trace,
            episode.outcome or UNFINISHED,
            episode.answer if episode.outcome == ANSWERED else None,
            _similarity(instance),
            None if _knobs(instance.knobs).data is not None else certify.proof(world),
        )

    def rivals(self, instance: Instance) -> Iterator[Episode]:
        """Open the same document with every gold edge turned round."""
        world = self.world(instance)
        turned = [replace(e, cause=e.effect, effect=e.cause, spans=()) for e in world.edges]
        edges = tuple(sorted(turned, key=lambda e: (e.cause, e.effect)))
        yield self.open_world(instance, replace(world, edges=edges))

    def truth(self, instance: Instance) -> Json:
        """Return the gold graph, with the passages that give each edge."""
        world = self.world(instance)
        return {
            "nodes": [
                {"name": node.name, "mention": node.mention, "aliases": list(node.aliases)}
                for node in world.nodes
            ],
            "edges": [
                {
                    "source": world.nodes[edge.cause].name,
                    "sink": world.nodes[edge.effect].name,
                    "status": edge.status,
                    "frames": list(edge.frames),
                    "evidence": [world.view.text[start:end] for start, end in edge.spans],
                }
                for edge in world.edges
            ],
        }


def _world(suite: str, seed: str, index: int, turned: Record) -> World:
    """Rebuild a world."""
    knobs = _knobs(turned)
    collection = COLLECTIONS[suite]
    names = knobs.names or collection.names
    if knobs.data is not None:
        return released.world(_texts(knobs.data, knobs.filter)[index], names)
    on_ladder = collection.source == "ladder"
    steps = len(levels()) if on_ladder else 1
    world = _made(
        Order(
            source=collection.source,
            salt=seed,
            graph=index // steps,
            shares=shares(suite, index, knobs),
            level=index % steps + 1 if on_ladder else 0,
            distractors=knobs.distractors,
            nodes=knobs.nodes,
            length=knobs.length,
            field=knobs.field,
        )
    )
    if names == "free":
        return world
    told = tuple(node.name for node in world.nodes)
    return replace(world, view=replace(world.view, names="told", nodes=told))


_made = lru_cache(maxsize=512)(made)
"""A pure function, so the latest documents are kept; suites with names told or free share them."""


def _similarity(instance: Instance) -> Similarity:
    knobs = _knobs(instance.knobs)
    return knobs.similarity or ("lexical" if knobs.data is None else "both")


@lru_cache(maxsize=8)
def _texts(data: str, chosen: str | None) -> tuple[released.Released, ...]:
    """Return the published texts that pass a filter."""
    found = kept(released.records(data), parse(chosen) if chosen else Filter())
    if not found:
        raise ValueError(f"no text passes the filter {chosen!r}")
    return tuple(found)


@lru_cache(maxsize=64)
def _knobs(record: Record) -> Knobs:
    return Knobs(**record.asdict())
