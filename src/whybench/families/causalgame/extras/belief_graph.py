"""Beliefs as a graph: an arrow from what is varied to what it changes.

The target of an arrow includes the sign and the condition ("more come back, in storms"), so a
belief with the wrong sign is a different arrow. Every golden claim is one arrow, and missing plus
extra arrows give the hypothesis distance.
"""

from __future__ import annotations

from collections.abc import Sequence

from whybench.episode.annotated import Arrow
from whybench.families.causalgame.claims import Belief, Sign, distance
from whybench.families.causalgame.drawn_claims import known_claims
from whybench.families.causalgame.world.world import World

AMOUNTS: dict[Sign, str] = {"raises": "more", "lowers": "fewer", "no_effect": "as many"}
CHANGES = {
    "survival": "come back",
    "detection": "are detected",
    "hit_count": "hits",
    "communication_failure": "lose the link",
}
CONDITIONS = {"storm": "in storms", "clear": "in clear weather"}
CAUSES = {"stage": "the fleet's conditions", "emi": "interference"}


def truth(world: World) -> tuple[Arrow, ...]:
    """Return the true belief graph of a hidden system."""
    return tuple(
        arrow(claim.beliefs[0], claim.id.replace("_", " "))
        for claim in known_claims(world)
        if claim.golden
    )


def believed(world: World, held: Sequence[Belief]) -> tuple[Arrow, ...]:
    """Return the arrows of beliefs; a belief that no claim covers has no arrow."""
    found = []
    for claim in known_claims(world):
        makes = [own for own in held if claim.made_by(own)]
        if makes:
            first = claim.beliefs[0] if claim.golden else makes[0]
            found.append(arrow(first, claim.id.replace("_", " ")))
    return tuple(found)


def told_of(world: World, held: Sequence[Belief]) -> tuple[str, ...]:
    """Describe in sentences which claims the last beliefs found, missed or got wrong."""
    known = known_claims(world)
    if not known:
        return ()
    off = distance(known, held)
    found = [c.statement for c in known if c.golden and c.id not in off.missing]
    missed = [c.statement for c in known if c.id in off.missing]
    fell = [c.statement for c in known if c.id in off.asserted]
    parts = (("Found", found), ("Missed", missed), ("Believed a false claim", fell))
    return tuple(f"{word}: {statement}" for word, those in parts for statement in those)


def arrow(belief: Belief, label: str = "") -> Arrow:
    """Return a belief as an arrow.

    >>> arrow(Belief("antenna_def", "survival", "lowers", "clear"))
    Arrow(cause='antenna armour', effect='fewer come back, in clear weather', label='')
    """
    effect = f"{AMOUNTS[belief.sign]} {CHANGES[belief.effect]}"
    if belief.when:
        effect += f", {CONDITIONS.get(belief.when, 'when ' + _plain(belief.when))}"
    return Arrow(_cause(belief.cause), effect, label)


def in_short(belief: Belief) -> str:
    """Return a belief as a phrase."""
    drawn = arrow(belief)
    return f"{drawn.cause} → {drawn.effect}"


def _cause(name: str) -> str:
    if name.endswith("_def"):
        return f"{_plain(name.removesuffix('_def'))} armour"
    lever, _, option = name.partition("=")
    return CAUSES.get(name) or (f"{_plain(lever)}: {_plain(option)}" if option else _plain(lever))


def _plain(name: str) -> str:
    return name.replace("_", " ").strip() or "?"
