"""Beliefs as a graph: an arrow from what is varied to what it changes.

The target of an arrow includes the sign and the condition ("more come back, in storms"), so a
belief with the wrong sign is a different arrow. In scenarios, every golden claim is one arrow, and
missing plus extra arrows give the hypothesis distance. In generated systems, the formula is the
truth.
"""

from __future__ import annotations

from collections.abc import Sequence

from whybench.episode.annotated import Arrow
from whybench.families.causalgame.claims import Belief, Claim, Sign, claims, distance
from whybench.families.causalgame.world.physics.generated import Generated
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


def known_claims(world: World) -> tuple[Claim, ...]:
    """Return the claims about a hidden system; generated ones have none."""
    return () if world.best is not None else claims(world.rules.physics)


def truth(world: World) -> tuple[Arrow, ...]:
    """Return the true belief graph of a hidden system."""
    if isinstance(world.physics, Generated):
        return tuple(arrow(belief, label) for belief, label in _formula(world.physics))
    return tuple(
        arrow(claim.beliefs[0], claim.id.replace("_", " "))
        for claim in known_claims(world)
        if claim.golden
    )


def believed(world: World, held: Sequence[Belief]) -> tuple[Arrow, ...]:
    """Return the arrows of beliefs; a belief that no claim or formula covers has no arrow."""
    if isinstance(world.physics, Generated):
        return _against_formula(world.physics, held)
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


def _formula(physics: Generated) -> list[tuple[Belief, str]]:
    """Return the true effects of armour and options, with the largest log-odds that they add."""
    found = []
    for name, odds in physics.levers.items():
        parts = [("storm", odds.storm), ("clear", odds.clear)]
        for when, worth in [("", odds.storm)] if odds.storm == odds.clear else parts:
            if worth:
                belief = Belief(f"{name}_def", "survival", _sign(worth), when)
                found.append((belief, f"{worth:+.2g}"))
    slots = {
        option: slot for slot, offer in physics.sheet.slots.items() for option in offer.options
    }
    for option, worth in physics.options.items():
        if worth and option in slots:
            belief = Belief(f"{slots[option]}={option}", "survival", _sign(worth))
            found.append((belief, f"{worth:+.2g}"))
    return found


def _sign(worth: float) -> Sign:
    return "raises" if worth > 0 else "lowers"


def _against_formula(physics: Generated, held: Sequence[Belief]) -> tuple[Arrow, ...]:
    """Draw beliefs about survival beside the formula; a belief without a condition fits any."""
    true = [belief for belief, _ in _formula(physics)]
    sheet = physics.sheet
    levers = {f"{name}_def" for name in sheet.names}
    levers |= {
        f"{slot}={option}" for slot, offer in sheet.slots.items() for option in offer.options
    }
    found: dict[Arrow, None] = {}
    for belief in held:
        if belief.effect != "survival" or belief.cause not in levers or belief.sign == "no_effect":
            continue
        same = [own for own in true if (own.cause, own.sign) == (belief.cause, belief.sign)]
        fits = [own for own in same if not own.when or not belief.when or own.when == belief.when]
        found |= dict.fromkeys(arrow(own) for own in fits or [belief])
    return tuple(found)
