"""The family ReCITE: hidden systems, certificates, scores and agents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from whybench.causal.canonical import Json, Record
from whybench.causal.graph import Graph, canonical_form
from whybench.causal.seeds import Stream
from whybench.episode.certificate import Certificate
from whybench.episode.episode import Episode, Moves
from whybench.episode.family import Family
from whybench.episode.hooks import Fingerprint
from whybench.episode.instance import Instance, Profile
from whybench.episode.score import UNFINISHED, Score
from whybench.episode.trace import Step
from whybench.families.recite.agents import strategies
from whybench.families.recite.covariates import covariates
from whybench.families.recite.matching import Similarity
from whybench.families.recite.parameters import (
    COLLECTIONS,
    FAMILY,
    MADE_ONLY,
    PUBLISHED,
    Parameters,
    shares,
)
from whybench.families.recite.prompts.dialogue import Dialogue
from whybench.families.recite.proof import certify
from whybench.families.recite.rules import REPAIRED, ReciteEpisode
from whybench.families.recite.score import Handed, values
from whybench.families.recite.world.generate import made, ordered
from whybench.families.recite.world.knowledge import FIELDS
from whybench.families.recite.world.published import texts
from whybench.families.recite.world.published.filters import Filter, kept, parse
from whybench.families.recite.world.world import World


class ReCITE(Family[World]):
    """A long document; the answer is the causal graph that it describes."""

    name = FAMILY
    parameter_model = Parameters
    prompts = Dialogue

    def size(self, suite: str, profile: Profile, params: Parameters) -> int:
        """Return the size of a suite; raise an error if parameters contradict each other."""
        if params.data is None and params.filter is not None:
            raise ValueError("Parameter `filter` chooses among published texts. Give `data` too.")
        if params.field is not None and params.field not in FIELDS:
            raise ValueError(f"Unknown field {params.field!r}. Try one of {', '.join(FIELDS)}.")
        if params.data is None:
            shares(suite, 0, params)
            return COLLECTIONS[suite].size
        if profile != "published" or suite not in PUBLISHED:
            raise ValueError(
                "Parameter `data` needs the profile `published` "
                f"and one of the suites {', '.join(PUBLISHED)}."
            )
        given = params.model_dump(exclude_defaults=True)
        if made_only := [name for name in MADE_ONLY if name in given]:
            raise ValueError(
                f"Parameter `{made_only[0]}` applies to generated documents. Remove it or `data`."
            )
        return len(_texts(params.data, params.filter))

    def build(self, instance: Instance) -> World:
        """Rebuild the hidden system, or find it among the published texts."""
        parameters, collection = self.params(instance), COLLECTIONS[instance.suite]
        names = parameters.names or collection.names
        if parameters.data is not None:
            world = texts.world(_texts(parameters.data, parameters.filter)[instance.index], names)
        else:
            world = _made(ordered(instance, parameters))
            if names == "told":
                told = tuple(node.name for node in world.nodes)
                world = replace(world, view=replace(world.view, names="told", nodes=told))
        if instance.profile == "published":
            return replace(world, view=replace(world.view, released=True))
        return world

    def fingerprint(self, world: World) -> Fingerprint:
        """Return the content of an instance: the document, the given names and the gold graph.

        Documents on the same graph are one cluster.
        """
        view = world.view
        nodes = [[node.name, node.mention, list(node.aliases)] for node in world.nodes]
        edges = [
            [e.cause, e.effect, e.status, [list(span) for span in e.spans]] for e in world.edges
        ]
        content = [view.text, view.count, view.names, list(view.nodes), nodes, edges]
        return Fingerprint(content, world.cluster)

    def system(self, world: World) -> Json:
        """Return the gold graph up to renaming, without names and without the wording of the text.

        A problem also includes the text: other concepts make another problem.
        """
        return canonical_form(Graph.from_edges(len(world.nodes), world.pairs).children)

    def open_world(self, instance: Instance, world: World) -> ReciteEpisode:
        """Start an episode."""
        return ReciteEpisode(instance, world, self.params(instance).max_errors)

    def certify(self, instance: Instance) -> Certificate:
        """Certify that the text of a generated document determines its graph.

        Nothing is proven about a published text, because nobody knows everything that it says.
        """
        world = self.world(instance)
        if self.params(instance).data is not None:
            return Certificate(
                instance.id,
                "texts by other hands: what they say is not known",
                facts=certify.facts(world),
            )
        proof = certify.proof(world)
        right = proof.right
        best = right and self.score(instance, self.exact_run(instance)).values["edge_f1"]
        return Certificate(
            instance=instance.id,
            hypotheses=certify.HYPOTHESES,
            status="proven",
            solvable=best == certify.BEST,
            identified=right,
            best_score=certify.BEST,
            exact_steps=0,
            bits=0.0 if right else None,
            facts=Record((*certify.facts(world), *certify.document_facts(world, proof.reading))),
        )

    def score_episode(self, episode: ReciteEpisode) -> Score:
        """Score the submitted graph."""
        last = episode.trace.actions[-1:]
        repaired = any(action.args.get(REPAIRED) is True for action in last)
        handed = Handed(episode.outcome or UNFINISHED, episode.answer, episode.errors, repaired)
        found, labels = values(episode.world, handed, self.similarity(episode.instance))
        return Score(handed.outcome, found, labels)

    def similarity(self, instance: Instance) -> Similarity:
        """Return how free names are matched."""
        parameters: Parameters = self.params(instance)
        return parameters.similarity or ("lexical" if parameters.data is None else "both")

    def moves(self, name: str, instance: Instance, given: Sequence[Step] | None) -> Moves:  # noqa: ARG002
        """Start a reference agent; `random` knows the gold nodes, like the paper's baseline."""
        return strategies.agent(name, self.world(instance), Stream("agent", name, instance.id))

    def covariates(self, instance: Instance) -> Record:
        """Return length, size, shape, explicitness and field of a document; for authors."""
        return covariates(self.world(instance))

    def look_alikes(self, instance: Instance) -> Iterator[Episode]:
        """Open the same document with every gold edge reversed."""
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


_made = lru_cache(maxsize=512)(made)
"""Cached, because it is pure; suites with free and with given names share documents."""


@lru_cache(maxsize=8)
def _texts(data: str, chosen: str | None) -> tuple[texts.Released, ...]:
    """Return the published texts that pass a filter."""
    found = kept(texts.records(data), parse(chosen) if chosen else Filter())
    if not found:
        raise ValueError(f"No text passes the filter {chosen!r}. Widen its ranges.")
    return tuple(found)
