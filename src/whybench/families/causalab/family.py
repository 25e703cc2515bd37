"""The family CausaLab: hidden systems, certificates, scores and agents."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from whybench.causal.canonical import EMPTY, Json, Record, freeze
from whybench.causal.seeds import Stream
from whybench.causal.structure import edge_f1
from whybench.episode.action import Action
from whybench.episode.certificate import Certificate
from whybench.episode.episode import ANSWERED, Episode, Moves, play
from whybench.episode.family import Family
from whybench.episode.hooks import Fingerprint
from whybench.episode.instance import Instance, Profile
from whybench.episode.score import Score
from whybench.episode.trace import Step, Trace
from whybench.families.causalab.agents import strategies
from whybench.families.causalab.covariates import covariates
from whybench.families.causalab.episode import LabEpisode
from whybench.families.causalab.numbers import number
from whybench.families.causalab.parameters import GRAPHS, LIMIT, NAME, PLANS, K, Parameters, regime
from whybench.families.causalab.prompts.dialogue import Dialogue
from whybench.families.causalab.proof import bits, certify
from whybench.families.causalab.proof.ambiguity import Pairs, all_experiments, unrounded, verdicts
from whybench.families.causalab.proof.evidence import Evidence
from whybench.families.causalab.proof.inference_timeline import InferenceTimeline
from whybench.families.causalab.rules import activates
from whybench.families.causalab.score import score
from whybench.families.causalab.world import generate, renaming
from whybench.families.causalab.world.released import worlds
from whybench.families.causalab.world.world import Law, Term, World, motifs, solver

DRAWS = 16
"""Number of draws of the hidden disturbance over which the exact agent is averaged."""


class CausaLab(Family[World]):
    """A laboratory: experiments on one crystal, the frequency of another, one hidden law."""

    name = NAME
    parameter_model = Parameters
    prompts = Dialogue

    def size(self, suite: str, profile: Profile, params: Parameters) -> int:
        """Return a suite's size; raise ValueError if parameters do not fit together."""
        plan = PLANS[suite]
        if (params.k, params.graphs) != (K, GRAPHS) and not plan.fresh:
            raise ValueError(f"Parameters `k` and `graphs` apply only to {self.name}/fresh.")
        if params.regime and plan.observed:
            raise ValueError(f"Parameter `regime` does not apply to {self.name}/{suite}.")
        real = profile == "certified" and not plan.whole
        if (plan.quadratic or real) and params.tolerance == 0:
            raise ValueError("Tolerance 0 is not possible: readings are rounded in this suite.")
        if params.limit != LIMIT and profile == "published":
            raise ValueError(
                "Parameter `limit` applies only to profile `certified`: the release has no limit."
            )
        if params.data is None:
            if plan.golden and params.regime and not regime(params.regime)[0]:
                raise ValueError("A golden chain starts from a record. Use a regime such as 1o0i.")
            return generate.size(suite, params)
        if profile != "published":
            raise ValueError("Parameter `data` applies only to profile `published`.")
        return len(worlds(Path(params.data), suite, params))

    def build(self, instance: Instance) -> World:
        """Rebuild the hidden system, or read it from the released files."""
        parameters, suite, index = self.params(instance), instance.suite, instance.index
        if parameters.data is not None:
            return worlds(Path(parameters.data), suite, parameters)[index]
        profile = instance.profile
        return generate.world(suite, instance.stream_seed, index, parameters, profile)

    def fingerprint(self, world: World) -> Fingerprint:
        """Return the view, the law and every crystal as a fingerprint.

        The same graph and weights form one cluster in every regime.
        """
        view, disturbance = world.view, world.disturbance
        told = [
            view.names, view.display, view.controllable, view.semantics, view.quadratic, view.sink,
            view.disturbance, view.limit, view.budget, view.tolerance, view.released,
        ]  # fmt: skip
        seen = [[r.crystal, r.values, r.target, r.setting] for r in (*view.records, view.baseline)]
        moved = None if disturbance is None else [disturbance.affected, disturbance.values]
        terms = [[[t.cause, t.linear, t.square] for t in terms] for terms in world.law.terms]
        law = [world.law.base, terms]
        return Fingerprint([told, law, seen, world.bases, world.reactor, moved], law)

    def system(self, world: World) -> Json:
        """Return the graph, ignoring names; under the released rules, the law.

        No two laws with real weights are equal, so splits go by graph.
        """
        return renaming.system(world.law) if world.view.released else renaming.shape(world.law)

    def problem(self, world: World) -> Json:
        """Return the law with everything shown to an agent, ignoring the names of properties."""
        return renaming.problem(world)

    def discarded(self, instance: Instance) -> Record:
        """Return how many graphs and records were discarded; unknown for released systems."""
        parameters = self.params(instance)
        if parameters.data is not None:
            return EMPTY
        return generate.discarded(
            instance.suite, instance.stream_seed, instance.index, parameters, instance.profile
        )

    def open_world(self, instance: Instance, world: World) -> LabEpisode:
        """Start an episode."""
        return LabEpisode(instance, world, solver(world.law), self.params(instance))

    def experiments(self, trace: Trace) -> tuple[Action, ...]:
        """Return the interventions of a trace, without their hypotheses."""
        return tuple(
            Action.of("intervene", property=action.args["property"], value=action.args["value"])
            for action in super().experiments(trace)
            if action.name == "intervene"
        )

    def certify(self, instance: Instance) -> Certificate:
        """Certify an instance: what no experiment decides, and what the exact agent reaches."""
        world = self.world(instance)
        view = world.view
        trace = self.exact_run(instance)
        timeline = InferenceTimeline(view, trace)
        found = timeline.forced(world.shown())
        whole = certify.chain_of(view.records) and not view.budget
        least = 0 if whole else certify.fewest(world)
        identified = (
            found.complete if certify.by_run(world) else least is not None and least <= view.budget
        )
        known = found.frequency is not None
        best = float(can_be_won(world)) if known else None
        return Certificate(
            instance=instance.id,
            hypotheses=certify.hypotheses(world),
            status="proven",
            solvable=_succeeded(world, trace) == best if known else None,
            identified=identified,
            best_score=best,
            fewest=least if identified else None,
            minimax=certify.minimax(world) if identified else None,
            exact_steps=len(timeline.readings) - timeline.start,
            bits=0.0 if identified else certify.bits_left(world, timeline.readings),
            witness=None
            if identified
            else freeze(certify.witness(world, _unrounded(world, timeline))),
            facts=self._facts(instance, world, identified, known or certify.frequency_open(world)),
        )

    def _facts(
        self, instance: Instance, world: World, graph: bool, frequency: bool | None
    ) -> Record:
        """Return further figures, among them the numbers of edges and motifs."""
        facts: dict[str, Json] = {
            "k": world.law.k,
            **motifs(world.law.graph),
            "records": sum(record.passive for record in world.view.records),
            "chain": certify.chain_of(world.view.records),
            "budget": world.view.budget,
            "rank": certify.exact_rank(world),
            "frequency_identified": frequency,
            "graph_identified": graph,
            "frequency_fewest": certify.frequency_fewest(world),
            "undecided_pairs": len(undecided(world)),
        }
        if world.disturbance is not None:
            facts |= self._expected(instance, world)
        if world.view.observed:
            facts |= certify.verdict_facts(world)
        return Record(facts.items())

    def _expected(self, instance: Instance, world: World) -> dict[str, Json]:
        """Average the exact agent's score over other draws of the hidden disturbance."""
        if world.disturbance is None:
            return {}
        f1, wrong, truth = [], 0, world.law.graph.edges()
        for draw in range(DRAWS):
            path = (*world.disturbance.path, "draw", draw)
            other = replace(world, disturbance=replace(world.disturbance, path=path))
            episode = self.open_world(instance, other)
            play(episode, strategies.exact(strategies.AgentState(other.view), Stream("exact")))
            f1.append(edge_f1(truth, episode.guess.edges if episode.guess else ()))
            wrong += f1[-1] < 1.0 or not episode.right
        return {"expected_edge_f1": sum(f1) / DRAWS, "error_probability": wrong / DRAWS}

    def score_episode(self, episode: LabEpisode) -> Score:
        """Score an episode; edges that no experiment decides do not count."""
        return self.with_efficiency(episode, score(episode, undecided(episode.world)))

    def covariates(self, instance: Instance) -> Record:
        """Return size, motifs and condition."""
        return covariates(self.world(instance))

    def moves(self, name: str, instance: Instance, given: Sequence[Step] | None) -> Moves:
        """Start a reference agent; given evidence includes the reactor's crystal."""
        world = self.world(instance)
        state = strategies.AgentState(world.view, given, None if given is None else world.shown())
        if name == "oracle":
            return strategies.oracle(world, state)
        return strategies.STRATEGIES[name](state, Stream("agent", name, instance.id))

    def submission(self, answer: Json) -> tuple[Action, ...]:
        """Open the reactor and predict: a frequency, or an object with a hypothesis."""
        args = {"frequency": answer}
        if isinstance(answer, Mapping):
            args = {"frequency": answer.get("frequency")}
            if answer.get("hypothesis") is not None:
                args["hypothesis"] = json.dumps(answer["hypothesis"])
        return Action.of("open_reactor"), Action.of(self.final_action, **args)

    def bits_left(self, episode: LabEpisode) -> float:
        """Return how many bits the evidence leaves open; see `bits`."""
        return bits.bits_left(episode)

    def look_alikes(self, instance: Instance) -> Iterator[Episode]:
        """Open the same view on two other laws: no causes at all, and a chain of all quantities."""
        world = self.world(instance)
        k = world.law.k
        row = tuple((Term(v + 1, 1.0),) if v + 1 < k else () for v in range(k))
        for terms in (((),) * k, row):
            yield self.open_world(instance, replace(world, law=Law(terms, world.law.base)))

    def truth(self, instance: Instance) -> Json:
        """Return the equations by name, the reactor's frequency, and any hidden disturbance."""
        world = self.world(instance)
        names = world.view.names
        found: dict[str, Json] = {
            "equations": {
                names[v]: {names[t.cause]: [t.linear, t.square] for t in terms}
                for v, terms in enumerate(world.law.terms)
            },
            "base": world.law.base,
            "frequency": world.target,
        }
        if world.disturbance is not None:
            moved = world.disturbance.affected
            found["disturbed"] = [name for v, name in enumerate(names) if moved >> v & 1]
        return found


def can_be_won(world: World) -> bool:
    """Tell whether the reactor accepts the true frequency; the released dial has an upper end."""
    return activates(world, world.target)


def _succeeded(world: World, trace: Trace) -> bool:
    """Tell whether a run ended with the right prediction."""
    said = number(trace.steps[-1].action.args.get("frequency")) if trace.steps else None
    return trace.outcome == ANSWERED and said is not None and activates(world, said)


def _unrounded(world: World, timeline: InferenceTimeline) -> Evidence:
    """Return a run's readings, without rounding if readings are rounded."""
    if not world.view.rounded:
        return timeline.evidence()
    made = timeline.readings[timeline.start :]
    return unrounded(world, [(r.target, r.setting) for r in made if r.target is not None])


@lru_cache(maxsize=2048)
def undecided(world: World) -> Pairs:
    """Return the edges that no experiment decides; empty for the release. Cached."""
    view = world.view
    if world.disturbance is not None or view.released or certify.all_can_be_forced(view):
        return frozenset()
    return verdicts(all_experiments(world)).sometimes
