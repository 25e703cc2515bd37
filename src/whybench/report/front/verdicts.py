"""Say what standings show, in sentences made from the numbers of the table.

A sentence is said only if these rules allow it:

- Better: the paired test shows it after Holm's correction. Best: better than every other system.
- Level: the interval of the difference lies within 0.05 of 0. Otherwise no difference is shown.
- Mostly knows why: share understood at least 0.75, and its lower bound at least 0.5.
- Mostly by luck: the upper bound of the share is below 0.5. With fewer than 20 right answers,
  nothing is said about either.
- Not shown to be better than guessing: the interval of the score reaches 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from whybench.report.standings.model import Cell, Estimate, Gap, Pair, Standings, System
from whybench.report.standings.words import between, every, listed, number, per_cent, two

ENOUGH_RIGHT = 20
"""Fewest right answers for which a sentence says how many were understood."""

MANY_UNUSABLE = 0.1
"""Share of unusable replies from which a verdict names them."""

OFTEN = 0.5
"""A system with this score or more is often right."""

MOST_NAMED = 3
"""Longest list of families or systems that a sentence names."""

Knowing = Literal["knows", "lucky", "between", "unsaid"]


class Verdict(NamedTuple):
    """Two lines about a system; both follow its name."""

    head: str
    detail: str


def knowing(share: Estimate, right: int) -> Knowing:
    """Return what may be said of a share understood."""
    if right < ENOUGH_RIGHT or not share.known:
        return "unsaid"
    if share.value >= 0.75 and share.low >= 0.5:
        return "knows"
    return "lucky" if share.high < 0.5 else "between"


def answer(standings: Standings) -> str:
    """Return the one sentence that answers the question of the page."""
    said = _answer(standings)
    if not standings.first_look:
        return said
    return f"A first look: {said[0].lower() + said[1:] if said.startswith('No ') else said}"


def _answer(standings: Standings) -> str:
    whole = [system for system in standings.systems if system.overall.known]
    count = len(standings.families)
    if not whole:
        return f"No overall verdict, because no system was run on {every(count)}."
    if len(whole) == 1:
        return _alone(whole[0])
    top = best(standings)
    if top is None:
        leaders = [whole[0].name]
        leaders += [one.name for one in whole[1:] if not _better(standings, whole[0], one)]
        if len(leaders) in (1, len(whole)) or len(leaders) > MOST_NAMED:
            return "No system is shown to be best."
        return f"No system is shown to be best: {listed(leaders)} lead."
    among = ""
    if len(whole) < len(standings.systems):
        among = f" of the {number(len(whole))} systems run on {every(count)}"
    if at_floor(top):
        return f"{top.name} is best{among}, but it is not shown to be better than guessing."
    known = knowing(top.understood, right(top))
    ends = {"knows": ", and it mostly knew why", "lucky": ", but mostly by luck", "unsaid": ""}
    return f"{top.name} is best{among}{ends.get(known, f', and it knew why {_tenths(top)}')}."


def _alone(system: System) -> str:
    if at_floor(system):
        return f"{system.name} is not shown to be better than guessing."
    known = knowing(system.understood, right(system))
    said = {
        "knows": "mostly knew why where it was right",
        "lucky": "was right mostly by luck",
        "between": f"knew why {_tenths(system)} where it was right",
        "unsaid": "is better than guessing",
    }
    way = f"{two(system.overall.value)} of the way from guessing to perfect"
    return f"{system.name} {said[known]}: {way}."


def best(standings: Standings) -> System | None:
    """Return the system shown to be better than every other with an overall score, or None."""
    whole = [system for system in standings.systems if system.overall.known]
    if len(whole) < 2 or not all(_better(standings, whole[0], one) for one in whole[1:]):
        return None
    return whole[0]


def verdict(standings: Standings, system: System) -> Verdict:
    """Return what is said of one system."""
    count = len(standings.families)
    if not system.overall.known:
        families = listed(system.missing)
        were = "was" if len(system.missing) == 1 else "were"
        return Verdict(
            f"was run on {number(count - len(system.missing))} of {number(count)} families.",
            _sentence(f"No overall score: {families} {were} not run", system),
        )
    score = f"Score {two(system.overall.value)}"
    if standings.systems[0] is system:
        score += " (0 is guessing, 1 perfect)"
    if at_floor(system):
        return Verdict("is not shown to be better than guessing.", _sentence(score, system))
    known = knowing(system.understood, right(system))
    return Verdict(_head(standings, system, known), _sentence(score, system, known))


def _head(standings: Standings, system: System, known: Knowing) -> str:
    behind = False
    if system is best(standings):
        said = "is right most often"
    elif system.overall.value >= OFTEN:
        said = "is often right"
    else:
        behind = any(_better(standings, one, system) for one in standings.systems)
        said = "is right less often" if behind else "is sometimes right"
    if known == "unsaid":
        return f"{said}."
    against = (known == "knows") == behind if known != "between" else False
    why = {"knows": "mostly knows why", "lucky": "mostly by luck"}
    ending = why.get(known, f"knows why {_tenths(system)}")
    return f"{said}, {'but' if against else 'and'} {ending}."


def _sentence(said: str, system: System, known: Knowing | None = None) -> str:
    """Return the second line: the score, the part of it understood, and unusable replies."""
    if known == "unsaid":
        said += "; too few right answers to say how much it understood"
    elif known is not None:
        only = "only " if known == "lucky" else ""
        said += f"; {only}{per_cent(system.understood.value)} of it follows from what it saw"
    lost = system.unusable
    if lost >= MANY_UNUSABLE:
        said += f"; {per_cent(lost)} of its episodes ended because a reply could not be used"
    return f"{said}."


def title(pair: Pair) -> str:
    """Return the word between the names of a pair."""
    shown = pair.overall is not None and pair.overall.shown and pair.overall.difference.value > 0
    return "over" if shown else "and"


def compared(standings: Standings, pair: Pair) -> str:
    """Return one to three sentences about two systems."""
    first, second = (_named(standings, name) for name in (pair.first, pair.second))
    gaps = {name: pair.families[name] for name in standings.families if name in pair.families}
    won = [name for name, gap in gaps.items() if gap.shown and gap.difference.value > 0]
    lost = [name for name, gap in gaps.items() if gap.shown and gap.difference.value < 0]
    level = [name for name, gap in gaps.items() if not gap.shown and gap.level]
    rest = [name for name in gaps if name not in (*won, *lost, *level)]
    said = [_overall(pair, second, won, len(standings.families))]
    if lost:
        said.append(f"{second.name} is better on {listed(lost)}.")
    if level:
        said.append(f"About level on {listed(level)}.")
    luck = [_lucky(system, (*level, *rest)) for system in (first, second)]
    if second.cells and all(cell.is_floor for cell in second.cells.values()):
        said.append(f"{second.name} is not shown to be above the floor on any family.")
    elif rest:
        said.append(f"{'; '.join(filter(None, [_no_difference(rest, gaps), *luck]))}.")
    elif any(luck):
        said.append(f"{_upper('; '.join(filter(None, luck)))}.")
    return " ".join(said)


def _overall(pair: Pair, second: System, won: Sequence[str], count: int) -> str:
    gap = pair.overall
    alone = f"Better on {_families(won, count)}. " if won else ""
    if gap is None or not gap.difference.known:
        return f"{alone}No overall comparison."
    if not gap.shown:
        what = "About level overall" if gap.level else "No difference shown overall"
        return f"{alone}{what}: {two(gap.difference.value)} ({between(gap.difference)})."
    size = f"{two(abs(gap.difference.value))} ({_interval(gap)})"
    if gap.difference.value < 0:
        return f"{alone}{second.name} is better overall by {size}."
    joined = ", on" if len(won) <= MOST_NAMED and len(won) < count else " and on"
    where = f"{joined} {_families(won, count)}" if won else ""
    return f"Better overall by {size}{where}."


def _interval(gap: Gap) -> str:
    found = gap.difference
    return between(found if found.value > 0 else Estimate(-found.value, -found.high, -found.low))


def _families(won: Sequence[str], count: int) -> str:
    if len(won) == count:
        return every(count)
    return listed(won) if len(won) <= MOST_NAMED else f"{number(len(won))} families"


def _no_difference(rest: Sequence[str], gaps: dict[str, Gap]) -> str:
    where = "any family" if len(rest) == len(gaps) else listed(rest)
    return f"No difference shown on {where}"


def _lucky(system: System, families: Sequence[str]) -> str:
    found = [
        name
        for name in families
        if (cell := system.cells.get(name)) and _known(cell) == "lucky" and not cell.is_floor
    ]
    return f"on {listed(found)} {system.name} is right mostly by luck" if found else ""


def _known(cell: Cell) -> Knowing:
    return knowing(cell.understood, cell.right)


def at_floor(system: System) -> bool:
    """Tell whether the interval of the overall score reaches the floor."""
    return not system.overall.low > 0


def right(system: System) -> int:
    """Return the number of right answers behind the share understood."""
    return sum(cell.right for cell in system.cells.values())


def _tenths(system: System) -> str:
    if not system.understood.known:
        return "sometimes"
    times = round(10 * system.understood.value)
    if times in (0, 10):
        return "almost never" if times == 0 else "almost every time"
    return f"about {number(times)} times in ten" if times > 1 else "about once in ten times"


def _better(standings: Standings, first: System, second: System) -> bool:
    """Tell whether the test shows that the first system is better overall than the second."""
    for pair, sign in (
        (standings.pair(first.name, second.name), 1),
        (standings.pair(second.name, first.name), -1),
    ):
        if pair and pair.overall and pair.overall.shown:
            return sign * pair.overall.difference.value > 0
    return False


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _named(standings: Standings, name: str) -> System:
    return next(system for system in standings.systems if system.name == name)
