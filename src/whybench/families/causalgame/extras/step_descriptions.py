"""Steps in words: what was done, and what was seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from whybench.causal.canonical import Record
from whybench.episode.action import MALFORMED
from whybench.episode.annotated import shortened
from whybench.episode.trace import Step
from whybench.families.causalgame.claims import Belief
from whybench.families.causalgame.extras.belief_graph import in_short
from whybench.families.causalgame.prompts.wording import listed, percent
from whybench.families.causalgame.proof.certify import default_design
from whybench.families.causalgame.world.design import Design
from whybench.families.causalgame.world.world import World

MOST = 8
"""So many pieces of equipment are named; the released rules took any."""

SHOWN = 3
"""Number of beliefs that are named in one step."""


def share_of(data: Record) -> float | None:
    """Return the share that returned, of a deployment or of the fleet."""
    count = data.get("deployed") or data.get("fleet_size")
    survived = data.get("survived")
    return survived / count if count and isinstance(survived, int) else None


# What was done.


def did(world: World, step: Step, design: Design | None, held: Sequence[Belief]) -> str:
    """Return what a step did; `held` are the beliefs recorded with it."""
    args = step.action.args
    if step.action.name == MALFORMED:
        return "sent an unreadable request"
    if step.action.name == "query_environment":
        return f"asked: {shortened(args.get('question'))}"
    if step.action.name == "report":
        told = f"reported: {shortened(args.get('conclusion'))}"
    elif step.action.name == "deploy":
        count = step.observation.data.get("deployed") or args.get("count")
        told = f"flew {shortened(count)} × {built_of(world, design)}"
    elif step.action.name == "submit":
        told = f"submitted {built_of(world, design)}"
    else:
        told = _LOOKS.get(step.action.name, f"asked for {shortened(step.action.name)}")
    if held:
        more = "; …" if len(held) > SHOWN else ""
        told += f". Believes: {'; '.join(map(in_short, held[:SHOWN]))}{more}"
    return told


_LOOKS = {
    "get_status": "looked at the budgets",
    "get_history": "read the records of flights",
    "get_environments": "looked at the environments of the flights",
    "get_action_space": "looked at the action space",
}


def built_of(world: World, built: Design | None) -> str:
    """Describe a design by its differences from the default."""
    if built is None:
        return "an invalid design"
    usual = default_design(world.physics)
    pairs = zip(world.physics.sheet.names, built.defs, usual.defs, strict=True)
    changed = [f"{name} {value}" for name, value, before in pairs if value != before]
    changed += [f"{shortened(slot)} {shortened(choice)}" for slot, choice in built.equipment[:MOST]]
    changed += ["…"] * (len(built.equipment) > MOST)
    return f"the default with {listed(changed)}" if changed else "the default design"


# What came of it.


def saw(step: Step) -> str:
    """Return what a step showed."""
    data = step.observation.data
    if step.observation.is_error:
        return f"rejected: {shortened(data.get('reason') or step.observation.code)}"
    teller = _SAW.get(step.action.name)
    return teller(data) if teller else "done"


def _deployed(data: Record) -> str:
    count, survived, share = data.get("deployed"), data.get("survived"), share_of(data)
    if share is None:
        shown = len((data.get("results") or {}).get("rows", ()))
        return f"{shown} records; the survivors were not counted"
    hits = data.get("average_hit_count")
    return f"{survived} of {count} returned ({percent(share)}), {hits} hits each on average"


def _flown(data: Record) -> str:
    share, bar = data.get("survival_rate"), data.get("victory_threshold")
    if share is None or bar is None:
        return "the fleet flew"
    said = "won" if data.get("won") else "lost"
    survived, size = data.get("survived"), data.get("fleet_size")
    return (
        f"{survived:,} of {size:,} returned ({percent(share)}); {said}, the bar is {percent(bar)}"
    )


def _asked(data: Record) -> str:
    if data.get("variable") is None:
        return "no variable matches the question"
    again = "" if data.get("new") else " (known before)"
    return f"measured from now on{again}: {data['variable']}, {shortened(data.get('meaning'))}"


def _recorded(data: Record) -> str:
    table = data.get("records") or Record()
    rows, columns = table.get("rows", ()), table.get("columns", ())
    told = f"{len(rows)} records"
    if "status" in columns:
        place = columns.index("status")
        back = sum(row[place] == "RETURNED" for row in rows)
        told += (
            f" of {len(data.get('designs', ()))} designs, {back} of them of drones that returned"
        )
    return told


def _status(data: Record) -> str:
    drones, deploys = data.get("drones_remaining"), data.get("deployments_remaining")
    return f"{drones} drones and {deploys} deployments left, {data.get('records')} records"


def _space(data: Record) -> str:
    parts, slots = data.get("design", ()), data.get("equipment", ())
    told = f"{len(parts)} components, {data.get('total_def_budget')} DEF in all"
    return told + (f"; slots: {listed([slot['slot'] for slot in slots])}" if slots else "")


_SAW: dict[str, Callable[[Record], str]] = {
    "deploy": _deployed,
    "submit": _flown,
    "query_environment": _asked,
    "get_history": _recorded,
    "get_environments": _recorded,
    "get_status": _status,
    "get_action_space": _space,
    "report": lambda _: "the episode ended",
}
