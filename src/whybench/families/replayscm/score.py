"""Score a submission against its hidden system, with pure functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whybench.causal.canonical import Record, freeze
from whybench.causal.graph import members
from whybench.episode.action import MALFORMED
from whybench.episode.episode import ANSWERED
from whybench.episode.score import ERROR_MODES, claims, declared_metrics
from whybench.episode.trace import Trace
from whybench.families.replayscm.alternative import Separation, candidate_of, experiment, separation
from whybench.families.replayscm.proof.certify import determined, right_answer
from whybench.families.replayscm.submission import STAGES, Candidate, Judged
from whybench.families.replayscm.world.replay import Agreement, replay
from whybench.families.replayscm.world.world import World

SLACKS = (0, 10, 25)
"""By how many nodes a submission may exceed the gold formulas in the paper's AST figures."""

NAMES = tuple(metric.name for metric in declared_metrics(__package__ or ""))
PROOF = ("understood", "lucky", "premature", "contradicted")
_BLANK: dict[str, float | None] = dict.fromkeys(NAMES)


@dataclass(frozen=True, slots=True)
class Handed:
    """The answers of an episode."""

    last: Judged | None
    """The validation of the last answer; None if no answer could be read."""
    attempts: int
    """Number of answers, including unreadable ones."""
    valid_first: bool
    strict: bool
    """Whether the last answer was one line of JSON and nothing else."""

    @classmethod
    def of(cls, trace: Trace, last: Judged | None) -> Handed:
        """Read the answers from a trace."""
        answers = [s for s in trace.steps[trace.given :] if s.action.name in ("submit", MALFORMED)]
        if not answers:
            return cls(None, 0, False, False)
        action = answers[-1].action
        text = action.args.get("answer")
        plain = isinstance(text, str) and "\n" not in text.strip() and action.form == "strict"
        readable = last is not None and last.passed("extracted")
        return cls(last, len(answers), not answers[0].observation.is_error, plain and readable)


def values(
    world: World, outcome: str, handed: Handed, laboratory: Mapping[str, float]
) -> tuple[Record, Record]:
    """Return the score's components and labels; `laboratory` holds the metrics of `lab`."""
    found = dict(_BLANK)
    found.update(laboratory)
    judged = handed.last
    for mode in ERROR_MODES:
        found[mode] = float(mode == outcome)
    for stage in STAGES:
        found[stage] = float(judged is not None and judged.passed(stage))
    found.update(
        coverage=float(handed.attempts > 0),
        strict_json=float(handed.strict),
        valid_first=float(handed.valid_first),
        retries=float(max(0, handed.attempts - 1)),
    )
    labels: dict[str, Any] = {"failed": None if judged is None else judged.failed}
    if world.view.asked is not None:
        _answered(world, judged, found)
        return Record(found.items()), freeze(labels | {"proof": None})
    if judged is not None and judged.candidate is not None:
        _executed(world, judged, judged.candidate, found, labels)
    else:
        found.update(dict.fromkeys(_REPLAYED, 0.0))
        if world.view.task == "alternative":
            found.update(dict.fromkeys(_ALTERNATIVE, 0.0))
    if world.view.disclosure == "roots":
        _roots(world, judged, found)
    found["solved"] = found[_headline(world, laboratory)]
    alternative = world.view.task == "alternative"
    found["right"] = found["joint_success" if alternative else "heldout_exact"]
    proof = None
    if judged is not None and judged.candidate is not None and outcome == ANSWERED:
        proof = _proof(world, found)
    found.update((name, float(name == proof)) for name in PROOF)
    labels["proof"] = proof
    return Record(found.items()), freeze(labels)


def _answered(world: World, judged: Judged | None, found: dict[str, float | None]) -> None:
    """Score the answer to a question about a cell.

    All evidence is given and no justification is asked for, so nothing tells an understood answer
    from a lucky one, and these metrics are None.
    """
    answer = None if judged is None else judged.answer
    said, gold = None if answer is None else answer["answer"], right_answer(world.view)
    found.update(solved=float(said == gold), **claims(said, gold))


def _headline(world: World, laboratory: Mapping[str, float]) -> str:
    """Return the metric that is always attainable, but not without doing the work."""
    if world.view.task == "alternative":
        return "joint_success"
    return "heldout_exact" if laboratory else "train_exact"


def _proof(world: World, found: Mapping[str, float | None]) -> str:
    """Return whether what was shown forces the answer, or what a wrong answer overlooks.

    All that is asked of an alternative follows from the reference and the worlds shown, so what
    was shown decides every such answer.
    """
    if world.view.task == "alternative":
        return "understood" if found["right"] else "contradicted"
    if not found["right"]:
        return "premature" if found["train_exact"] else "contradicted"
    return "understood" if determined(world) else "lucky"


_ALTERNATIVE = (
    "alt_success",
    "experiment_valid",
    "pair_separates",
    "witness_valid",
    "joint_success",
)
_REPLAYED = (
    "task_correct",
    "train_exact",
    "heldout_exact",
    "train_world_exact",
    "heldout_world_exact",
    "train_accuracy",
    "heldout_accuracy",
)
"""The metrics that are zero for an invalid submission, as the paper's text says."""


def _executed(
    world: World,
    judged: Judged,
    candidate: Candidate,
    found: dict[str, float | None],
    labels: dict[str, Any],
) -> None:
    train, held = replay(candidate, world.sheet)
    exact, held_exact = float(train.exact), float(train.exact and held.exact)
    found.update(
        task_correct=exact,
        train_exact=exact,
        heldout_exact=held_exact,
        train_world_exact=train.table_rate,
        heldout_world_exact=held.table_rate,
        train_accuracy=train.accuracy,
        heldout_accuracy=held.accuracy,
        train_exact_valid=exact,
        heldout_exact_valid=held_exact,
        train_world_exact_valid=train.table_rate,
        heldout_world_exact_valid=held.table_rate,
    )
    if train.exact:
        found.update(heldout_exact_if_train=held_exact, heldout_world_if_train=held.table_rate)
    _sizes(world, candidate, train, found)
    found["latent_match"] = 0.0
    if candidate.roots == world.gold.roots:
        _structure(world, candidate, found)
        found["latent_match"] = found["full_local_match"]
    if world.view.task == "alternative":
        _alternative(world, judged, candidate, train, found, labels)


def _sizes(
    world: World, candidate: Candidate, train: Agreement, found: dict[str, float | None]
) -> None:
    size, standard = candidate.size, candidate_of(world.formulas).size
    excess = size - standard
    found["ast_size"], found["gold_ast_size"] = float(size), float(standard)
    found["ast_excess"] = float(excess)
    for name, slack in _SLACKS:
        found[name] = float(train.exact and excess <= slack)
    found["bloat"] = float(train.exact and excess > SLACKS[-1])


_SLACKS = tuple((f"gold_plus_{slack}", slack) for slack in SLACKS)


def _structure(world: World, candidate: Candidate, found: dict[str, float | None]) -> None:
    gold = candidate_of(world.formulas)
    own = len(gold.order)
    parents = local = 0
    for v in gold.order:
        if gold.tables[v] == candidate.tables[v]:
            local += 1
            parents += 1
        elif gold.parents[v] == candidate.parents[v]:
            parents += 1
    found.update(compared(gold.parents, candidate.parents))
    found["parent_exact"], found["parent_map_exact"] = parents / own, float(parents == own)
    found["local_match"], found["full_local_match"] = local / own, float(local == own)
    if parents == own:
        found["train_exact_if_map"] = found["train_exact"]
        found["heldout_exact_if_map"] = found["heldout_exact"]


def compared(truth: Sequence[int], guess: Sequence[int]) -> dict[str, float]:
    """Return recall, F1 and SHD of parent sets, as `causal.structure` does, on sets as integers."""
    true = said = hits = turned = 0
    for v, (right, given) in enumerate(zip(truth, guess, strict=True)):
        true += right.bit_count()
        said += given.bit_count()
        if right == given:
            hits += right.bit_count()
            continue
        hits += (right & given).bit_count()
        for u in members(right & ~given):
            turned += guess[u] >> v & 1 and not truth[u] >> v & 1
    return {
        "parent_recall": hits / true if true else float(not said),
        "parent_f1": 2 * hits / (true + said) if true or said else 1.0,
        "parent_shd": float(true + said - 2 * hits - turned),
    }


def _roots(world: World, judged: Judged | None, found: dict[str, float | None]) -> None:
    """Score the roots as soon as they are well formed, even if the mechanisms are invalid."""
    named = None if judged is None else judged.roots
    truth = world.gold.roots
    right = 0 if named is None else (named & truth).bit_count()
    exact = named == truth
    found.update(
        root_set_exact=float(exact),
        root_precision=right / named.bit_count() if named else 0.0,
        root_recall=right / truth.bit_count(),
        mechanism_train_exact=found["train_exact"],
        mechanism_heldout_exact=found["heldout_exact"],
        task_correct=float(exact and bool(found["train_exact"])),
    )
    if exact:
        found.update(
            train_exact_if_roots=found["train_exact"],
            heldout_world_if_roots=found["heldout_world_exact"],
            heldout_exact_if_roots=found["heldout_exact"],
        )


def _alternative(
    world: World,
    judged: Judged,
    candidate: Candidate,
    train: Agreement,
    found: dict[str, float | None],
    labels: dict[str, Any],
) -> None:
    """Score an alternative; experiment and witness count only if the alternative succeeds."""
    reference = candidate_of(world.view.reference)
    edited = [v for v in reference.order if reference.tables[v] != candidate.tables[v]]
    success = train.exact and bool(edited)
    answer = judged.answer or {}
    told = Separation(experiment(world.view.n, answer.get("experiment")) is not None)
    if success:
        told = separation(world.view.n, reference, candidate, answer)
    joint = success and told.experiment_valid and told.separates and told.witness_valid
    found.update(
        alt_success=float(success),
        experiment_valid=float(told.experiment_valid),
        pair_separates=float(told.separates),
        witness_valid=float(told.witness_valid),
        joint_success=float(joint),
        task_correct=float(joint),
        experiment_optimality=told.optimality,
        pair_disagreement=told.pair_rate,
        cell_difference=told.cell_rate,
        edited_variables=float(len(edited)),
    )
    if success:
        _edits(world, reference, candidate, edited, labels)


def _edits(
    world: World,
    reference: Candidate,
    candidate: Candidate,
    edited: list[int],
    labels: dict[str, Any],
) -> None:
    """Label the edits by depth in the reference, and count the variables at each depth."""
    depth = [0] * world.view.n
    for v in reference.order:
        depth[v] = 1 + max((depth[u] for u in members(reference.parents[v])), default=0)
    labels["edits"] = [
        {
            "variable": world.view.names[v],
            "depth": depth[v],
            "same_parents": reference.parents[v] == candidate.parents[v],
        }
        for v in edited
    ]
    counts: dict[str, int] = {}
    for v in reference.order:
        counts[str(depth[v])] = counts.get(str(depth[v]), 0) + 1
    labels["depths"] = counts
