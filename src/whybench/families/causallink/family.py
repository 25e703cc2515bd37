"""The family's face: every room of this folder behind the one protocol."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from whybench.core.canonical import Json, Record
from whybench.core.graph import Graph, canonical_form
from whybench.core.seeds import Stream
from whybench.episode.certificate import Certificate
from whybench.episode.conversation import Conversation
from whybench.episode.episode import Episode, Moves, play
from whybench.episode.family import Family
from whybench.episode.instance import Instance, Profile
from whybench.episode.retelling import Retelling
from whybench.episode.score import Score
from whybench.episode.trace import Step, Trace
from whybench.families.causallink import agents, bits, certify, generate
from whybench.families.causallink.check import UNCHECKED, flaws
from whybench.families.causallink.dialogue import Dialogue
from whybench.families.causallink.params import SIZES, Knobs
from whybench.families.causallink.plan import minimax, worst_case
from whybench.families.causallink.retell import retelling
from whybench.families.causallink.rules import LinkEpisode
from whybench.families.causallink.score import METRICS, score
from whybench.families.causallink.traits import traits
from whybench.families.causallink.world import World


class CausalLink(Family[World]):
    """Small worlds of entities that drive one another; one yes-or-no question about each."""

    name = "causallink"
    knobs: Mapping[str, str] = {k: f.description or "" for k, f in Knobs.model_fields.items()}
    metrics = METRICS
    unchecked = UNCHECKED

    def validated(
        self, suite: str, _profile: Profile, knobs: Mapping[str, Any]
    ) -> tuple[Record, int]:
        """Check knobs; keep those that differ from their defaults."""
        checked = self.checked(Knobs, knobs)
        turned = checked.model_dump(exclude_defaults=True)
        if "n" in turned and suite != "advanced":
            raise ValueError("knob `n` belongs to causallink/advanced")
        if "graphs" in turned and suite not in SIZES:
            raise ValueError(f"knob `graphs` belongs to {' and '.join(SIZES)} of causallink")
        return self.knob_record(turned), generate.size(suite, checked)

    def world(self, instance: Instance) -> World:
        """Rebuild the hidden world."""
        return _world_of(instance)

    def content(self, world: World) -> Json:
        """Return graph, start, question, names and listing."""
        view = world.view
        return [world.structure, world.graph.children, view.start, view.x, view.y, view.names]

    def latent(self, world: World) -> Json:
        """Return the order up to renaming, the whole system: no experiment shows other edges."""
        return canonical_form(world.below)

    def problem(self, world: World) -> Json:
        """Return the order with the start and the question, and the budget, up to renaming."""
        view = world.view
        return [view.budget, generate.behaviour(world.below, view.start, view.x, view.y)]

    def open_world(self, instance: Instance, world: World) -> LinkEpisode:
        """Start an episode."""
        return LinkEpisode(instance, world, _knobs(instance.knobs).max_errors)

    def certify(self, instance: Instance) -> Certificate:
        """Prove an instance: the exact agent's own run shows that the answer can be forced."""
        world = self.world(instance)
        run = self.exact_run(instance)
        reached = score(world, run, len(self.experiments(run)))
        proved = reached.values["proved"] == 1.0
        view, fewest = world.view, certify.fewest(world)
        identified = fewest <= view.budget
        return Certificate(
            instance=instance.id,
            hypotheses=certify.HYPOTHESES,
            solvable=proved,
            identified=identified,
            best_score=float(identified),
            fewest=fewest,
            minimax=minimax(view),
            minimax_upper=worst_case(view),
            exact_steps=int(reached.values["avg_steps"]) if proved else None,
            bits=0.0 if identified else 1.0,
            facts=certify.facts(world),
        )

    def check(self, instance: Instance, certificate: Certificate) -> list[str]:
        """Check a certificate from the definitions, without what made it."""
        return flaws(instance, self.world(instance), certificate)

    def score(self, instance: Instance, trace: Trace) -> Score:
        """Replay a trace's actions on the rebuilt world and score what happened."""
        if trace.instance != instance.id:
            raise ValueError(f"this is a trace of {trace.instance}, not of {instance.id}")
        world = self.world(instance)
        return score(world, self.replay(instance, trace), _exact_steps(world))

    def score_episode(self, episode: Episode) -> Score:
        """Score an open episode: what it saw was seen here, so nothing is carried out again."""
        if not isinstance(episode, LinkEpisode):
            raise ValueError("this is not an episode of causallink")
        return score(episode.world, episode.trace, _exact_steps(episode.world))

    def agent(self, name: str, instance: Instance, given: Sequence[Step] | None = None) -> Moves:
        """Start a reference agent."""
        world = self.world(instance)
        if name == "oracle":
            return agents.oracle(world)
        if name not in agents.STRATEGIES:
            raise ValueError(f"{self.name} has no agent {name!r}: try {', '.join(self.agents)}")
        return agents.STRATEGIES[name](world.view, Stream("agent", name, instance.id), given)

    def conversation(self, episode: Episode, skin: str) -> Conversation:
        """Tell an episode as the paper's dialogue."""
        if not isinstance(episode, LinkEpisode):
            raise ValueError("this is not an episode of causallink")
        return Dialogue(episode, skin)

    def bits_left(self, episode: Episode) -> float:
        """Return what the evidence so far leaves open, in bits; see `bits`."""
        if not isinstance(episode, LinkEpisode):
            raise ValueError("this is not an episode of causallink")
        return bits.bits_left(episode)

    def rivals(self, instance: Instance) -> Iterator[Episode]:
        """Open the same view on other orders: nothing driven, the asked link alone, full orders."""
        view = self.world(instance).view
        on = view.start
        pairs = [(u, v) for u in range(view.n) for v in range(view.n) if u != v]
        allowed = [(u, v) for u, v in pairs if on >> v & 1 or not on >> u & 1]
        asked = [pair for pair in allowed if pair == (view.x, view.y)]
        up, down = ([p for p in allowed if (p[0] < p[1]) == way] for way in (True, False))
        for edges in ([], asked, up, down):
            graph = Graph.from_edges(view.n, edges)
            yield self.open_world(instance, World.of(view, "rival", graph))

    def truth(self, instance: Instance) -> Json:
        """Return the structure, its edges by name, and the right answer."""
        world = self.world(instance)
        names = world.view.names
        return {
            "structure": world.structure,
            "edges": [[names[a], names[b]] for a, b in world.graph.edges()],
            "answer": "yes" if world.truth else "no",
        }

    def traits(self, instance: Instance) -> Record:
        """Return structure, size, start, right answer and the exact experimenter's steps."""
        world = self.world(instance)
        return traits(instance, world, _exact_steps(world))

    def retell(self, instance: Instance, trace: Trace) -> Retelling:
        """Tell an episode again, with the links that its evidence shows at every step."""
        world, scored = self.world(instance), self.score(instance, trace)
        return retelling(world, self.replay(instance, trace), scored, _exact_steps(world))


@lru_cache(maxsize=1024)
def _world_of(instance: Instance) -> World:
    """Find the world of an instance that may have its id already; the latest are kept."""
    return _world(replace(instance, id="", cluster=""))


@lru_cache(maxsize=1024)
def _world(coordinates: Instance) -> World:
    """Rebuild a world; a pure function, so the latest ones are kept."""
    return generate.world(coordinates, _knobs(coordinates.knobs))


@lru_cache(maxsize=64)
def _knobs(record: Record) -> Knobs:
    return Knobs(**record.asdict())


@lru_cache(maxsize=16384)
def _exact_steps(world: World) -> int:
    """Count the exact experimenter's interventions on a world; a pure function, so kept."""
    episode = LinkEpisode(Instance("causallink", "", "", "certified", "", 0), world, 1)
    play(episode, agents.exact(world.view, Stream("exact")))
    return episode.applied
