"""Published figures: the same as printed, and each of them opposite a run or a reason."""

from __future__ import annotations

import csv
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from whybench.causal.seeds import Stream
from whybench.episode.registry import families, load_suite
from whybench.report.published.figures import FAMILIES, FOLDER, Cell, Published
from whybench.report.published.row_match import (
    Counterpart,
    OwnRun,
    Where,
    differences,
    matching,
    measure_of,
    rules,
    runs_of,
)

SHARED = Path(__file__).parents[3] / "shared" / "published"

PUBLISHED = Published()

ALIAS = re.compile(r"= (.+?) in Tables? ")
"""How a note names a system as another table does."""


def rows(family: str) -> list[dict[str, str]]:
    return list(csv.DictReader((FOLDER / f"{family}.csv").read_text("utf-8").split("\n")))


def counterparts() -> Iterator[Counterpart]:
    for family in FAMILIES:
        yield from rules(family).counterparts


def own_runs() -> Iterator[OwnRun]:
    for counterpart in counterparts():
        yield from counterpart.runs


def everything() -> list[Cell]:
    return [cell for family in FAMILIES for cell in PUBLISHED.cells(family)]


# The figures.


@pytest.mark.skipif(not SHARED.is_dir(), reason="the folder that the files came from is not here")
@pytest.mark.parametrize("family", FAMILIES)
def test_files_are_those_that_were_transcribed(family):
    assert (FOLDER / f"{family}.csv").read_bytes() == (SHARED / f"{family}.csv").read_bytes()


def test_fifty_random_cells_say_what_their_rows_say():
    draw = Stream("test", "published")
    for _ in range(50):
        family = draw.choice(FAMILIES)
        raw = rows(family)
        place = draw.below(len(raw))
        row, cell = raw[place], PUBLISHED.cells(family)[place]
        assert cell.printed == row.pop("value")
        assert cell.value == (float(cell.printed) if cell.printed else None)
        assert ("" if cell.n is None else str(cell.n)) == row.pop("n")
        row["system"] = rules(family).systems.get(row["system"], row["system"])
        assert {name: getattr(cell, name) for name in row} == row


def test_a_cell_has_a_value_unless_it_is_suppressed_or_undefined():
    kinds = {(c.suppressed, c.undefined) for c in everything() if c.value is None}
    assert kinds == {(True, False), (False, True)}
    for cell in everything():
        hidden = cell.suppressed or cell.undefined
        assert (cell.value is None) == hidden == (cell.printed == "")
        assert cell.share is None or not hidden
        assert cell.comparable is None or not hidden


def test_what_is_hidden_stays_hidden_in_a_frame():
    frame = pd.concat([PUBLISHED.frame(family) for family in FAMILIES])
    hidden = frame.suppressed | frame.undefined
    assert len(frame) == sum(len(rows(family)) for family in FAMILIES)
    assert hidden.sum() == (frame.printed == "").sum() > 0
    assert frame.value[hidden].isna().all()
    assert frame.share[hidden].isna().all()
    assert frame.value[~hidden].notna().all()


def test_cells_are_chosen_by_every_column_that_is_asked_for():
    wanted = {"suite": "ord_full", "metric": "valid", "system": "GPT-5.4", "table": "1"}
    (cell,) = PUBLISHED.cells("replayscm", condition="", **wanted)
    assert {name: getattr(cell, name) for name in wanted} == wanted
    for name in wanted:
        assert PUBLISHED.cells("replayscm", **{**wanted, name: "no such"}) == ()
    assert PUBLISHED.frame("replayscm", suite="no such").empty


def test_an_unknown_family_is_named_with_those_there_are():
    with pytest.raises(ValueError, match="one of: causalab"):
        PUBLISHED.cells("causalworld")


def test_shares_are_fractions_and_counts_are_none():
    units = {"percent": 100, "fraction": 1}
    for cell in everything():
        if cell.value is None or cell.unit not in units:
            assert cell.share is None
        else:
            assert cell.share == cell.value / units[cell.unit]
    assert {cell.unit for cell in everything()} == {"percent", "fraction", "count", ""}


def test_counts_of_episodes_are_compared_as_shares_and_other_counts_as_they_are():
    (wins,) = PUBLISHED.cells(
        "causalgame", metric="wins", system="gpt-5.2", condition="agentic", suite="core14_mean"
    )
    assert wins.share is None
    assert wins.comparable == wins.value / 14
    shd = PUBLISHED.cells("causalab", metric="shd")[0]
    assert shd.comparable == shd.value


def test_repeats_are_marked_and_dropping_them_loses_no_figure():
    for family in FAMILIES:
        cells = PUBLISHED.cells(family)
        once = [cell for cell in cells if not cell.repeat]
        kept = {(c.suite, c.condition, c.system, c.metric, c.printed) for c in once}
        assert len(kept) == len(once)
        for cell in cells:
            told = "duplicate of" in cell.note or "repeats Table" in cell.note
            picked = cell.condition == "best_of_two_templates"
            same = (cell.suite, cell.condition, cell.system, cell.metric, cell.printed) in kept
            assert cell.repeat if told or picked else same
    assert len([c for c in PUBLISHED.cells("causalab") if c.repeat]) == 58


def test_a_repeated_row_of_causalab_has_the_values_of_the_row_it_repeats():
    for cell in PUBLISHED.cells("causalab"):
        if "repeats Table 7" in cell.note:
            (first,) = PUBLISHED.cells(
                "causalab", table="7", suite=cell.suite, system=cell.system, metric=cell.metric
            )
            assert first.value == cell.value


def test_a_system_has_one_name_in_all_tables_of_its_paper():
    told = [(c, found[1]) for c in everything() if (found := ALIAS.match(c.note))]
    assert len({cell.system for cell, _ in told}) == 6
    for cell, name in told:
        assert cell.system == name
        assert any(c.system == name and c.table != cell.table for c in PUBLISHED.cells(cell.family))


def test_every_published_model_has_its_wins():
    tables = {
        table: {c.system for c in PUBLISHED.cells("causalgame", table=table) if not c.pooled}
        for table in ("11", "12", "13")
    }
    assert tables["11"] == tables["12"] == tables["13"]


def test_averages_over_systems_are_told_from_systems():
    assert {c.system for c in everything() if c.pooled} == {
        "Avg",
        "pooled",
        "all systems pooled",
        "all models (aggregation not stated)",
        "Nemotron + DS-Distill Qwen 32B + GPT-4o pooled",
    }
    assert not any("average over models" in c.note and not c.pooled for c in everything())


# The mapping.


@pytest.mark.parametrize("family", FAMILIES)
def test_every_suite_and_condition_is_mapped_once_and_nothing_else_is(family):
    pairs = [(row.suite, row.condition) for row in rules(family).counterparts]
    assert len(pairs) == len(set(pairs))
    assert set(pairs) == {(row["suite"], row["condition"]) for row in rows(family)}


def test_a_counterpart_has_runs_or_a_reason():
    for counterpart in counterparts():
        assert bool(counterpart.runs) != bool(counterpart.none), counterpart


@pytest.mark.parametrize("family", FAMILIES)
def test_every_metric_is_mapped_or_has_a_reason_and_nothing_else_is(family):
    printed = {row["metric"] for row in rows(family)}
    assert set(rules(family).measures.asdict()) == printed
    for row in rules(family).counterparts:
        cells = PUBLISHED.cells(family, suite=row.suite, condition=row.condition)
        assert set(row.metrics.asdict()) <= {cell.metric for cell in cells}
    for cell in PUBLISHED.cells(family):
        found = cell.measure
        assert bool(found.metric) != bool(found.none), cell


def test_metrics_of_ours_exist():
    from whybench.families.recite.extras.judge.scorer import graph_judge

    card = families()["recite"].card()
    for cell in everything():
        scorer, _, name = cell.measure.metric.rpartition(".")
        if scorer:
            assert scorer == graph_judge.__name__
            assert f"`{name}`" in card
        elif name:
            assert name in {metric.name for metric in families()[cell.family].metrics}, cell


def test_runs_are_of_the_family_and_nothing_stands_beside_them_without_reason():
    for counterpart in counterparts():
        for own in counterpart.runs:
            assert own.suite.partition("/")[0] == counterpart.family
            for cell in PUBLISHED.beside(own.suite, own.args.asdict()):
                assert not runs_of(cell.family, cell.suite, cell.condition).none
                assert cell.measure.metric
                assert not cell.repeat


def test_mapped_suites_can_be_built_with_their_arguments():
    for own in own_runs():
        family = families()[own.suite.partition("/")[0]]
        defaults = rules(family.name).defaults.asdict()
        args = defaults | own.args.asdict()
        assert family.template_for(args["profile"], args["template"]) in family.templates
        assert args["protocol"] in family.protocols
        assert args.get("evidence", "own") == "own"
        parameters = {k: v for k, v in own.args.asdict().items() if k not in {*defaults, "data"}}
        assert set(parameters) <= set(family.parameters)
        assert len(load_suite(own.suite, profile=args["profile"], parameters=parameters)) > 0


@pytest.mark.parametrize("family", FAMILIES)
def test_defaults_are_those_of_the_task(family):
    from whybench.interfaces.inspectai.tasks import tasks

    how = rules(family)
    assert how.task == f"whybench/{family}"
    taken = inspect.signature(tasks()[family]).parameters
    known = {n: p.default for n, p in taken.items() if p.kind is not p.VAR_KEYWORD}
    assert {n: known[n] for n in how.defaults.asdict()} == how.defaults.asdict()
    assert set(known) <= {*how.defaults.asdict(), *how.free, "suite"}
    for name in (*how.free, *how.told, *how.needed):
        assert name in known or name in families()[family].parameters, name


def test_parts_are_covariates_of_the_family():
    parts = {(own.suite, own.where.covariate) for own in own_runs() if own.where}
    assert parts
    for path, covariate in parts:
        suite = load_suite(path)
        assert covariate in suite.family.covariates(suite[0])


def test_parts_of_a_run_are_told_apart():
    frame = pd.DataFrame({"density": [0.1, 0.15, 0.3], "cyclic": [True, False, True]})
    sorts = {
        name: runs_of("recite", f"by_{name}", "").runs[0].where.mask(frame).tolist()
        for name in ("density_sparse", "density_moderate", "density_dense", "cyclicity_acyclic")
    }
    assert sorts == {
        "density_sparse": [True, False, False],
        "density_moderate": [False, True, False],
        "density_dense": [False, False, True],
        "cyclicity_acyclic": [False, True, False],
    }
    with pytest.raises(ValueError, match="Join the covariates"):
        Where("length", low=1).mask(frame)
    with pytest.raises(ValueError, match="not a part"):
        Where("density", contrast="top minus bottom").mask(frame)


def test_a_run_as_mapped_finds_its_rows_again():
    for counterpart in counterparts():
        for own in counterpart.runs:
            pair = (counterpart.suite, counterpart.condition)
            found = matching(own.suite, own.args.asdict(), strict=True)
            assert (pair in found) == (not own.differs)
            assert differences(own, own.args.asdict()) == own.differs
            assert own.differs in ((), ("template",))


PAPER = {"profile": "published"}


@pytest.mark.parametrize(
    ("suite", "args", "expected"),
    [
        ("causalab/main_4", {}, []),  # other laws than the paper's
        ("causalab/main_4", PAPER, ["linear_reference", "baseline", ""]),
        ("causalab/main_4", PAPER | {"verify": False}, ["linear_reference", "baseline", ""]),
        ("causalab/main_4", PAPER | {"regime": "3o12i"}, ["3o12i"]),
        ("causalab/main_4", PAPER | {"parameters": {"regime": "3o12i"}}, ["3o12i"]),
        ("causalab/main_4", PAPER | {"verify": True}, []),
        ("causalab/main_4", PAPER | {"signs": "mixed"}, []),
        ("causalab/main_4", PAPER | {"evidence": "optimal"}, []),
        ("causalab/fresh", {}, []),
        ("causalgame/weather_noise", {"profile": "published"}, ["agentic"]),
        ("causalgame/weather_noise", {"profile": "published", "protocol": "code"}, ["prompting"]),
        ("causalgame/weather", {}, []),
        ("causallink/core", {"template": "notebook"}, []),
        ("recite/name_assisted", {"profile": "published", "data": "texts.jsonl"}, [""]),
        ("recite/name_assisted", {"profile": "published"}, []),
        ("recite/name_assisted", {}, []),
        ("replayscm/block", {"protocol": "tools", "suite": "block"}, [""]),
        ("elsewhere/suite", {}, []),
    ],
)  # fmt: skip
def test_published_rows_beside_a_run(suite, args, expected):
    assert [condition for _, condition in matching(suite, args)] == expected


def test_the_suite_of_all_regimes_stands_beside_each():
    found = matching("causalab/scaling_4", PAPER)
    assert len(found) == 12
    assert {suite for suite, _ in found} == {"scaling_4node"}


def test_what_differs_is_told():
    own = runs_of("causalab", "main_4", "").runs[0]
    assert differences(own, {"seed": "s1"}) == ("profile", "template")
    assert differences(own, {"profile": "published", "context": "full"}) == ("context",)
    assert matching("causalab/main_4", {}, strict=True) == []


def test_cells_beside_a_run_come_once_and_by_our_names():
    cells = PUBLISHED.beside("causallink/core", {"template": "step_limited"}, "accuracy")
    assert len(cells) == len({cell.system for cell in cells}) == 12
    assert {cell.table for cell in cells} == {"5"}
    (share,) = PUBLISHED.beside("causallink/core", {}, "root_cause_bias")
    assert (share.metric, share.condition) == ("failure_share", "root_cause_bias")
    assert PUBLISHED.beside("elsewhere/suite", {}) == ()
    assert all(cell.measure.metric for cell in PUBLISHED.beside("replayscm/ord_full", {}))


def test_cells_of_a_part_are_kept_apart_from_those_of_the_whole():
    args = {"profile": "published", "data": "hub"}
    whole = PUBLISHED.beside("recite/standard", args, "graph_judge.f1")
    parts = PUBLISHED.beside("recite/standard", args, "graph_judge.f1", parts=True)
    assert {cell.suite for cell in whole} == {"standard"}
    assert {cell.suite.split("_")[1] for cell in parts} == {"density", "cyclicity", "quartile"}
    assert PUBLISHED.beside("causalab/scaling_6", PAPER) == ()
    assert PUBLISHED.beside("causalab/scaling_6", PAPER, "edge_f1", parts=True)


def test_metrics_of_one_name_are_kept_apart_by_suite():
    names = {
        suite: measure_of("recite", suite, "", "f1").metric
        for suite in ("standard", "name_assisted", "unweighted_edge")
    }
    assert names == {
        "standard": "graph_judge.f1",
        "name_assisted": "legacy_f1",
        "unweighted_edge": "graph_judge.unweighted_edge_f1",
    }


def test_what_was_not_published_is_refused():
    with pytest.raises(ValueError, match="no published rows"):
        runs_of("causalab", "main_12", "")
    with pytest.raises(ValueError, match="no published metric"):
        measure_of("causalab", "main_4", "", "courage")
    with pytest.raises(ValueError, match="one of: causalab"):
        rules("causalworld")
