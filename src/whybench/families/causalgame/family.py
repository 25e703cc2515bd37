"""The family's face: every room of this folder behind the one protocol."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from whybench.core.canonical import EMPTY, Json, Record
from whybench.core.seeds import Stream
from whybench.episode.action import Action
from whybench.episode.certificate import Certificate, SuiteProof
from whybench.episode.conversation import Conversation
from whybench.episode.episode import Episode, Moves
from whybench.episode.family import Family, Suite
from whybench.episode.instance import Instance, Profile
from whybench.episode.pace import Pace
from whybench.episode.retelling import Retelling
from whybench.episode.score import Score
from whybench.episode.trace import Step, Trace
from whybench.families.causalgame import agents, bits, cell_proof, certify, check, generate
from whybench.families.causalgame.bench import Bench
from whybench.families.causalgame.catalogue import inert, parameters
from whybench.families.causalgame.cells import CELLS, SEEDS, cell_world, refused_deals
from whybench.families.causalgame.design import SUFFIX, Design
from whybench.families.causalgame.dialogue import Dialogue, paced
from whybench.families.causalgame.generated import Generated, nameless, nameless_rules
from whybench.families.causalgame.judging.packet import JudgedCase
from whybench.families.causalgame.params import ALL, KNOBS, NAME, SIZE, Knobs
from whybench.families.causalgame.retell import retelling
from whybench.families.causalgame.rules import DroneEpisode
from whybench.families.causalgame.scenario import Rules, scenarios
from whybench.families.causalgame.score import METRICS, case_of, score
from whybench.families.causalgame.specs import QUESTIONS
from whybench.families.causalgame.traits import traits
from whybench.families.causalgame.view import view
from whybench.families.causalgame.world import World

HYPOTHESES = (
    "any system in which a design and the circumstances of a flight decide, by chance, who returns"
)


class CausalGame(Family[World]):
    """Drones: biased records, small deployments, one fleet, and a report."""

    name = NAME
    knobs: Mapping[str, str] = {k: f.description or "" for k, f in Knobs.model_fields.items()}
    metrics = METRICS
    unchecked = check.UNCHECKED

    def validated(
        self,
        suite: str,
        profile: Profile,  # noqa: ARG002 - both profiles have the same knobs
        knobs: Mapping[str, Any],
    ) -> tuple[Record, int]:
        """Check knobs; keep those that differ from their defaults."""
        turned = self.checked(Knobs, knobs).model_dump(exclude_defaults=True)
        if suite == KNOBS:
            return self.knob_record(turned), CELLS * SEEDS
        return self.knob_record(turned), len(scenarios()) if suite == ALL else SIZE

    def world(self, instance: Instance) -> World:
        """Rebuild the hidden world."""
        return _world(
            instance.suite, instance.profile, instance.seed, instance.index, instance.knobs
        )

    def content(self, world: World) -> Json:
        """Return the rules, and what became of the history."""
        flown = world.history.flights
        seen = [flown.returned.tolist(), flown.hit_count.tolist(), world.history.kept.tolist()]
        told = [world.scenario, world.call_sign, world.rules.model_dump(mode="json")]
        return [told, seen, parameters(world.physics)]

    def latent(self, world: World) -> Json:
        """Return the luck: scenarios with the same drones are one cluster."""
        return list(world.path)

    def system(self, world: World) -> Json:
        """Return the physics: a scenario has one for all seeds, so systems repeat by design."""
        physics = world.physics
        return nameless(physics) if isinstance(physics, Generated) else parameters(physics)

    def problem(self, world: World) -> Json:
        """Return rules, physics, records, and a draw of the fleet's for all luck to come."""
        rules, seen = nameless_rules(world.rules, world.physics), self.content(world)[1]
        luck = Stream(*world.path, "fleet").word()
        return [world.scenario, rules, self.system(world), seen, luck]

    def discarded(self, instance: Instance) -> Record:
        """Return how many histories were thrown away: at a seed's first cell, for all share it."""
        if instance.suite != KNOBS or instance.index >= SEEDS:
            return EMPTY
        return Record.of(history_above_the_bar=refused_deals(instance.seed, instance.index))

    def check(self, instance: Instance, certificate: Certificate) -> list[str]:
        """Check a certificate by other means: drones fly one by one, every budget is spent."""
        return check.flaws(instance, self.world(instance), certificate)

    def open_world(self, instance: Instance, world: World) -> DroneEpisode:
        """Start an episode."""
        return DroneEpisode(instance, world, _knobs(instance.knobs))

    def experiments(self, trace: Trace) -> tuple[Action, ...]:
        """Return the questions and deployments of a trace, without the beliefs beside them."""
        found = []
        for action in super().experiments(trace):
            if action.name == "query_environment":
                found.append(action)
            elif action.name == "deploy":
                kept = Record((name, value) for name, value in action.args if name != "beliefs")
                found.append(Action("deploy", kept))
        return tuple(found)

    def certify(self, instance: Instance) -> Certificate:
        """See what the best known, the default and the exact agent's design reach here.

        Whether a scenario is winnable, trapped and affordable is a matter of many seeds: `prove`.
        """
        world = self.world(instance)
        reached = self.score(instance, self.exact_run(instance)).values
        best, default = self._landmarks(instance)
        facts: dict[str, Json] = {
            "bar": world.rules.threshold,
            "fleet_best": best,
            "fleet_default": default,
            "fleet_exact": reached["survival_rate"],
        }
        if isinstance(world.physics, Generated):
            facts |= cell_proof.facts(world, world.physics) | cell_proof.levels(instance.index)
        return Certificate(
            instance=instance.id,
            hypotheses=HYPOTHESES,
            solvable=best >= world.rules.threshold or instance.profile == "published",
            identified=True,  # by no number of flights for certain: `prove` says how often
            best_score=reached["win"],
            exact_steps=reached["deploys"],
            facts=Record(facts.items()),
        )

    def prove(self, suite: Suite) -> SuiteProof:
        """Prove scenarios: winnable, trapped, affordable; generated worlds by their formula."""
        if suite.name == KNOBS:
            worlds = [self.world(instance) for instance in suite]
            return cell_proof.proof(suite.name, worlds)
        names = tuple(scenarios()) if suite.name == ALL else (suite.name,)
        released = suite.profile == "published"
        seed = suite[0].seed
        proofs = {
            name: certify.proof(name, _rules(name, suite.profile, suite.knobs), seed, released)
            for name in names
        }
        kept = ("winnable", "trapped", "affordable")
        counts = {what: sum(getattr(proof, what) for proof in proofs.values()) for what in kept}
        return SuiteProof(
            {**counts, "scenarios": {name: proof.facts() for name, proof in proofs.items()}},
            tuple((name, flaw) for name, proof in proofs.items() for flaw in proof.flaws()),
        )

    def _landmarks(self, instance: Instance) -> tuple[float, float]:
        """Return what the best known and the default design reach with the instance's fleet."""
        return _landmarks(
            instance.suite, instance.profile, instance.seed, instance.index, instance.knobs
        )

    def score(self, instance: Instance, trace: Trace) -> Score:
        """Replay a trace's actions on the rebuilt world and score what happened."""
        if trace.instance != instance.id:
            raise ValueError(f"this is a trace of {trace.instance}, not of {instance.id}")
        episode = self.reopened(instance, trace.actions, trace.given, trace.evidence)
        return score(_own(episode), *self._landmarks(instance))

    def judged_case(self, instance: Instance, trace: Trace) -> JudgedCase | None:
        """Return what judging a trace's report needs; generated worlds have no task report."""
        episode = self.reopened(instance, trace.actions, trace.given, trace.evidence)
        known = instance.suite != KNOBS
        return case_of(_own(episode), self._landmarks(instance)[0]) if known else None

    def traits(self, instance: Instance) -> Record:
        """Return scenario, challenge, history, bar, and what two known designs reach."""
        return traits(instance, self.world(instance), *self._landmarks(instance))

    def retell(self, instance: Instance, trace: Trace) -> Retelling:
        """Tell an episode in words, with the path of designs beside the best known one."""
        world = self.world(instance)
        return retelling(world, trace, best_of(world), *self._landmarks(instance))

    def agent(self, name: str, instance: Instance, given: Sequence[Step] | None = None) -> Moves:
        """Start a reference agent."""
        world = self.world(instance)
        bench = Bench(view(world), given)
        if name == "oracle":
            strategy = agents.oracle(best_of(world))
        elif name in agents.STRATEGIES:
            strategy = agents.STRATEGIES[name]
        else:
            raise ValueError(f"{self.name} has no agent {name!r}: try {', '.join(self.agents)}")
        return agents.moves(bench, certify.luck(world, name), strategy)

    def submission(self, answer: Json) -> tuple[Action, ...]:
        """Deploy one drone, submit and report: a design, or an object with design and report."""
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

    def conversation(self, episode: Episode, skin: str) -> Conversation:
        """Tell an episode as a sequence of programs."""
        return Dialogue(_own(episode), skin)

    def pace(self, episode: Episode, skin: str) -> Pace:
        """Lead a model in turns, as published: so many as there are deployments, and ten more."""
        return paced(_own(episode), skin)

    def bits_left(self, episode: Episode) -> float:
        """Return what the evidence so far leaves open, in bits; see `bits`."""
        return bits.bits_left(_own(episode))

    def rivals(self, instance: Instance) -> Iterator[Episode]:
        """Open the same view and records on other systems: the sheet is the same, no effect is."""
        world = self.world(instance)
        yield self.open_world(instance, replace(world, physics=inert(world.physics.sheet)))

    def truth(self, instance: Instance) -> Json:
        """Return the best design, the physics, and all that the records leave out."""
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
    """Return the best design that is known for a world."""
    return world.best or certify.best_design(world.rules.physics)


def _own(episode: Episode) -> DroneEpisode:
    if not isinstance(episode, DroneEpisode):
        raise ValueError("this is not an episode of causalgame")
    return episode


def _rules(scenario: str, profile: Profile, turned: Record) -> Rules:
    return _knobs(turned).over(scenarios()[scenario].rules(profile))


@lru_cache(maxsize=512)
def _world(suite: str, profile: Profile, salt: str, index: int, turned: Record) -> World:
    """Rebuild a world; a pure function, so the latest ones are kept."""
    if suite == KNOBS:
        return cell_world(salt, index, _knobs(turned))
    if suite == ALL:
        scenario = tuple(scenarios())[index]
        return generate.world(scenario, _rules(scenario, profile, turned), salt, index)
    return generate.world(suite, _rules(suite, profile, turned), salt, index)


@lru_cache(maxsize=4096)
def _landmarks(
    suite: str, profile: Profile, salt: str, index: int, turned: Record
) -> tuple[float, float]:
    world = _world(suite, profile, salt, index, turned)
    default = certify.default_design(world.physics)
    return world.final(best_of(world)).survival_rate, world.final(default).survival_rate


@lru_cache(maxsize=256)
def _knobs(record: Record) -> Knobs:
    return Knobs(**record.asdict())
