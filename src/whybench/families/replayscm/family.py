"""The family's face: every room of this folder behind the one protocol."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from whybench.core.canonical import EMPTY, Json, Record, freeze
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
from whybench.families.replayscm import agents, bits, certify, renaming
from whybench.families.replayscm.check import UNCHECKED, flaws
from whybench.families.replayscm.dialogue import Dialogue
from whybench.families.replayscm.lab import Lab
from whybench.families.replayscm.params import FAMILY, POOLS, Knobs
from whybench.families.replayscm.pools import discarded, source
from whybench.families.replayscm.released import problems
from whybench.families.replayscm.retell import retelling
from whybench.families.replayscm.rules import ReplayEpisode
from whybench.families.replayscm.score import METRICS, Handed, values
from whybench.families.replayscm.source import told_of
from whybench.families.replayscm.traits import traits
from whybench.families.replayscm.world import View, World


class ReplaySCM(Family[World]):
    """Binary worlds under interventions; the answer is a mechanism for every variable."""

    name = FAMILY
    knobs: Mapping[str, str] = {k: f.description or "" for k, f in Knobs.model_fields.items()}
    metrics = METRICS
    unchecked = UNCHECKED

    def validated(
        self, suite: str, profile: Profile, knobs: Mapping[str, Any]
    ) -> tuple[Record, int]:
        """Check knobs; keep those that differ from their defaults."""
        checked = self.checked(Knobs, knobs)
        turned = checked.model_dump(exclude_defaults=True)
        if "budget" in turned and suite != "lab":
            raise ValueError(f"knob `budget` belongs to {self.name}/lab")
        if checked.data is not None and profile != "published":
            raise ValueError("knob `data` belongs to profile `published`")
        size = POOLS[suite].size
        if checked.data is not None:
            size = len(problems(Path(checked.data), suite))
        return self.knob_record(turned), size

    def world(self, instance: Instance) -> World:
        """Rebuild the hidden world."""
        return _world(
            instance.suite, instance.profile, instance.seed, instance.index, instance.knobs
        )

    def content(self, world: World) -> Json:
        """Return what is told, the mechanisms, and every world."""
        view = world.view
        tables = [
            [table.targets, table.mode, table.size, table.columns]
            for table in (*view.train, *world.heldout)
        ]
        told = [view.task, view.disclosure, view.told.k, view.display, view.order, view.blocks]
        return [told, view.reference, world.formulas, len(view.train), tables]

    def latent(self, world: World) -> Json:
        """Return the name of the gold SCM: problems made from the same one are one cluster."""
        return world.latent

    def system(self, world: World) -> Json:
        """Return the gold mechanisms up to renaming; functions count, not their spelling."""
        return renaming.system(world.gold)

    def problem(self, world: World) -> Json:
        """Return mechanisms, what is told and asked, and every world, up to renaming."""
        return renaming.problem(world)

    def discarded(self, instance: Instance) -> Record:
        """Return what was drawn and thrown away before: SCMs, and draws of an SCM's worlds.

        Shipped records do not know, so those are made again; released problems were not drawn here.
        """
        if _knobs(instance.knobs).data is not None:
            return EMPTY
        return discarded(*_place(instance.suite, instance.seed, instance.index))

    def check(self, instance: Instance, certificate: Certificate) -> list[str]:
        """Check a certificate by another count of what fits, and other replays."""
        return flaws(instance, self.world(instance), certificate, lambda: self.open(instance))

    def open_world(self, instance: Instance, world: World) -> ReplayEpisode:
        """Start an episode."""
        knobs = _knobs(instance.knobs)
        lab = _lab(instance, knobs.budget) if POOLS[instance.suite].worlds == "lab" else None
        return ReplayEpisode(instance, world, knobs.max_errors, lab)

    def certify(self, instance: Instance) -> Certificate:
        """Prove an instance: count what fits, and let the exact agent show what can be reached."""
        trace = self.exact_run(instance)
        episode = self.reopened(instance, trace.actions, trace.given, trace.evidence)
        if not isinstance(episode, ReplayEpisode):
            raise ValueError("this is not an episode of replayscm")
        reached = self.score(instance, trace)
        world = self.world(instance)
        if episode.lab is not None:
            world = replace(world, view=episode.view)
        evidence = certify.evidence_of(world.view)
        experiments = len(self.experiments(trace))
        identified = evidence.count == 1
        facts = certify.facts(world, evidence)
        if episode.lab is not None:
            settings = tuple(step.args["setting"] for step in self.experiments(trace))
            facts = Record([*facts, ("exact_worlds", settings)])
        return Certificate(
            instance=instance.id,
            hypotheses=certify.hypotheses(world.view),
            solvable=reached.values["solved"] == 1.0 and (identified or episode.lab is None),
            identified=identified,
            best_score=reached.values["solved"],
            fewest=certify.fewest_experiments(self.world(instance)) if episode.lab else 0,
            exact_steps=experiments,
            bits=evidence.bits,
            witness=None if identified else freeze(certify.witness(world, evidence)),
            facts=facts,
        )

    def score(self, instance: Instance, trace: Trace) -> Score:
        """Replay a trace's actions on the rebuilt world and score what was handed in."""
        if trace.instance != instance.id:
            raise ValueError(f"this is a trace of {trace.instance}, not of {instance.id}")
        episode = self.reopened(instance, trace.actions, trace.given, trace.evidence)
        if not isinstance(episode, ReplayEpisode):
            raise ValueError("this is not an episode of replayscm")
        world = episode.world
        if episode.seen:
            world = replace(world, view=episode.view)
        outcome = episode.outcome or UNFINISHED
        lab = POOLS[instance.suite].worlds == "lab"
        made = _experimented(self, episode, world) if lab else {}
        handed = Handed.of(episode.trace, episode.judged)
        found, labels = values(world, outcome, handed, made)
        return Score(outcome, found, labels)

    def agent(self, name: str, instance: Instance, given: Sequence[Step] | None = None) -> Moves:
        """Start a reference agent."""
        world = self.world(instance)
        if name == "oracle":
            return agents.oracle(world)
        if name not in agents.STRATEGIES:
            raise ValueError(f"{self.name} has no agent {name!r}: try {', '.join(self.agents)}")
        lab = POOLS[instance.suite].worlds == "lab"
        seat = agents.Seat(world.view, _knobs(instance.knobs).budget if lab else 0)
        return agents.STRATEGIES[name](seat, Stream("agent", name, instance.id), given)

    def submission(self, answer: Json) -> tuple[Action, ...]:
        """Hand in an answer, an object or its JSON text."""
        text = answer if isinstance(answer, str) else json.dumps(answer)
        return (Action.of(self.final_action, answer=text),)

    def conversation(self, episode: Episode, skin: str) -> Conversation:
        """Tell an episode as one question, or in the laboratory as a dialogue."""
        if not isinstance(episode, ReplayEpisode):
            raise ValueError("this is not an episode of replayscm")
        return Dialogue(episode, skin)

    def bits_left(self, episode: Episode) -> float:
        """Return what the evidence so far leaves open, in bits; see `bits`."""
        if not isinstance(episode, ReplayEpisode):
            raise ValueError("this is not an episode of replayscm")
        return bits.bits_left(episode)

    def rivals(self, instance: Instance) -> Iterator[Episode]:
        """Open the same view with other mechanisms and nothing held out."""
        world = self.world(instance)
        first = world.view.names[next(v for v, text in enumerate(world.formulas) if not text)]
        copies = tuple(first if text else "" for text in world.formulas)
        yield self.open_world(instance, replace(world, formulas=copies, heldout=(), facts=EMPTY))

    def truth(self, instance: Instance) -> Json:
        """Return the gold mechanisms, in their order, and the worlds held out."""
        world = self.world(instance)
        names = world.view.names
        return {
            "mechanisms": {names[v]: text for v, text in enumerate(world.formulas) if text},
            "roots": [names[v] for v, text in enumerate(world.formulas) if not text],
            "heldout": [
                {"targets": table.targets, "mode": table.mode, "columns": list(table.columns)}
                for table in world.heldout
            ],
        }

    def traits(self, instance: Instance) -> Record:
        """Return what is told, shown and left open, and the shape of the gold SCM."""
        return traits(self.world(instance))

    def retell(self, instance: Instance, trace: Trace) -> Retelling:
        """Tell an episode again: what each world leaves open, and what contradicts the answer."""
        return retelling(self.open_world(instance, self.world(instance)), trace)


@lru_cache(maxsize=1024)
def _world(suite: str, profile: Profile, seed: str, index: int, turned: Record) -> World:
    """Rebuild a world; a pure function, so the latest ones are kept."""
    knobs = _knobs(turned)
    if knobs.data is not None:
        return problems(Path(knobs.data), suite)[index]
    pool = POOLS[suite]
    shown = "base" if pool.worlds == "full" else pool.worlds
    found = source(*_place(suite, seed, index), shown)
    latent = found.latent
    released = profile == "published" and pool.worlds != "lab"  # the release has none
    told = told_of(latent, pool.disclosure, found.blocks)
    if released:
        told = replace(told, k=latent.n - 1)
    train = found.worlds[shown]
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
    )
    if pool.worlds != "lab":
        return World(view, latent.formulas, found.heldout, latent.name, found.facts(train))
    luck = Stream(FAMILY, "lab", seed, index, "luck").word()
    experiments = (knobs.budget, luck)
    return World(view, latent.formulas, found.heldout, latent.name, experiments=experiments)


def _place(suite: str, seed: str, index: int) -> tuple[str, str, int]:
    """Return source, seed and index of an instance: full pools begin with the matched ones."""
    pool, matched = POOLS[suite], POOLS["hid_roots"].size
    if pool.worlds != "full":
        return pool.source, seed, index
    if index < matched:
        return "match", seed, index
    return pool.source, seed, index - matched


def _lab(instance: Instance, budget: int) -> Lab:
    """Return the laboratory of an instance."""
    kind, seed, index = _place(instance.suite, instance.seed, instance.index)
    return Lab(source(kind, seed, index, "lab").latent, (FAMILY, "lab", seed, index), budget)


@lru_cache(maxsize=64)
def _knobs(record: Record) -> Knobs:
    return Knobs(**record.asdict())


def _experimented(family: ReplaySCM, episode: ReplayEpisode, world: World) -> dict[str, float]:
    """Return what the laboratory knows of an episode."""
    made = len(episode.seen) - episode.given
    unique = certify.evidence_of(world.view).count == 1
    found = {"experiments": float(made), "evidence_unique": float(unique)}
    if episode.evidence == "own" and unique and episode.outcome == ANSWERED:
        found["experiment_regret"] = float(
            made - len(family.experiments(family.exact_run(episode.instance)))
        )
    return found
