"""Print what a run will cost, before it starts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import typer

from whybench.curriculum.columns import TOKENIZER
from whybench.interfaces.command_line import print_table
from whybench.interfaces.progress import duration
from whybench.release.estimate import Estimate, Price, total


def prices_of(given: str | None, models: Sequence[str]) -> dict[str, Price]:
    """Read `--price`: IN,OUT for all models, or a JSON file with a pair for each model."""
    if given is None:
        return {}
    if Path(given).is_file():
        known = json.loads(Path(given).read_text("utf-8"))
        return {model: _price(known[model], given) for model in models if model in known}
    return dict.fromkeys(models, _price(given.split(","), given))


def _price(pair: object, given: str) -> Price:
    try:
        first, second = (float(one) for one in pair)  # type: ignore[attr-defined]
    except (TypeError, ValueError) as error:
        raise ValueError(f"--price {given}: write two numbers, IN,OUT.") from error
    if not (0 <= first < float("inf") and 0 <= second < float("inf")):
        raise ValueError(f"--price {given}: prices are numbers of 0 or more.")
    return Price(first, second)


def show_estimate(
    found: Sequence[Estimate],
    models: Sequence[str],
    costs: Mapping[str, Price],
    connections: int,
    title: str,
) -> None:
    """Print samples, calls, tokens, price and time, per family and in all."""
    print_table(
        ("family", "samples", "calls", "input", "output", "price", "time"),
        [
            [*_row(one, costs), duration(one.seconds / connections)]
            for one in (*found, total(found))
        ],
    )
    sources, whole = ", ".join(dict.fromkeys(one.source for one in found)), total(found)
    each = f"each of {len(models)} models: " if len(models) > 1 else ""
    typer.echo(
        f"{title}, for {each}{', '.join(models)}. Tokens by {sources} "
        f"(rule {TOKENIZER}), without reasoning. Time at {connections} connections. At most "
        f"{many(whole.most_input)} input and {many(whole.most_output)} output tokens, if every "
        "call is made and every reply has the full length."
    )


def _row(one: Estimate, costs: Mapping[str, Price]) -> list[str]:
    prices = [cost.of(one.input, one.output) for cost in costs.values()]
    told = f"{min(prices):.2f}" if prices else "–"
    if prices and max(prices) > min(prices):
        told += f" to {max(prices):.2f}"
    return [
        one.family,
        str(one.samples),
        many(one.calls),
        many(one.input),
        many(one.output),
        told,
    ]


def many(number: float) -> str:
    """Return a large number in short.

    >>> many(950), many(12_300), many(4_560_000)
    ('950', '12.3 k', '4.56 M')
    """
    for size, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.3g} {letter}"
    return f"{number:.0f}"
