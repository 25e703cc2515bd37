"""The family CausalGame: its hidden systems, certificates, scores and agents."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from whybench.causal.canonical import EMPTY, Json, Record
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
from whybench.families.causalgame.agents import strategies
from whybench.families.causalgame.agents.agent_state import AgentState
from whybench.families.causalgame.covariates import covariates
from whybench.families.causalgame.episode import DroneEpisode
from whybench.families.causalgame.parameters import ALL, FACTORIAL, NAME, SIZE, Parameters
from whybench.families.causalgame.prompts.action_specs import QUESTIONS
from whybench.families.causalgame.prompts.dialogue import Dialogue, turn_limits_of
from whybench.families.causalgame.proof import bits, certify, factorial_proof
from whybench.families.causalgame.score import score
from whybench.families.causalgame.view import view
from whybench.families.causalgame.world import generate
from whybench.families.causalgame.world.design import SUFFIX, Design
from whybench.families.causalgame.world.factorial_suite import (
    CELLS,
    SEEDS,
    cell_world,
    refused_deals,
)
from whybench.families.causalgame.world.physics.catalogue import inert, parameters
from whybench.families.causalgame.world.physics.generated import Generated, nameless, nameless_rules
from whybench.families.causalgame.world.scenario import scenarios
from whybench.families.causalgame.world.world import World

HYPOTHESES = (
    "any system in which a design and the circumstances of a flight decide, by chance, who returns"
)


class CausalGame(Family[World]):
    """Drones: biased records, small deployments, one fleet, and a report."""

    name = NAME
    parameter_model = Parameters
    prompts = Dialogue

    def size(self, suite: str, profile: Profile, params: Parameters) -> int:  # noqa: ARG002
        """Return a suite's size."""
        return {FACTORIAL: CELLS * SEEDS, ALL: len(scenarios())}.get(suite, SIZE)

    def build(self, instance: Instance) -> World:
        """Rebuild the hidden system."""
        suite, index, parameters = instance.suite, instance.index, self.params(instance)
        if suite == FACTORIAL:
            return cell_world(instance.stream_seed, index, parameters)
        scenario = tuple(scenarios())[index] if suite == ALL else suite
        rules = parameters.over(scenarios()[scenario].rules(instance.profile))
        return generate.world(scenario, rules, instance.stream_seed, index)

    def fingerprint(self, world: World) -> Fingerprint:
        """Return the content key (rules and records) and the cluster key.

        Scenarios with the same drones, and therefore the same random numbers, form one cluster.
        """
        told = [world.scenario, world.call_sign, world.rules.model_dump(mode="json")]
        content = [told, _records(world), parameters(world.physics)]
        return Fingerprint(content, list(world.path))

    def system(self, world: World) -> Json:
        """Return the physics; a scenario has one for all seeds, so systems repeat by design."""
        physics = world.physics
        return nameless(physics) if isinstance(physics, Generated) else parameters(physics)

    def problem(self, world: World) -> Json:
        """Return rules, physics, records, and one draw that identifies all later random numbers."""
        rules, seen = nameless_rules(world.rules, world.physics), _records(world)
        luck = Stream(*world.path, "fleet").word()
        return [world.scenario, rules, self.system(world), seen, luck]

    def discarded(self, instance: Instance) -> Record:
        """Return how many histories were discarded; counted once, at the first cell of a draw."""
        if instance.suite != FACTORIAL or instance.index >= SEEDS:
            return EMPTY
        return Record.of(history_above_the_bar=refused_deals(instance.stream_seed, instance.index))

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

    def certify(self, instance: Instance) -> Certificate:
        """Return the survival of the best known, the default and the exact agent's design.

        Whether a scenario is winnable, trapped and affordable needs many instances: see `prove`.
        """
        world = self.world(instance)
        reached = self.score(instance, self.exact_run(instance)).values
        best, default = self.landmarks(instance)
        facts: dict[str, Json] = {
            "bar": world.rules.threshold,
            "fleet_best": best,
            "fleet_default": default,
            "fleet_exact": reached["survival_rate"],
        }
        if isinstance(world.physics, Generated):
            facts |= factorial_proof.facts(world, world.physics) | factorial_proof.levels(
                instance.index
            )
        return Certificate(
            instance=instance.id,
            hypotheses=HYPOTHESES,
            **self._claims(instance, best >= world.rules.threshold),
            exact_steps=reached["deploys"],
            facts=Record(facts.items()),
        )

    def _claims(self, instance: Instance, won: bool) -> dict[str, Any]:
        """Return what the certificate of one fleet claims; no number of flights forces more.

        If the best known design wins this fleet, 1 is an upper bound of `win` that is attained.
        Otherwise no bound is known. Nothing is claimed for the published rules.
        """
        if instance.profile == "published":
            return {"status": "none"}
        return {"status": "statistical", "solvable": won, "best_score": 1.0 if won else None}

    def prove(self, suite: Suite) -> SuiteProof:
        """Certify scenarios as winnable, trapped and affordable; generated systems by formula."""
        if suite.name == FACTORIAL:
            worlds = [self.world(instance) for instance in suite]
            return factorial_proof.proof(suite.name, worlds)
        names = tuple(scenarios()) if suite.name == ALL else (suite.name,)
        released = suite.profile == "published"
        first = suite[0]
        parameters = self.params(first)
        proofs = {
            name: certify.proof(
                name,
                parameters.over(scenarios()[name].rules(suite.profile)),
                first.stream_seed,
                released,
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
        return covariates(instance, self.world(instance), *self.landmarks(instance))

    def moves(self, name: str, instance: Instance, given: Sequence[Step] | None) -> Moves:
        """Start a reference agent."""
        world = self.world(instance)
        known = (
            strategies.oracle(best_of(world)) if name == "oracle" else strategies.STRATEGIES[name]
        )
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
        """Open the same view and records on a system in which no lever has an effect."""
        world = self.world(instance)
        yield self.open_world(instance, replace(world, physics=inert(world.physics)))

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
