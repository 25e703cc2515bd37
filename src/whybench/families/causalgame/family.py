"""The family CausalGame: its hidden systems, certificates, scores and agents."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from whybench.causal.canonical import Json, Record, freeze
from whybench.causal.seeds import Stream
from whybench.episode.action import Action
from whybench.episode.certificate import Certificate, SuiteProof
from whybench.episode.episode import Episode, Moves
from whybench.episode.family import Family, Suite
from whybench.episode.hooks import Fingerprint
from whybench.episode.instance import Instance, Profile
from whybench.episode.prompts.turn_limits import TurnLimits
from whybench.episode.score import Score
from whybench.episode.trace import Step, Trace
from whybench.families.causalgame.agents import particles, strategies
from whybench.families.causalgame.agents.agent_state import AgentState
from whybench.families.causalgame.covariates import covariates
from whybench.families.causalgame.episode import DroneEpisode
from whybench.families.causalgame.parameters import ALL, NAME, SIZE, Parameters
from whybench.families.causalgame.prompts.action_specs import QUESTIONS
from whybench.families.causalgame.prompts.dialogue import Dialogue, turn_limits_of
from whybench.families.causalgame.proof import bits, certify, statistical
from whybench.families.causalgame.score import score
from whybench.families.causalgame.view import view
from whybench.families.causalgame.world import generate
from whybench.families.causalgame.world.design import SUFFIX, Design
from whybench.families.causalgame.world.drawn import draw
from whybench.families.causalgame.world.drawn.hazards import (
    Hazards,
    best_design,
    relabelled,
    role_pattern,
)
from whybench.families.causalgame.world.physics.catalogue import parameters
from whybench.families.causalgame.world.scenario import scenarios
from whybench.families.causalgame.world.world import World

UNUSED = {"concealed": None, "spurious": None}
"""Rules that no profile has any more; ids still hash them."""


class CausalGame(Family[World]):
    """Drones: biased records, small deployments, one fleet, and a report."""

    name = NAME
    parameter_model = Parameters
    prompts = Dialogue

    def size(self, suite: str, profile: Profile, params: Parameters) -> int:  # noqa: ARG002
        """Return a suite's size."""
        return len(scenarios()) if suite == ALL else SIZE

    def build(self, instance: Instance) -> World:
        """Rebuild the hidden system."""
        suite, index, given = instance.suite, instance.index, self.params(instance).given
        if suite in draw.stories():
            return draw.world(suite, instance.stream_seed, index, **given)
        scenario = tuple(scenarios())[index] if suite == ALL else suite
        rules = scenarios()[scenario].published.model_copy(update=given)
        return generate.world(scenario, rules, instance.stream_seed, index)

    def fingerprint(self, world: World) -> Fingerprint:
        """Return the content key (rules and records) and the cluster key.

        Suites with the same drones, and therefore the same random numbers, form one cluster.
        """
        told = [world.scenario, world.call_sign, world.rules.model_dump(mode="json") | UNUSED]
        content = [told, _records(world), parameters(world.physics)]
        return Fingerprint(content, list(world.path))

    def system(self, world: World) -> Json:
        """Return the pattern of roles of a drawn system, by place; of others, the physics.

        A design that was remembered by place in training is never the best one in evaluation.
        """
        physics = world.physics
        return role_pattern(physics) if isinstance(physics, Hazards) else parameters(physics)

    def problem(self, world: World) -> Json:
        """Return rules, system, records, and one draw that identifies all later random numbers."""
        rules, seen = world.rules.model_dump(mode="json"), _records(world)
        luck = Stream(*world.path, "fleet").word()
        return [world.scenario, rules, self.system(world), seen, luck]

    def open_world(self, instance: Instance, world: World) -> DroneEpisode:
        """Start an episode."""
        return DroneEpisode(instance, world, self.params(instance))

    def experiments(self, trace: Trace) -> tuple[Action, ...]:
        """Return the questions and deployments of a trace, without beliefs."""
        found = []
        for action in super().experiments(trace):
            if action.name == "query_environment":
                found.append(action)
            elif action.name == "deploy":
                kept = Record((name, value) for name, value in action.args if name != "beliefs")
                found.append(Action("deploy", kept))
        return tuple(found)

    def exact_experiments(self, instance: Instance) -> int:
        """Return how many experiments the exact agent makes; on drawn systems always as many."""
        told = view(self.world(instance))
        return particles.experiments(told) if told.law else super().exact_experiments(instance)

    def certify(self, instance: Instance) -> Certificate:
        """Return exact facts about a drawn system; nothing is claimed for the published rules."""
        world = self.world(instance)
        reached = self.score(instance, self.exact_run(instance)).values
        best, default = self.landmarks(instance)
        fleets: dict[str, Json] = {
            "bar": world.rules.threshold,
            "fleet_best": best,
            "fleet_default": default,
            "fleet_exact": reached["survival_rate"],
        }
        certificate = Certificate(
            instance=instance.id,
            hypotheses=certify.HYPOTHESES,
            exact_steps=reached["deploys"],
            facts=Record(fleets.items()),
        )
        if not isinstance(world.physics, Hazards):
            return certificate
        won = best >= world.rules.threshold
        return replace(
            certificate,
            hypotheses=statistical.HYPOTHESES,
            status="statistical",
            solvable=won,
            best_score=1.0 if won else None,
            facts=freeze(fleets | statistical.facts(world, world.physics)),
        )

    def prove(self, suite: Suite) -> SuiteProof:
        """Measure win rates on a story; check whether published scenarios can be won."""
        if suite.name in draw.stories():
            return statistical.proof(suite)
        names = tuple(scenarios()) if suite.name == ALL else (suite.name,)
        first = suite[0]
        given = self.params(first).given
        proofs = {
            name: certify.proof(
                name,
                scenarios()[name].published.model_copy(update=given),
                first.stream_seed,
            )
            for name in names
        }
        kept = ("winnable", "trapped", "affordable")
        counts = {what: sum(getattr(proof, what) for proof in proofs.values()) for what in kept}
        return SuiteProof(
            {**counts, "scenarios": {name: proof.facts() for name, proof in proofs.items()}},
            tuple((name, flaw) for name, proof in proofs.items() for flaw in proof.flaws()),
        )

    def score_episode(self, episode: DroneEpisode) -> Score:
        """Score the fleet relative to the best known and the default design."""
        return self.with_efficiency(episode, score(episode, *self.landmarks(episode.instance)))

    def landmarks(self, instance: Instance) -> tuple[float, float]:
        """Return the survival of the best known and the default design with this fleet."""
        return _landmarks(self, instance)

    def covariates(self, instance: Instance) -> Record:
        """Return scenario, challenge, history, bar, and the survival of two known designs."""
        return covariates(self.world(instance), *self.landmarks(instance))

    def moves(self, name: str, instance: Instance, given: Sequence[Step] | None) -> Moves:
        """Start a reference agent."""
        world = self.world(instance)
        known = strategies.STRATEGIES.get(name) or strategies.oracle(best_of(world))
        return strategies.moves(
            AgentState(view(world), given), certify.agent_rng(world, name), known
        )

    def submission(self, answer: Json) -> tuple[Action, ...]:
        """Return actions that deploy one drone, submit and report, from a stored answer."""
        if not isinstance(answer, Mapping):
            raise TypeError("`answer` is an object with `design`")
        args = {
            name: json.dumps(answer[name])
            for name in ("design", "equipment", "beliefs")
            if answer.get(name) is not None
        }
        told = answer.get("report") or {}
        report = {name: str(told.get(name) or "-") for name in QUESTIONS}
        first = {name: args[name] for name in ("design", "equipment") if name in args}
        return (
            Action.of("deploy", **first, count="1"),
            Action.of(self.final_action, **args),
            Action.of("report", **report),
        )

    def turn_limits(self, episode: DroneEpisode, template: str) -> TurnLimits:
        """Return the turn limits, as published: the number of deployments plus ten."""
        return turn_limits_of(episode, template)

    def bits_left(self, episode: DroneEpisode) -> float:
        """Return the bits that the evidence so far leaves open; see `bits`."""
        return bits.bits_left(episode)

    def look_alikes(self, instance: Instance) -> Iterator[Episode]:
        """Open the same view and records on a system in which other parts have the roles."""
        world = self.world(instance)
        if isinstance(world.physics, Hazards):
            other = relabelled(world.physics)
            yield self.open_world(instance, replace(world, physics=other, best=best_design(other)))

    def truth(self, instance: Instance) -> Json:
        """Return the best design, the physics, and what the records leave out."""
        world = self.world(instance)
        best = best_of(world)
        names = world.physics.sheet.names
        return {
            "physics": world.physics.name,
            "best_known": {
                "design": {n + SUFFIX: v for n, v in zip(names, best.defs, strict=True)},
                "equipment": dict(best.equipment),
            },
            "lost_without_record": int((~world.history.kept).sum()),
            "parameters": parameters(world.physics),
        }


def best_of(world: World) -> Design:
    """Return the best known design of a hidden system."""
    return world.best or certify.best_design(world.rules.physics)


@lru_cache(maxsize=4096)
def _landmarks(family: CausalGame, instance: Instance) -> tuple[float, float]:
    world = family.world(instance)
    default = certify.default_design(world.physics)
    return world.final(best_of(world)).survival_rate, world.final(default).survival_rate


def _records(world: World) -> Json:
    flown = world.history.flights
    return [flown.returned.tolist(), flown.hit_count.tolist(), world.history.kept.tolist()]
