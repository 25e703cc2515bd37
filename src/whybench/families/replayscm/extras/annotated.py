"""An annotated episode: what was seen, what it left open, and what contradicts the answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from whybench.causal.canonical import EMPTY, Record
from whybench.causal.graph import members
from whybench.episode.action import MALFORMED, Action
from whybench.episode.annotated import (
    AnnotatedEpisode,
    Arrow,
    Moment,
    arrows,
    counted,
    in_words,
    shortened,
)
from whybench.episode.episode import ANSWERED
from whybench.episode.instance import Instance
from whybench.episode.observation import Observation
from whybench.episode.score import UNFINISHED
from whybench.episode.trace import Trace
from whybench.families.replayscm.alternative import candidate_of
from whybench.families.replayscm.covariates import open_bits
from whybench.families.replayscm.family import ReplaySCM
from whybench.families.replayscm.proof.certify import right_answer
from whybench.families.replayscm.proof.contradiction import Contradiction, first_contradiction
from whybench.families.replayscm.rules import ReplayEpisode
from whybench.families.replayscm.score import Handed, values
from whybench.families.replayscm.submission import Judged
from whybench.families.replayscm.world.replay import mismatches, replay
from whybench.families.replayscm.world.world import Table, World


def annotated(family: ReplaySCM, instance: Instance, trace: Trace) -> AnnotatedEpisode:
    """Annotate a trace: replay it, and count how many models each world leaves open."""
    episode = family.open_world(instance, family.world(instance))
    moments: list[Moment] = []
    judged: Judged | None = None
    told = episode.view.told
    bits = before = open_bits(told, episode.view.train)
    sufficed = 0 if bits == 0 and episode.view.task == "induce" else None
    for place, action in enumerate(trace.actions):
        if trace.evidence != "own" and place == trace.given:
            episode.given, episode.evidence = place, trace.evidence
        known = len(episode.seen)
        observation = episode.step(action)
        if len(episode.seen) > known:
            before, bits = bits, open_bits(told, episode.view.train)
            if bits == 0 and sufficed is None:
                sufficed = place + 1
        moment = _moment(episode, action, observation, (before, bits))
        moments.append(replace(moment, given=place < trace.given, bits=bits))
        if action.name == "submit":
            judged = episode.judged
    world = replace(episode.world, view=episode.view)
    return AnnotatedEpisode(
        verdict=_verdict(episode, world, judged, bits),
        moments=tuple(moments),
        nodes=world.view.names,
        truth=_arrows(world, world.gold.parents),
        sufficed=sufficed,
        notes=tuple(_notes(world, judged, bits)),
    )


def _arrows(world: World, parents: Sequence[int]) -> tuple[Arrow, ...]:
    pairs = ((u, v) for v, mask in enumerate(parents) for u in members(mask))
    return arrows(world.view.names, pairs)


# Moments.


def _moment(
    episode: ReplayEpisode,
    action: Action,
    observation: Observation,
    bits: tuple[float | None, float | None],
) -> Moment:
    reason = shortened(observation.data.get("reason", "the episode had ended"))
    if action.name == "submit":
        return _submitted(episode, observation, reason)
    if action.name == MALFORMED:
        return Moment("wrote a reply that could not be read", f"rejected: {reason}", error=True)
    if observation.is_error:
        return Moment(f"tried: {shortened(in_words(action))}", f"rejected: {reason}", error=True)
    table = episode.seen[-1]
    names = episode.view.names
    set_to = [(names[v], _setting(table, v)) for v in members(table.targets)]
    did = "set " + ", ".join(f"{name} {how}" for name, how in set_to)
    return Moment(
        shortened(did) if set_to else "observed without an intervention",
        f"{counted(table.size, 'row')}: {_gain(*bits)}",
        marks=Record((name, f"set {how}") for name, how in set_to),
    )


def _setting(table: Table, v: int) -> str:
    column = table.columns[v]
    if column in (0, (1 << table.size) - 1):
        return f"to {column & 1}"
    return f"row by row ({format(column, f'0{table.size}b')[::-1]})"


def _gain(before: float | None, after: float | None) -> str:
    if before is None or after is None:
        return "what they leave open was not counted"
    if after == 0:
        return "one model is left" if before else "nothing new; one model was already left"
    taken = "no bits" if before == after else f"{before - after:.1f} bits"
    return f"they remove {taken} and leave {after:.1f} bits open"


def _submitted(episode: ReplayEpisode, observation: Observation, reason: str) -> Moment:
    judged = episode.judged
    said = _said(judged)
    if said is not None:
        return Moment(f"answered {said}", "accepted; the episode ends")
    if observation.is_error or judged is None or judged.candidate is None:
        stage = observation.data.get("stage")
        where = f" at stage `{stage}`" if stage else ""
        return Moment("submitted an answer", f"rejected{where}: {reason}", error=True)
    world = replace(episode.world, view=episode.view)
    wrong = mismatches(judged.candidate, world.sheet)
    names = world.view.names
    marks = [
        (names[v], f"wrong in {counted(rows.bit_count(), 'row')}") if rows else (names[v], "right")
        for v, rows in enumerate(wrong)
        if judged.candidate.formulas[v] is not None
    ]
    return Moment(
        shortened(f"submitted {_mechanisms(judged)}"),
        "accepted; the episode ends",
        arrows=_arrows(world, judged.candidate.parents),
        belief_marks=Record(marks) if marks else EMPTY,
    )


def _said(judged: Judged | None) -> str | None:
    """Return the answer to a question about a cell."""
    answer = None if judged is None else judged.answer
    return None if answer is None else answer.get("answer")


def _mechanisms(judged: Judged) -> str:
    answer = judged.answer or {}
    scm = answer.get("alternative", answer)
    return "; ".join(f"{name} = {text}" for name, text in scm["mechanisms"].items())


# The verdict.


def _verdict(
    episode: ReplayEpisode, world: World, judged: Judged | None, bits: float | None
) -> str:
    said = _said(judged)
    if said is not None and world.view.asked is not None:
        name, gold = world.view.names[world.view.asked.variable], right_answer(world.view)
        shown = {
            "yes": f"all SCMs that fit give {name} the value 1",
            "no": f"all SCMs that fit give {name} the value 0",
            "cannot": f"some SCMs that fit give {name} the value 1, others the value 0",
        }[gold]
        return f"Right: {shown}." if said == gold else f"Wrong: it said {said}, but {shown}."
    if episode.outcome != ANSWERED or judged is None or judged.candidate is None:
        why = "nothing was submitted"
        if judged is not None and judged.failed is not None:
            why = f"the last answer failed at stage `{judged.failed}`"
        return f"No valid answer ({episode.outcome or UNFINISHED}): {why}."
    found, _ = values(world, ANSWERED, Handed.of(episode.trace, judged), {})
    if world.view.task == "alternative":
        return _alternative_verdict(found)
    lab = bool(episode.seen) or episode.lab is not None
    left = _left(bits)
    if not found["train_exact"]:
        if lab and bits and not episode.given:
            return (
                f"Wrong because of bad experiments and bad inference: the rows leave {left}, "
                "and the answer contradicts some of them."
            )
        return "Wrong because of bad inference: the answer contradicts rows that were shown."
    if not found["heldout_exact"]:
        chance = "bad experiments" if lab else "what was never shown"
        if episode.given:
            chance = "the experiments that it was given"
        return (
            f"Wrong because of {chance}: the answer fits every row shown, but these leave {left}."
        )
    if found["latent_match"]:
        if bits == 0:
            return "Right and understood: this is the true SCM, the only one that fits."
        if found["understood"]:
            return (
                "Right and understood: this is the true SCM, and all SCMs that fit agree with it "
                "on held-out rows."
            )
        return f"Right by luck: this is the true SCM, though the rows leave {left}."
    if world.view.disclosure == "roots" and not found["root_set_exact"]:
        return "The answer replays every row, including held-out rows, but from the wrong roots."
    return "The answer replays every row, including held-out rows, but it is not the true SCM."


def _alternative_verdict(found: Record) -> str:
    if found["joint_success"]:
        return "Right: another SCM that fits, an experiment that separates the two, and a witness."
    if not found["train_exact"]:
        return "Wrong: the alternative contradicts rows that were shown."
    if not found["alt_success"]:
        return "Wrong: the alternative is the reference, written in another way."
    if not found["experiment_valid"]:
        return "Half right: another SCM that fits, but the experiment does not set one variable."
    if not found["pair_separates"]:
        return "Half right: another SCM that fits, but the experiment cannot separate the two."
    return "Half right: the SCM and the experiment are right, but the witness shows no difference."


def _left(bits: float | None) -> str:
    if bits is None:
        return "several models open (they were not counted)"
    return "one model" if bits == 0 else f"{bits:.1f} bits open ({_count(bits)} models fit)"


def _count(bits: float) -> str:
    return f"{round(2**bits):,}" if bits < 20 else f"2^{bits:.0f}"


# Notes.


def _notes(world: World, judged: Judged | None, bits: float | None) -> Iterator[str]:
    view, names = world.view, world.view.names
    rows = sum(table.size for table in view.train)
    shown = f"{counted(len(view.train), 'training world')} with {counted(rows, 'row')}"
    yield f"The agent saw {shown}. They leave {_left(bits)}."
    candidate = None if judged is None else judged.candidate
    if candidate is not None:
        yield _contradicted(world, first_contradiction(candidate, world))
        train, held = replay(candidate, world.sheet)
        yield (
            f"Replayed correctly: {train.right} of {train.cells} training cells, "
            f"{held.right} of {held.cells} held-out cells."
        )
        if candidate.roots != world.gold.roots:
            said = ", ".join(names[v] for v in members(candidate.roots))
            true = ", ".join(names[v] for v in members(world.gold.roots))
            yield f"The answer names the roots {said}; the true roots are {true}."
        base = candidate_of(view.reference) if view.reference else None
        if base is not None:
            edits = [names[v] for v in base.order if base.tables[v] != candidate.tables[v]]
            yield f"The answer differs from the reference in {', '.join(edits) or 'nothing'}."
    yield (
        "Truth: " + "; ".join(f"{names[v]} = {t}" for v, t in enumerate(world.formulas) if t) + "."
    )


def _contradicted(world: World, found: Contradiction | None) -> str:
    if found is None:
        return "No row contradicts the answer, neither a row that was shown nor a held-out row."
    names = world.view.names
    split = "held-out" if found.heldout else "training"
    name = names[found.variable]
    says = f"the answer gives {name} = {found.predicted}, the row has {1 - found.predicted}"
    place = f"First contradicted by {split} world {found.world}, row {found.row}: {says}."
    if not found.pattern:
        return f"{place} {name} is a root."
    pattern = ", ".join(f"{names[u]} = {value}" for u, value in found.pattern)
    if not found.shown:
        return f"{place} No training row showed its true parents at {pattern}."
    verb = "" if found.heldout else ", including this row"
    also = ""
    if found.heldout:
        rows = counted(found.shown_believed, "training row")
        also = f" The parents in the answer had these values in {rows}."
    rows = counted(found.shown, "training row")
    return f"{place} {rows} showed its true parents at {pattern}{verb}.{also}"
