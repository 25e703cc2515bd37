"""The family CausalLink: hidden systems, certificates, scores and agents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from whybench.causal.canonical import Json, Record
from whybench.causal.graph import Graph, canonical_form
from whybench.causal.seeds import Stream
from whybench.episode.certificate import Certificate
from whybench.episode.episode import Episode, Moves, play
from whybench.episode.family import Family
from whybench.episode.hooks import Fingerprint
from whybench.episode.instance import Instance, Profile
from whybench.episode.score import Score
from whybench.episode.trace import Step
from whybench.families.causallink.agents import strategies
from whybench.families.causallink.covariates import covariates
from whybench.families.causallink.parameters import GRAPHS, SIZES, Parameters
from whybench.families.causallink.prompts.dialogue import Dialogue
from whybench.families.causallink.proof import bits, certify
from whybench.families.causallink.proof.plan import minimax, right_answer, worst_case
from whybench.families.causallink.rules import LinkEpisode
from whybench.families.causallink.score import score
from whybench.families.causallink.world import generate
from whybench.families.causallink.world.world import World


class CausalLink(Family[World]):
    """Small systems of entities that drive one another, with one yes-or-no question about each."""

    name = "causallink"
    parameter_model = Parameters
    prompts = Dialogue
    clusters_are_systems = False

    def size(self, suite: str, profile: Profile, params: Parameters) -> int:  # noqa: ARG002
        """Return a suite's size; raise ValueError for a parameter of another suite."""
        if params.n is not None and suite != "advanced":
            raise ValueError("Parameter `n` applies only to causallink/advanced.")
        if params.graphs != GRAPHS and suite not in SIZES:
            raise ValueError(f"Parameter `graphs` applies only to {' and '.join(SIZES)}.")
        return generate.size(suite, params)

    def build(self, instance: Instance) -> World:
        """Rebuild the hidden system."""
        return generate.world(instance, self.params(instance))

    def fingerprint(self, world: World) -> Fingerprint:
        """Return graph, start, question, names and display order as a fingerprint.

        The hidden system is the order, ignoring names: no experiment shows other edges.
        """
        view = world.view
        told = [world.structure, world.graph.children, view.start, view.x, view.y, view.names]
        hidden = [view.fixed] if view.fixed else []
        return Fingerprint([*told, *hidden], canonical_form(world.below))

    def problem(self, world: World) -> Json:
        """Return the order with start, question and budget, ignoring names."""
        view = world.view
        return [
            view.budget,
            generate.behaviour(world.below, view.start, view.x, view.y, view.fixed),
        ]

    def open_world(self, instance: Instance, world: World) -> LinkEpisode:
        """Start an episode."""
        return LinkEpisode(instance, world, self.params(instance).max_errors)

    def certify(self, instance: Instance) -> Certificate:
        """Certify an instance: the exact agent's run shows that the answer can be forced."""
        world = self.world(instance)
        run = self.exact_run(instance)
        reached = score(world, run)
        understood = reached.values["understood"] == 1.0
        view, fewest = world.view, certify.fewest(world)
        identified = fewest <= view.budget
        return Certificate(
            instance=instance.id,
            hypotheses=certify.HYPOTHESES,
            status="proven",
            solvable=understood,
            identified=identified,
            best_score=1.0 if identified else None,
            fewest=fewest,
            minimax=minimax(view),
            minimax_upper=worst_case(view),
            exact_steps=len(self.experiments(run)) if understood else None,
            bits=0.0 if identified else 1.0,
            facts=certify.facts(world),
        )

    def score_episode(self, episode: LinkEpisode) -> Score:
        """Score the answer and the experiments."""
        return self.with_efficiency(episode, score(episode.world, episode.trace))

    def moves(self, name: str, instance: Instance, given: Sequence[Step] | None) -> Moves:
        """Start a reference agent."""
        world = self.world(instance)
        if name == "oracle":
            return strategies.oracle(world)
        return strategies.STRATEGIES[name](world.view, Stream("agent", name, instance.id), given)

    def bits_left(self, episode: LinkEpisode) -> float:
        """Return how many bits the evidence leaves open; see `bits`."""
        return bits.bits_left(episode)

    def look_alikes(self, instance: Instance) -> Iterator[Episode]:
        """Open the same view on other orders: no links, only the asked link, and full orders."""
        view = self.world(instance).view
        on = view.start
        pairs = [(u, v) for u in range(view.n) for v in range(view.n) if u != v]
        allowed = [(u, v) for u, v in pairs if on >> v & 1 or not on >> u & 1]
        asked = [pair for pair in allowed if pair == (view.x, view.y)]
        up, down = ([p for p in allowed if (p[0] < p[1]) == way] for way in (True, False))
        for edges in ([], asked, up, down):
            graph = Graph.from_edges(view.n, edges)
            yield self.open_world(instance, World.of(view, "look-alike", graph))

    def truth(self, instance: Instance) -> Json:
        """Return the structure, its edges by name, and the right answer."""
        world = self.world(instance)
        names = world.view.names
        return {
            "structure": world.structure,
            "edges": [[names[a], names[b]] for a, b in world.graph.edges()],
            "answer": right_answer(world),
        }

    def covariates(self, instance: Instance) -> Record:
        """Return structure, size, start, right answer and the exact agent's steps."""
        world = self.world(instance)
        return covariates(instance, world, exact_steps(world))


@lru_cache(maxsize=16384)
def exact_steps(world: World) -> int:
    """Count the exact agent's interventions on a hidden system; cached."""
    episode = LinkEpisode(Instance("causallink", "", "", "certified", "", 0), world, 1)
    play(episode, strategies.exact(world.view, Stream("exact")))
    return episode.applied
