"""`whybench compare` and `whybench plan`. The commands import heavy modules when they run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from whybench.cli.options import AsJson, Parameters, Profile, Seed, asked_suite
from whybench.cli.reports import Trust, tell_differences
from whybench.cli.standard.prices import many
from whybench.episode.cleaning import visible
from whybench.interfaces.command_line import (
    needing_extra,
    pairs,
    plain_errors,
    print_json,
    print_table,
    refused,
)

if TYPE_CHECKING:
    from whybench.report.decisions.compare import Compared
    from whybench.report.decisions.plan import Plan

Alpha = Annotated[float, typer.Option(help="Accepted probability of a false positive.")]
Power = Annotated[float, typer.Option(help="Probability of detecting a true difference.")]


def compare(
    first: Annotated[str, typer.Argument(metavar="A", help="Log, or folder of logs.")],
    second: Annotated[
        str | None, typer.Argument(metavar="[B]", help="Log, or folder of logs. Default: A.")
    ] = None,
    a: Annotated[
        list[str] | None,
        typer.Option("--a", help="Select runs of A by KEY=VALUE, such as model=NAME."),
    ] = None,
    b: Annotated[
        list[str] | None,
        typer.Option("--b", help="Select runs of B by KEY=VALUE. Repeat for more."),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(help="Metric instead of the headline, or `all`. Repeat for more."),
    ] = None,
    alpha: Alpha = 0.05,
    power: Power = 0.8,
    trust_scores: Trust = False,
    as_json: AsJson = False,
) -> None:
    """Test whether two systems differ."""
    with needing_extra("report"):
        from whybench.report.decisions import compare as interface
        from whybench.report.decisions.pairs import chosen
        from whybench.report.runs import read_runs
    with plain_errors():
        paths = dict.fromkeys((first, second or first))
        read = {path: read_runs([path], trust=trust_scores) for path in paths}
        sides = [read[first], read[second or first]]
        tell_differences(*read.values())
        found = interface.compare(
            chosen(sides[0].runs, pairs(a)),
            chosen(sides[1].runs, pairs(b)),
            metric or (),
            alpha=alpha,
            power=power,
        )
    left_out = dict.fromkeys(
        f"{name} is left out: {why}." for side in sides for name, why in side.left_out
    )
    if as_json:
        differ = [str(one) for side in read.values() for one in side.differences]
        print_json(found.to_json() | {"left_out": list(left_out), "differences": differ})
        return
    _show_comparison(found, list(left_out))


def plan(
    suite: Annotated[
        str | None, typer.Argument(metavar="[SUITE]", help="family/suite; see `whybench list`.")
    ] = None,
    detect: Annotated[
        float | None, typer.Option(help="Difference in the headline metric to detect.")
    ] = None,
    release: Annotated[
        str | None, typer.Option(help="Instead of a suite: estimate the cost of this release.")
    ] = None,
    which: Annotated[str, typer.Option("--set", help="Set of the release.")] = "standard",
    power: Power = 0.8,
    alpha: Alpha = 0.05,
    log: Annotated[
        list[str] | None, typer.Option(help="Log of a system. Give it twice for two systems.")
    ] = None,
    epochs: Annotated[
        int | None, typer.Option(min=1, help="Epochs. Default: the fewest that suffice.")
    ] = None,
    profile: Profile = "certified",
    seed: Seed = "public",
    parameters: Parameters = None,
    icc: Annotated[
        float | None, typer.Option(min=0, max=1, help="Correlation of instances of one cluster.")
    ] = None,
    correlation: Annotated[
        float | None, typer.Option(min=-1, max=1, help="Correlation of the two systems' scores.")
    ] = None,
    assurance: Annotated[
        float,
        typer.Option(help="Probability that the planned size suffices, given logs this short."),
    ] = 0.8,
    price_in: Annotated[float | None, typer.Option(help="Price per million input tokens.")] = None,
    price_out: Annotated[
        float | None, typer.Option(help="Price per million output tokens.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Plan the instances, epochs and cost of a comparison, or the cost of a release."""
    if release is not None:
        _show_release(release, which, log, price_in, price_out, as_json)
        return
    if suite is None or detect is None:
        raise refused("Give SUITE and --detect, or --release.")
    asked = asked_suite(suite, profile, seed, parameters)
    with needing_extra("report"):
        from whybench.report.decisions import plan as interface
        from whybench.report.runs import read_runs
    with plain_errors():
        found = interface.plan(
            asked,
            read_runs(log).runs if log else (),
            detect=detect,
            power=power,
            alpha=alpha,
            epochs=epochs,
            icc=icc,
            correlation=correlation,
            assurance=assurance,
            price_in=price_in,
            price_out=price_out,
        )
    if as_json:
        print_json(found.to_json())
        return
    _show_plan(found)


def _show_release(
    name: str,
    which: str,
    log: Sequence[str] | None,
    price_in: float | None,
    price_out: float | None,
    as_json: bool,
) -> None:
    """Print the estimate that `whybench run` prints first."""
    from whybench.cli.standard.prices import show_estimate
    from whybench.cli.standard.run import pilots_in
    from whybench.release.data import load_release
    from whybench.release.estimate import Price, estimates

    with plain_errors():
        pilots = pilots_in(log[0]) if log else {}
        found = estimates(load_release(name), which, pilots)
    if as_json:
        print_json({"release": name, "set": which, "families": [one.to_json() for one in found]})
        return
    costs = {}
    if price_in is not None or price_out is not None:
        costs["any model"] = Price(price_in or 0.0, price_out or 0.0)
    show_estimate(found, ["any model"], costs, 10, f"Release {name}, set {which}")


def _show_comparison(found: Compared, left_out: Sequence[str]) -> None:
    for played in found.played:
        typer.echo(visible(f"{played.suite}: A = {played.systems[0]}, B = {played.systems[1]}"))
    rows = []
    for row in found.rows:
        one, level = row.found, f"{100 * (1 - row.alpha):.4g} %"
        size = f"{one.n} in {one.clusters}" + (f" × {one.epochs}" if one.epochs > 1 else "")
        rows.append(
            [
                f"{row.suite}\n{row.metric}",
                f"{_plain(one.first)}\n{_plain(one.second)}",
                f"{one.estimate:+.3f}\n{_plain(one.low)} … {_plain(one.high)}\n{level}",
                f"{_chance(one.p_value)}\n{_chance(row.p_holm)}",
                f"{size}\n{one.test}",
            ]
        )
    head = ("suite\nmetric", "A\nB", "A - B\ninterval\nlevel", "p\nHolm", "n in clusters\ntest")
    print_table(head, rows)
    for row in found.rows:
        typer.echo(visible(f"{row.suite}, {row.metric}: {row.verdict}."))
    outcomes = [
        [played.suite, name, *(f"{share:.3f}" for share in shares)]
        for played in found.played
        for name, shares in played.outcomes.items()
    ]
    print_table(("suite", "outcome, share of episodes", "A", "B"), outcomes)
    for remark in (*found.remarks, *left_out):
        typer.echo(visible(f"- {remark}"))


def _show_plan(found: Plan) -> None:
    worlds = found.worlds
    typer.echo(
        f"{found.suite} has {worlds.instances} instances in {worlds.worlds} clusters. The table "
        f"shows what is needed to detect a difference of {found.detect:g} in {found.metric} with "
        f"power {found.power:g} at alpha {found.alpha:g}."
    )
    rows = [
        [
            size.question.replace(" against ", " against\n"),
            f"{size.instances}\n× {size.epochs}",
            "yes" if size.fits else "no",
            _plain(size.detectable) if math.isfinite(size.detectable) else "none",
            str(bill.episodes),
            f"{many(bill.input_tokens)} in\n{many(bill.output_tokens)} out",
            f"{bill.cost:.2f}" if math.isfinite(bill.cost) else "–",
        ]
        for size, bill in zip(found.sizes, found.bills, strict=True)
    ]
    head = ("question", "instances\n× epochs", "suite\nsuffices", "suite\ndetects ≥", "episodes")
    print_table((*head, "tokens", "cost"), rows)
    typer.echo(f"- {found.more}")
    for usage in dict.fromkeys(found.usages):
        typer.echo(
            f"- Tokens of an episode of {usage.system} (mean ± standard deviation): "
            f"{usage.input_tokens:.0f} ± {usage.input_sd:.0f} input, "
            f"{usage.output_tokens:.0f} ± {usage.output_sd:.0f} output. Source: {usage.source}."
        )
    for sentence in found.assumed:
        typer.echo(f"- {sentence}")


def _plain(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.3f}"


def _chance(p: float) -> str:
    if math.isnan(p):
        return "–"
    return "< 0.001" if p < 0.001 else f"{p:.3f}"
