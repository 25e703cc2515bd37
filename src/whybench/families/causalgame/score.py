"""Score an episode; a pure function of the hidden system and the trace."""

from __future__ import annotations

from whybench.causal.canonical import Json, Record
from whybench.episode.episode import (
    ANSWERED,
    INVALID_ACTION,
    INVALID_ANSWER,
    INVALID_FORMAT,
    TIMEOUT,
)
from whybench.episode.score import UNFINISHED, Score, declared_metrics
from whybench.families.causalgame.claims import Claim, distance
from whybench.families.causalgame.drawn_claims import known_claims
from whybench.families.causalgame.episode import DroneEpisode
from whybench.families.causalgame.proof.established import LABELS, UNKNOWN, label
from whybench.families.causalgame.report_checks import Outcome, Report, checked

UNREPORTED = "unreported"
"""The outcome of an episode whose fleet flew but that has no report."""

LEAST_SPREAD = 0.01
"""If the best design is not better than the default by more than this, regret is None."""

METRICS = declared_metrics(__package__ or "")


def score(episode: DroneEpisode, best: float, default: float) -> Score:
    """Score an episode; `best` and `default` are the survival of these designs with its fleet."""
    rate = episode.survival_rate
    outcome = outcome_of(episode)
    regret = None
    if rate is not None and best - default > LEAST_SPREAD and within_limits(episode):
        regret = (best - rate) / (best - default)
    said = label(episode)
    values: dict[str, Json] = {
        "win": float(episode.won),
        "survival_rate": 0.0 if rate is None else rate,
        "survival_regret": regret,
        **{name: None if said == UNKNOWN else float(name == said) for name in LABELS},
        "deploys": len(episode.batches),
        "drones_used": episode.view.drones - episode.drones,
        "questions_asked": episode.view.queries - episode.questions,
    }
    values |= believed(episode) | {"numbers_faithful": faithful(episode)}
    modes = (UNREPORTED, INVALID_FORMAT, INVALID_ACTION, INVALID_ANSWER, TIMEOUT, UNFINISHED)
    values |= {mode: float(outcome == mode) for mode in modes}
    return Score(
        outcome, Record(values.items()), Record.of(distances=distances(episode), proof=said)
    )


def believed(episode: DroneEpisode) -> dict[str, Json]:
    """Score the last beliefs; None without recorded beliefs or without claims."""
    known = claims_about(episode)
    if not known or not episode.beliefs:
        return dict.fromkeys(("hypothesis_distance", "golden_found", "distractors_held"))
    golden = sum(claim.golden for claim in known)
    found = distance(known, episode.beliefs[-1][1])
    return {
        "hypothesis_distance": found.total,
        "golden_found": 1 - len(found.missing) / golden,
        "distractors_held": len(found.asserted) / (len(known) - golden),
    }


def distances(episode: DroneEpisode) -> tuple[tuple[int, int], ...]:
    """Return the distance of each record of beliefs, with the number of deployments before it."""
    known = claims_about(episode)
    if not known:
        return ()
    return tuple((made, distance(known, held).total) for made, held in episode.beliefs)


def claims_about(episode: DroneEpisode) -> tuple[Claim, ...]:
    """Return the claims about a hidden system."""
    return known_claims(episode.world)


def reported(episode: DroneEpisode) -> tuple[Report, Outcome] | None:
    """Return an episode's report and how it really ended; None if there is no report."""
    if episode.report is None or episode.survival_rate is None:
        return None
    view = episode.view
    return (
        Report(**episode.report.asdict()),
        Outcome(episode.won, episode.survival_rate, view.threshold, view.fleet_size),
    )


def faithful(episode: DroneEpisode) -> float | None:
    """Tell whether no figure in the report contradicts the episode."""
    told = reported(episode)
    return None if told is None else float(not checked(*told).wrong)


def within_limits(episode: DroneEpisode) -> bool:
    """Tell whether the fleet's design is within ranges and budget; the release never checks."""
    built, view = episode.submitted, episode.view
    low, high = view.def_range
    return built is not None and (
        built.total <= view.total_def_budget and all(low <= value <= high for value in built.defs)
    )


def outcome_of(episode: DroneEpisode) -> str:
    """Return how an episode ended; once the fleet has flown, the result counts."""
    if episode.submitted is not None:
        return ANSWERED if episode.report is not None else UNREPORTED
    return episode.outcome or UNFINISHED
