"""Annotated episodes: the submitted graph beside the gold graph, over the document."""

from __future__ import annotations

from collections.abc import Sequence

from whybench.causal.canonical import Json, Record
from whybench.causal.graph import Graph
from whybench.episode.action import MALFORMED
from whybench.episode.annotated import (
    AnnotatedEpisode,
    Arrow,
    Moment,
    Passage,
    compared,
    counted,
    shortened,
)
from whybench.episode.episode import ANSWERED
from whybench.episode.instance import Instance
from whybench.episode.score import UNFINISHED
from whybench.episode.trace import Step, Trace
from whybench.families.recite.embedding import available
from whybench.families.recite.extras.belief import Belief, believed
from whybench.families.recite.family import ReCITE
from whybench.families.recite.proof import certify
from whybench.families.recite.rules import REPAIRED
from whybench.families.recite.world.world import Span, World

SHOWN = 24
"""Maximum number of names in one note; beyond it, only their number is given."""

SNIPPET = 90
"""Characters that are shown of a rejected reply."""

BY_LETTERS = (
    "Names are compared by their letters only, because the extra `embeddings` is not installed. "
    "The score may have matched more of them."
)

BY_OTHERS = "A published text: nobody has marked where, or whether, it gives each edge."


def annotated(family: ReCITE, instance: Instance, trace: Trace) -> AnnotatedEpisode:
    """Show the submitted graph and the result for every edge.

    For published texts, nobody knows where the text gives an edge.
    """
    episode = family.again(instance, trace)
    world, outcome = episode.world, episode.outcome or UNFINISHED
    answer = episode.answer if outcome == ANSWERED else None
    similarity = family.similarity(instance)
    ours = family.params(instance).data is None
    known = ours and certify.proof(world).right
    by_letters = similarity == "both" and world.view.names == "free" and not available()
    belief = None
    if answer is not None:
        belief = believed(world, answer, "lexical" if by_letters else similarity)
    bits = 0.0 if known else None
    truth = _truth(world)
    taken = next((k for k, step in enumerate(trace.steps) if not step.observation.is_error), None)
    return AnnotatedEpisode(
        verdict=_verdict(truth, belief, outcome, known),
        moments=tuple(
            _moment(world, step, place < trace.given, belief if place == taken else None, bits)
            for place, step in enumerate(trace.steps)
        ),
        nodes=tuple(node.name for node in world.nodes),
        truth=truth,
        sufficed=0 if known else None,
        notes=(
            *((BY_LETTERS,) if by_letters and belief is not None else ()),
            *(_notes(world, truth, belief) if belief is not None else ()),
            *(() if ours else (BY_OTHERS,)),
        ),
        text=world.view.text,
        passages=_passages(world),
    )


def _truth(world: World) -> tuple[Arrow, ...]:
    """Return the gold graph; a label says how the text gives an edge, if that is known."""
    statuses = ["" if edge.status == "unknown" else edge.status for edge in world.edges]
    pairs = zip(world.named(), statuses, strict=True)
    return tuple(Arrow(cause, effect, status) for (cause, effect), status in pairs)


def _passages(world: World) -> tuple[Passage, ...]:
    """Return each passage once, with all edges that it helps to give."""
    found: dict[Span, list[int]] = {}
    for place, edge in enumerate(world.edges):
        for span in edge.spans:
            found.setdefault(span, []).append(place)
    return tuple(Passage(*span, tuple(found[span])) for span in sorted(found))


# Steps.


def _moment(
    world: World, step: Step, given: bool, belief: Belief | None, bits: float | None
) -> Moment:
    action, seen = step.action, step.observation
    if seen.is_error or belief is None:
        reason = str(seen.data.get("reason", "the episode is over"))
        saw = f"rejected: {reason}" if seen.is_error else "accepted"
        return Moment(
            _tried(action.name, action.args), shortened(saw, 200), seen.is_error, given, bits
        )
    ends = {end for arrow in belief.arrows for end in (arrow.cause, arrow.effect)}
    did = f"submitted {counted(len(belief.arrows), 'edge')} between {counted(len(ends), 'node')}"
    if action.args.get(REPAIRED) is True:
        did += ", reformatted by a second model"
    marks = _marks(world, belief)
    return Moment(did, "accepted", False, given, bits, belief.arrows, marks)


def _tried(name: str, args: Record) -> str:
    if name == MALFORMED:
        return "sent something that is not an action"
    if name != "submit":
        return shortened(f"tried “{name}”, which is not an action here", SNIPPET)
    reply = args.get("answer")
    if not isinstance(reply, str):
        return "submitted something that is not a text"
    if not reply.strip():
        return "submitted an empty reply"
    return f"submitted a reply that begins “{shortened(reply, SNIPPET)}”"


def _marks(world: World, belief: Belief) -> Record:
    """Return the note of each node: its name in the answer, and how the text mentions it."""
    found: dict[str, Json] = {}
    for node in world.nodes:
        own = belief.meant.get(node.name, node.name)
        spoken = {"implicit": "only described", "absent": "not in the text"}
        said = [f"“{shortened(own, 60)}”"] if own != node.name else []
        said += [spoken[node.mention]] if node.mention in spoken else []
        if said:
            found[node.name] = ", ".join(said)
    return Record(found.items())


# Words.


def _verdict(truth: Sequence[Arrow], belief: Belief | None, outcome: str, known: bool) -> str:
    if belief is None:
        return f"No graph was submitted ({outcome.replace('_', ' ')})."
    kinds = [kind for _, kind in compared(truth, belief.arrows)]
    hits, handed = kinds.count("correct"), len(belief.arrows)
    if hits == handed == len(truth):
        warrant = ", which the text determines" if known else ""
        return f"The gold graph{warrant}: all {hits} edges and no other."
    if not handed:
        return f"A graph without edges; {len(truth)} edges are gold (edge F1 0.00)."
    f1 = 2 * hits / (handed + len(truth))
    said = (
        f"Found {hits} of {counted(len(truth), 'edge')} and submitted {handed - hits} that are "
        f"not gold (edge F1 {f1:.2f})"
    )
    return f"{said}{_blame(known)}."


def _blame(known: bool) -> str:
    """Return what caused the errors, if that is known."""
    if not known:
        return ""
    return ". The reading caused the errors: the text gives every edge that is wrong or missing"


def _notes(world: World, truth: Sequence[Arrow], belief: Belief) -> list[str]:
    """Return the results for nodes and edges."""
    found = [node.name for node in world.nodes if node.name in belief.meant]
    lost = [node.name for node in world.nodes if node.name not in belief.meant]
    other = [name if belief.meant[name] == name else f"{name} “{belief.meant[name]}”"
             for name in found]  # fmt: skip
    notes = [
        _list(f"Nodes found ({len(found)} of {len(world.nodes)})", other),
        _list("Gold nodes that the answer lacks", lost),
        _list("Names of the answer that match no gold node", belief.outside),
        *_by_status(truth, belief),
        *_by_knowledge(world, belief),
        *_astray(world, truth, belief),
    ]
    return [note for note in notes if note]


def _by_status(truth: Sequence[Arrow], belief: Belief) -> list[str]:
    held = {(arrow.cause, arrow.effect) for arrow in belief.arrows}
    told = []
    for status in ("stated", "implied", "derivable"):
        own = [arrow for arrow in truth if arrow.label == status]
        if own:
            hits = sum((arrow.cause, arrow.effect) in held for arrow in own)
            told.append(f"{hits} of {len(own)} {status}")
    return [f"Edges found: {', '.join(told)}."] if told else []


def _by_knowledge(world: World, belief: Belief) -> list[str]:
    """Return how many edges were found that common knowledge does not expect."""
    held = {(arrow.cause, arrow.effect) for arrow in belief.arrows}
    pairs = zip(world.edges, world.named(), strict=True)
    strange = [pair for edge, pair in pairs if edge.plausible is False]
    hits = sum(pair in held for pair in strange)
    return [f"Edges against common knowledge found: {hits} of {len(strange)}."] if strange else []


def _astray(world: World, truth: Sequence[Arrow], belief: Belief) -> list[str]:
    """Return how edges were missed and added."""
    listed = compared(truth, belief.arrows)
    turned = sum(kind == "reversed" for _, kind in listed)
    missed = [arrow for arrow, kind in listed if kind == "missing"]
    extra = [arrow for arrow, kind in listed if kind == "extra"]
    place = {node.name: v for v, node in enumerate(world.nodes)}
    reach = Graph.from_edges(len(place), world.pairs).reach()
    inside = [a for a in extra if a.cause in place and a.effect in place]
    over = sum(reach[place[a.cause]] >> place[a.effect] & 1 for a in inside)
    lacking = sum(not {a.cause, a.effect} <= belief.meant.keys() for a in missed)
    notes = [f"{counted(turned, 'edge')} reversed."] if turned else []
    if missed:
        notes.append(
            f"{counted(len(missed), 'edge')} missed: {lacking} because a node is missing, "
            f"{len(missed) - lacking} between nodes that were found."
        )
    if extra:
        notes.append(
            f"{counted(len(extra), 'extra edge')}: {over} from a cause to an indirect effect, "
            f"{len(extra) - len(inside)} with a node that is not gold."
        )
    return notes


def _list(title: str, names: Sequence[str]) -> str:
    if not names:
        return ""
    more = f" … and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f"{title}: {'; '.join(shortened(name, 80) for name in names[:SHOWN])}{more}."
