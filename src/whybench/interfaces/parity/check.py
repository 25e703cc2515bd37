"""Compare an interface with the bare episode."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from whybench.causal.canonical import Json, canonical_json
from whybench.interfaces.parity.cases import ParityCase
from whybench.interfaces.parity.interface import Interface


def parity_differences(interface: Interface, cases: Sequence[ParityCase]) -> Iterator[str]:
    """Play cases through an interface and yield every difference from the bare episode.

    Examples:
        >>> import whybench as wb
        >>> from whybench.interfaces.parity.interface import interfaces
        >>> cases = list(wb.parity_cases(wb.installed_families()["causallink"], 2))
        >>> list(wb.parity_differences(interfaces()["solve"], cases))
        []

    Args:
        interface: The interface.
        cases: The cases.

    Yields:
        One sentence per difference in a trace, a score or a text, and per missing result.

    """
    played = iter(interface.play(cases))
    for case in cases:
        found = next(played, None)
        if found is None:
            yield f"{interface.name}: no result for {case.instance.id}"
            return
        trace, score, texts = case.expected()
        shown = found[2]
        least = 1 + len(trace.steps)
        for what, here, there in (
            ("trace", trace.to_json(), found[0]),
            ("score", score.to_json(), found[1]),
            ("texts", texts[: max(least, len(shown or ()))], shown),
        ):
            told = "" if there is None else _difference(here, there)
            if told:
                at = f"{case.instance.family}/{case.instance.id}"
                yield f"{interface.name}: {what} of {at}: {told}"
    if next(played, None) is not None:
        yield f"{interface.name}: more results than cases"


def _difference(here: Json, there: Json) -> str:
    """Return the first difference of two JSON texts, or an empty string."""
    one, other = canonical_json(here), canonical_json(there)
    if one == other:
        return ""
    place = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    at = min(len(one), len(other)) if place is None else place
    return f"{one[max(0, at - 40) : at + 60]!r} became {other[max(0, at - 40) : at + 60]!r}"
