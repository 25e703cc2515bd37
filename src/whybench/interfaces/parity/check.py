"""Hold a door against the plain episode."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from whybench.core.canonical import Json, canonical_json
from whybench.interfaces.parity.cases import Case
from whybench.interfaces.parity.doors import Door


def differences(door: Door, cases: Sequence[Case]) -> Iterator[str]:
    """Yield what is not byte-equal, in words; a door that drops a case or adds one is told too."""
    played = iter(door.play(cases))
    for case in cases:
        found = next(played, None)
        if found is None:
            yield f"{door.name}: no result for {case.instance.id}"
            return
        trace, score, texts = case.plainly()
        shown = found[2]
        least = 1 + len(trace.steps)
        for what, here, there in (
            ("trace", trace.to_json(), found[0]),
            ("score", score.to_json(), found[1]),
            ("texts", texts[: max(least, len(shown or ()))], shown),
        ):
            told = "" if there is None else _difference(here, there)
            if told:
                yield f"{door.name}: {what} of {case.instance.family}/{case.instance.id}: {told}"
    if next(played, None) is not None:
        yield f"{door.name}: more results than cases"


def _difference(here: Json, there: Json) -> str:
    """Return where two JSON texts part; nothing if they do not."""
    one, other = canonical_json(here), canonical_json(there)
    if one == other:
        return ""
    place = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    at = min(len(one), len(other)) if place is None else place
    return f"{one[max(0, at - 40) : at + 60]!r} became {other[max(0, at - 40) : at + 60]!r}"
