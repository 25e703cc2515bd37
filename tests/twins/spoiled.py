"""Certificates that were tampered with, each in one place: a checker must notice every one."""

from collections.abc import Iterator
from typing import Any

from whybench.episode.certificate import STATUSES, Certificate

NUMBERS = ("best_score", "fewest", "minimax", "minimax_upper", "exact_steps", "bits")
FLAGS = ("solvable", "identified")


def spoiled(certificate: Certificate) -> Iterator[tuple[str, Certificate]]:
    """Yield certificates with one claim changed, and the claim's name."""
    data = certificate.to_json()
    yield "instance", changed(data, instance="another-0000-000000000000")
    yield "hypotheses", changed(data, hypotheses="any system")
    for status in STATUSES:
        if status != data["status"]:
            yield "status", changed(data, status=status)
    for name in FLAGS + NUMBERS:
        for value in moved(data[name]):
            yield name, changed(data, **{name: value})
        if data[name] is not None:
            yield name, changed(data, **{name: None})
    if data["witness"] is not None:
        yield "witness", changed(data, witness=None)
        yield "witness", changed(data, witness=[data["witness"][0]] * 2)
        yield "witness", changed(data, witness=data["witness"][::-1])
        yield "witness", changed(data, witness=["nobody", "nothing"])
    else:
        yield "witness", changed(data, witness=["one", "other"])
    for name, value in data["facts"].items():
        for other in moved(value):
            yield f"facts.{name}", changed(data, facts={**data["facts"], name: other})
        without = {key: kept for key, kept in data["facts"].items() if key != name}
        yield f"facts.{name}", changed(data, facts=without)
    yield "facts.made_up", changed(data, facts={**data["facts"], "made_up": 1})


def changed(data: dict[str, Any], **changes: Any) -> Certificate:
    """Return the certificate with some fields changed."""
    return Certificate.from_json({**data, **changes})


def moved(value: Any) -> Iterator[Any]:
    """Yield values near a value; a list loses an entry, a list of pairs has each value moved."""
    if isinstance(value, bool):
        yield not value
    elif value is None:
        yield 1
    elif isinstance(value, int):
        yield from (value + 1, value - 1)
    elif isinstance(value, float):
        yield from (value + 0.01, value - 0.01)
    elif isinstance(value, list) and value and isinstance(value[0], list):
        for at, (name, number) in enumerate(value):
            for other in moved(number):
                yield [*value[:at], [name, other], *value[at + 1 :]]
    elif isinstance(value, list):
        yield value[:-1]


def unnoticed(certificate: Certificate, flaws: Any, leave_out: tuple[str, ...] = ()) -> list[str]:
    """Return the claims that a checker lets pass though they were changed, or that none changes."""
    claims = {f"facts.{name}" for name in certificate.facts.asdict()}
    claims |= {*certificate.__slots__} - {"facts"}
    untouched = claims - {claim for claim, _ in spoiled(certificate)}
    return sorted(untouched) + [
        claim
        for claim, tampered in spoiled(certificate)
        if claim not in leave_out and not flaws(tampered)
    ]
