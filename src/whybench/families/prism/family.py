"""The family Prism: problems, certificates, scores and agents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import log2

from whybench.causal.canonical import Json, Record
from whybench.causal.seeds import Stream
from whybench.episode.certificate import Certificate
from whybench.episode.episode import Episode, Moves
from whybench.episode.family import Family
from whybench.episode.hooks import Fingerprint
from whybench.episode.instance import Instance, Profile
from whybench.episode.score import Score
from whybench.episode.trace import Step
from whybench.families.prism.agents import strategies
from whybench.families.prism.agents.sight import Sight
from whybench.families.prism.parameters import PLANS, Parameters
from whybench.families.prism.prompts.dialogue import Dialogue
from whybench.families.prism.proof import certify, closure
from whybench.families.prism.rules import PrismEpisode
from whybench.families.prism.score import score
from whybench.families.prism.world import generate
from whybench.families.prism.world.renaming import renamed
from whybench.families.prism.world.screen import MODEL
from whybench.families.prism.world.world import RUNGS, World


class Prism(Family[World]):
    """Boolean systems, shown in several wordings; the answers are yes, no and cannot be known."""

    name = "prism"
    parameter_model = Parameters
    prompts = Dialogue
    clusters_are_systems = False

    def size(self, suite: str, profile: Profile, params: Parameters) -> int:  # noqa: ARG002
        """Return a suite's size; raise ValueError for a size or kind that it does not have."""
        if PLANS[suite].most and params.justify:
            raise ValueError(f"Parameter `justify` does not apply to prism/{suite}.")
        return generate.size(suite, params)

    def build(self, instance: Instance) -> World:
        """Rebuild the problem."""
        return generate.world(instance, self.params(instance))

    def fingerprint(self, world: World) -> Fingerprint:
        """Return all that is shown, the hidden system and the answer; the cluster is the triple."""
        told = [world.n, world.roots, world.cls, world.hidden_inputs, repr(world.lab), MODEL]
        shown = [[*row] for row in world.rows]
        hidden = [certify.as_json(world.truth), world.answer]
        return Fingerprint([*told, shown, repr(world.question), *hidden], world.base)

    def system(self, world: World) -> Json:
        """Return the rules up to renaming. The members of a triple are in one part of the split."""
        return renamed(world.n, world.truth)

    def open_world(self, instance: Instance, world: World) -> PrismEpisode:
        """Start an episode."""
        return PrismEpisode(instance, world, self.params(instance).max_errors)

    def certify(self, instance: Instance) -> Certificate:
        """Certify an instance: all systems that fit are listed, and their verdict is the answer."""
        world = self.world(instance)
        run = self.exact_run(instance)
        right = run.steps[-1].action.args["answer"] == world.answer
        claims = certify.claims(world)
        return Certificate(
            instance=instance.id,
            hypotheses=world.hypotheses,
            status="proven",
            solvable=right and run.outcome == "answered",
            best_score=1.0,
            exact_steps=len(self.experiments(run)),
            bits=0.0,
            **claims,
        )

    def score_episode(self, episode: PrismEpisode) -> Score:
        """Score the answer, the probability and what they rest on."""
        return self.with_efficiency(episode, score(episode))

    def moves(self, name: str, instance: Instance, given: Sequence[Step] | None) -> Moves:
        """Start a reference agent."""
        world = self.world(instance)
        sight = Sight.of(instance, world)
        if name == "oracle":
            return strategies.oracle(sight, world, given)
        return strategies.STRATEGIES[name](sight, Stream("agent", name, instance.id), given)

    def bits_left(self, episode: PrismEpisode) -> float:
        """Return the bits that the trials of a laboratory leave open about the answer."""
        if episode.world.lab is None:
            return 0.0
        return closure.bits(episode.world, [trial.row for trial in episode.seen])

    def bits_at_start(self, instance: Instance) -> float:
        """Return the logarithm of the number of systems that fit the trials shown at the start."""
        world = self.world(instance)
        return log2(len(certify.listed(world.space, world.rows)))

    def look_alikes(self, instance: Instance) -> Iterator[Episode]:
        """Open the same problem on other hidden systems that fit the shown trials."""
        world = self.world(instance)
        found = certify.listed(world.space, world.rows)
        for i in {0, len(found) // 2, len(found) - 1}:
            yield self.open_world(instance, replace(world, truth=found.system(i)))

    def truth(self, instance: Instance) -> Json:
        """Return the rules by name, the right answer and the exact probability of yes."""
        world = self.world(instance)
        return {
            "rules": dict(Sight.of(instance, world).written(world.truth)),
            "answer": world.answer,
            "probability": str(world.posterior),
        }

    def covariates(self, instance: Instance) -> Record:
        """Return size, class, kind of question, right answer and probability of yes."""
        world = self.world(instance)
        return Record.of(
            n=world.n,
            inputs=world.roots,
            rules=world.cls,
            hidden_inputs=world.hidden_inputs,
            trials=len(world.trials),
            kind=world.question.kind,
            rung=RUNGS[world.question.kind],
            gold=world.answer,
            posterior=float(world.posterior),
            base=world.base,
        )
