"""The family ReplaySCM: its worlds, certificates, scores and agents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import astuple, replace
from pathlib import Path

from whybench.causal.canonical import EMPTY, Json, Record, freeze
from whybench.causal.seeds import Stream
from whybench.episode.certificate import Certificate
from whybench.episode.episode import Episode, Moves
from whybench.episode.family import Family
from whybench.episode.hooks import Fingerprint
from whybench.episode.instance import Instance, Profile
from whybench.episode.score import UNFINISHED, Score
from whybench.episode.trace import Step
from whybench.families.replayscm.agents import strategies
from whybench.families.replayscm.covariates import covariates
from whybench.families.replayscm.parameters import BUDGET, FAMILY, POOLS, Parameters, in_lab, place
from whybench.families.replayscm.prompts.dialogue import Dialogue
from whybench.families.replayscm.proof import certify
from whybench.families.replayscm.rules import ReplayEpisode
from whybench.families.replayscm.score import Handed, values
from whybench.families.replayscm.world import renaming
from whybench.families.replayscm.world.generation.generate import TRAIN
from whybench.families.replayscm.world.generation.record_pools import discarded, lab_of, source
from whybench.families.replayscm.world.generation.source import told_of
from whybench.families.replayscm.world.released import problems
from whybench.families.replayscm.world.world import ANSWERS, View, World


class ReplaySCM(Family[World]):
    """Binary worlds seen under interventions; the answer is a mechanism for every variable."""

    name = FAMILY
    parameter_model = Parameters
    prompts = Dialogue

    def size(self, suite: str, profile: Profile, params: Parameters) -> int:
        """Return a suite's size; raise ValueError for parameters that do not apply to it."""
        if params.budget != BUDGET and POOLS[suite].worlds != "lab":
            raise ValueError(
                f"The parameter `budget` applies only to {self.name}/lab. "
                f"Leave it out for {self.name}/{suite}, or choose the suite `lab`."
            )
        if params.retry == "same" and POOLS[suite].worlds == "lab":
            raise ValueError("In a laboratory, `retry=same` would hide experiments. Leave it out.")
        plain = [n for n, p in POOLS.items() if p.task == "induce" and p.worlds in ("base", "full")]
        if not params.disambiguation and (params.data is not None or suite not in plain):
            raise ValueError(
                "The parameter `disambiguation` applies to generated problems of "
                f"{', '.join(plain)}. Choose one of these suites, without `data`."
            )
        if params.data is None:
            return POOLS[suite].size
        if profile != "published":
            raise ValueError(
                "The parameter `data` needs profile `published`. "
                "Choose that profile, or leave `data` out."
            )
        return len(problems(Path(params.data), suite))

    def build(self, instance: Instance) -> World:
        """Rebuild the hidden system, or read it from the released problems."""
        parameters = self.params(instance)
        if parameters.data is not None:
            return problems(Path(parameters.data), instance.suite)[instance.index]
        pool = POOLS[instance.suite]
        shown = "base" if pool.worlds == "full" else pool.worlds
        found = source(*place(instance), shown)
        latent = found.latent
        released = instance.profile == "published" and pool.worlds != "lab"  # the release has none
        told = told_of(latent, pool.disclosure, found.blocks)
        if released:
            told = replace(told, k=latent.n - 1)
        train = found.worlds[shown]
        if not parameters.disambiguation:
            train = train[:TRAIN]
        view = View(
            task=pool.task,
            disclosure=pool.disclosure,
            told=told,
            display=found.display,
            order=latent.order if pool.disclosure == "ordered" else (),
            blocks=found.blocks if pool.disclosure == "block" else (),
            train=train,
            heldout=len(found.heldout),
            reference=found.references[pool.disclosure] if pool.task == "alternative" else (),
            released=released,
            asked=found.asked[instance.index % len(ANSWERS)] if found.asked else None,
        )
        if pool.worlds != "lab":
            return World(view, latent.formulas, found.heldout, latent.name, found.facts(train))
        luck = Stream(FAMILY, "lab", instance.stream_seed, instance.index, "luck").word()
        experiments = (parameters.budget, luck)
        return World(view, latent.formulas, found.heldout, latent.name, experiments=experiments)

    def fingerprint(self, world: World) -> Fingerprint:
        """Identify an instance by its disclosure, its mechanisms and all its worlds.

        Problems made from the same gold SCM form one cluster.
        """
        view = world.view
        tables = [
            [table.targets, table.mode, table.size, table.columns]
            for table in (*view.train, *world.heldout)
        ]
        told = [view.task, view.disclosure, view.told.k, view.display, view.order, view.blocks]
        content = [told, view.reference, world.formulas, len(view.train), tables]
        if view.asked is not None:
            content.append(list(astuple(view.asked)))
        return Fingerprint(content, world.cluster)

    def system(self, world: World) -> Json:
        """Return the gold mechanisms up to renaming; only their functions count."""
        return renaming.system(world.gold)

    def problem(self, world: World) -> Json:
        """Return mechanisms, disclosure, task and every world, up to renaming."""
        return renaming.problem(world)

    def discarded(self, instance: Instance) -> Record:
        """Return how many SCMs, and draws of an SCM's worlds, were discarded, by reason.

        Shipped records do not store this, so they are generated again. Released problems were not
        drawn here, so nothing is reported for them.
        """
        return EMPTY if self.params(instance).data is not None else discarded(*place(instance))

    def open_world(self, instance: Instance, world: World) -> ReplayEpisode:
        """Start an episode."""
        parameters = self.params(instance)
        return ReplayEpisode(
            instance, world, parameters.max_errors, lab_of(instance, parameters.budget)
        )

    def certify(self, instance: Instance) -> Certificate:
        """Certify an instance: count the SCMs that fit, and let the exact agent play it."""
        trace = self.exact_run(instance)
        episode = self.again(instance, trace)
        reached = self.score_episode(episode)
        world = self.world(instance)
        if episode.lab is not None:
            world = replace(world, view=episode.view)
        evidence = certify.evidence_of(world.view)
        experiments = len(self.experiments(trace))
        identified = evidence.count == 1
        facts = certify.facts(world, evidence)
        if world.view.asked is not None:
            identified = certify.right_answer(world.view) != "cannot"
        if episode.lab is not None:
            settings = tuple(step.args["setting"] for step in self.experiments(trace))
            facts = Record([*facts, ("exact_worlds", settings)])
        return Certificate(
            instance=instance.id,
            hypotheses=certify.hypotheses(world.view),
            status="proven",
            solvable=reached.values["solved"] == 1.0 and (identified or episode.lab is None),
            identified=identified,
            best_score=reached.values["solved"],
            fewest=certify.fewest_experiments(self.world(instance)) if episode.lab else 0,
            exact_steps=experiments,
            bits=evidence.bits,
            witness=None if identified else freeze(certify.witness(world, evidence)),
            facts=facts,
        )

    def score_episode(self, episode: ReplayEpisode) -> Score:
        """Score the answer; in the laboratory also the experiments."""
        world = episode.world
        if episode.seen:
            world = replace(world, view=episode.view)
        outcome = episode.outcome or UNFINISHED
        lab = in_lab(episode.instance)
        made = {"evidence_unique": float(certify.evidence_of(world.view).count == 1)} if lab else {}
        handed = Handed.of(episode.trace, episode.judged)
        found, labels = values(world, outcome, handed, made)
        score = Score(outcome, found, labels)
        return self.with_efficiency(episode, score) if lab else score

    def moves(self, name: str, instance: Instance, given: Sequence[Step] | None) -> Moves:
        """Start a reference agent."""
        world = self.world(instance)
        if name == "oracle":
            return strategies.oracle(world)
        budget = self.params(instance).budget if in_lab(instance) else 0
        state = strategies.AgentState(world.view, budget)
        return strategies.STRATEGIES[name](state, Stream("agent", name, instance.id), given)

    def bits_left(self, episode: ReplayEpisode) -> float:
        """Return log2 of the number of SCMs in the stated class that replay every world seen.

        In the laboratory this is the certificate's count, repeated at every step. In other suites
        the agent has no experiments and cannot reduce what is open, so the value is 0.
        """
        return certify.evidence_of(episode.view).bits if in_lab(episode.instance) else 0.0

    def look_alikes(self, instance: Instance) -> Iterator[Episode]:
        """Open the same view with other mechanisms and nothing held out."""
        world = self.world(instance)
        first = world.view.names[next(v for v, text in enumerate(world.formulas) if not text)]
        copies = tuple(first if text else "" for text in world.formulas)
        yield self.open_world(instance, replace(world, formulas=copies, heldout=(), facts=EMPTY))

    def truth(self, instance: Instance) -> Json:
        """Return the gold mechanisms, in their order, and the worlds held out, or the answer."""
        world = self.world(instance)
        names = world.view.names
        asked = world.view.asked is not None
        return {
            **({"answer": certify.right_answer(world.view)} if asked else {}),
            "mechanisms": {names[v]: text for v, text in enumerate(world.formulas) if text},
            "roots": [names[v] for v, text in enumerate(world.formulas) if not text],
            "heldout": [
                {"targets": table.targets, "mode": table.mode, "columns": list(table.columns)}
                for table in world.heldout
            ],
        }

    def covariates(self, instance: Instance) -> Record:
        """Return disclosure, evidence, open bits, and the shape of the gold SCM."""
        return covariates(self.world(instance))
