"""ReplaySCM's section: the paper's tables and ladders from runs, published figures beside them."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from tests.report.soundness import child, sound

from whybench.episode.episode import play
from whybench.episode.instance import Instance
from whybench.episode.trace import Trace
from whybench.families.replayscm import FAMILY
from whybench.families.replayscm.extras.analyses.attempt import Attempt
from whybench.families.replayscm.extras.report.kinds import outcome_of
from whybench.families.replayscm.extras.report.lab import kind_of
from whybench.families.replayscm.extras.report.rows import FAMILY as NAME
from whybench.families.replayscm.extras.report.rows import Tried
from whybench.families.replayscm.extras.report.section import section
from whybench.report.naming import displayed
from whybench.report.published.figures import Published
from whybench.report.runs import Run
from whybench.report.section import Figure, Remark, Section, Table
from whybench.report.view import View

SHOWN = [metric.name for metric in FAMILY.metrics if metric.role != "detail"]


def run_of(
    pool: str, rows: list[dict[str, Any]], model: str = "provider/some-model", **args: Any
) -> Run:
    """Return a run from rows that name what is not a matter of course."""
    frame = pd.DataFrame(
        [
            {
                "instance": f"{pool}-{place:04d}-made",
                "index": place,
                "cluster": f"m{place}",
                "epoch": 1,
                "outcome": "answered",
                "labels": {},
                **dict.fromkeys(SHOWN, math.nan),
                **row,
            }
            for place, row in enumerate(rows)
        ]
    )
    return Run(
        log=f"{pool}.eval", path=f"{pool}.eval", model=model, family=FAMILY,
        suite=f"{NAME}/{pool}", profile="certified", seed="public", parameters={},
        version=f"{FAMILY.version}-0", task=NAME, args={"suite": pool, **args},
        passed={}, created="", frame=frame,
        system=displayed(model),
    )  # fmt: skip


def scored(train: int, heldout: int = 0, valid: int = 1, **more: float) -> dict[str, Any]:
    gates = ("extracted", "schema", "keys", "parse", "legal", "acyclic")
    return {
        **dict.fromkeys(gates, 1.0), "strict_json": 1.0, "valid": valid, "train_exact": train,
        "heldout_exact": heldout, "train_world_exact": train, "heldout_world_exact": heldout,
        "task_correct": train, "solved": train, "latent_match": heldout,
        **({"heldout_exact_if_train": heldout, "heldout_world_if_train": heldout} if train else {}),
        **more,
    }  # fmt: skip


def invalid(**more: float) -> dict[str, Any]:
    return scored(0, valid=0) | {"latent_match": math.nan, "legal": 0.0, "acyclic": 0.0} | more


def shown(*runs: Run) -> Section:
    return section(View(FAMILY, runs, Published()))


def part(found: Section, name: str) -> Any:
    [wanted] = [p for p in found.walk() if not isinstance(p, Remark) and p.id == f"{NAME}-{name}"]
    return wanted


def has(found: Section, name: str) -> bool:
    return any(not isinstance(p, Remark) and p.id == f"{NAME}-{name}" for p in found.walk())


TEN = [scored(1, 1)] * 3 + [scored(1, 0)] * 4 + [scored(0)] * 2 + [invalid()]
LADDER = ("ord_match", "block", "hid_match", "hid_roots")
ROOTS = [scored(1, 0, root_set_exact=0)] * 4 + [scored(1, 1, root_set_exact=1)] * 6
EDITS = {"edits": [{"variable": "X4", "depth": 1, "same_parents": True}], "depths": {"1": 2}}


@pytest.fixture(scope="module")
def whole() -> Section:
    """Return the section of one made model that tried most pools, and of the exact agent."""
    own = [scored(1, 0, evidence_unique=0, experiments=3)] * 3
    own += [scored(1, 1, evidence_unique=1, experiments=9, regret=2)] * 3
    optimal = [scored(1, 1, evidence_unique=1, experiments=0)] * 6
    alternative = [scored(1, 0, alt_success=1, joint_success=1) | {"labels": EDITS}] * 7
    ten = ("hid_match", "ord_full", "block", "hid_full", "hid_ext", "hid_cert", "bits_0", "bits_8")
    return shown(
        *(run_of(pool, TEN) for pool in (*ten, "bits_8_long")),
        run_of("ord_match", [scored(1, 1)] * 10),
        run_of("hid_roots", ROOTS),
        run_of("alt_hid", alternative),
        run_of("lab", own, evidence="own"),
        run_of("lab", optimal, evidence="optimal"),
        run_of("hid_match", TEN, model="whybench/exact"),
    )


def test_every_part_has_an_id_of_its_own_words_and_rows(whole: Section) -> None:
    sound(whole)


def first_row(found: Section, table: str, pool: str) -> Any:
    frame = part(found, table).frame
    return frame[frame["pool"] == pool].iloc[0]


def test_table_1_has_hand_computed_shares_and_denominators(whole: Section) -> None:
    row = first_row(whole, "table-1", "hid_match")
    assert row["system"] == "provider/some-model"
    assert row["n"] == 10
    assert row["valid"].startswith("0.900 [")
    assert row["train_exact"].startswith("0.700 [")
    assert row["heldout_exact"].startswith("0.300 [")
    assert row["heldout_exact_if_train"].startswith("0.429 [")
    assert row["heldout_exact_if_train"].endswith("n 7")


@pytest.mark.parametrize(("fits", "mark"), [(5, "*"), (0, "–")])
def test_conditional_figures_among_few_are_suppressed(fits: int, mark: str) -> None:
    rows = [scored(1, 1)] * fits + [scored(0)] * 5
    view = View(FAMILY, (run_of("hid_match", rows),), Published())
    row = first_row(section(view), "table-1", "hid_match")
    assert row["heldout_exact_if_train"] == row["heldout_world_if_train"] == mark


def test_prediction_without_understanding_is_called_by_name() -> None:
    runs = (run_of("hid_match", TEN), run_of("hid_match", TEN, model="whybench/exact"))
    view = View(FAMILY, runs, Published())
    found = child(section(view), f"{NAME}-replay")
    [text] = [p.text for p in found.walk() if isinstance(p, Remark)]
    assert "provider/some-model fits every training row in 7 of 10" in text
    assert "In 4 of these 7" in text
    drawn = part(found, "outcomes").frame
    mine = drawn[drawn["row"].str.contains("some-model")].set_index("kind")["count"].to_dict()
    assert mine["fits the training rows, fails held-out ones"] == 4
    assert mine["no valid answer"] == 1
    assert sum(mine.values()) == 10


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ((0,), "no valid answer"),
        ((1, 0), "contradicts the training rows"),
        ((1, 1, 0), "fits the training rows, fails held-out ones"),
        ((1, 1, 1, 0), "replays everything, another SCM"),
        ((1, 1, 1, 1), "the true SCM"),
        ((), None),
    ],
)
def test_every_answer_is_of_one_kind(values: tuple[int, ...], kind: str | None) -> None:
    names = ("valid", "train_exact", "heldout_exact", "latent_match")
    assert (
        outcome_of(Attempt("s", "hid_match", "m", dict(zip(names, values, strict=False)))) == kind
    )


@pytest.mark.parametrize(
    ("unique", "valid", "train", "heldout", "kind"),
    [
        (1, 1, 1, 1, "right and understood"),
        (0, 1, 1, 1, "right by luck"),
        (0, 1, 1, 0, "bad experiments"),
        (1, 1, 0, 0, "bad inference"),
        (0, 1, 0, 0, "both"),
        (0, 0, 0, 0, "no valid answer"),
    ],
)
def test_failures_in_the_laboratory_are_split(
    unique: int, valid: int, train: int, heldout: int, kind: str
) -> None:
    values = {
        "evidence_unique": unique, "valid": valid, "train_exact": train, "heldout_exact": heldout,
    }  # fmt: skip
    assert kind_of(Attempt("s", "lab", "m", values)) == kind


def test_the_laboratory_compares_own_and_optimal_evidence_in_pairs(whole: Section) -> None:
    bars = part(whole, "lab-failures").frame
    assert bars.loc[bars["kind"] == "bad experiments", "count"].sum() == 3
    [row] = part(whole, "lab-evidence").frame.to_dict("records")
    assert row["heldout_exact"].startswith("+0.500")
    assert row["n"] == 6
    assert part(whole, "lab-regret").frame["regret"].tolist() == [2.0]


def test_the_disclosure_ladder_overlays_what_the_paper_prints(whole: Section) -> None:
    frame = part(whole, "disclosure-match-train-exact").frame
    mine = frame[frame["system"] == "provider/some-model"]
    assert mine["pool"].tolist() == list(LADDER)
    assert mine["share"].tolist() == [1.0, 0.7, 0.7, 1.0]
    assert mine["rung"].tolist() == [
        "order disclosed", "blocks disclosed", "order hidden", "roots hidden too",
    ]  # fmt: skip
    published = Published()
    theirs = frame[frame["published"]]
    assert len(theirs) > 30
    for row in theirs.to_dict("records"):
        system = row["system"].rpartition(" (")[0]
        cells = published.cells(NAME, suite=row["pool"], metric="train_exact", system=system)
        assert row["share"] in {cell.share for cell in cells}
    steps = part(whole, "disclosure-steps").frame
    mine = steps[steps["from"] == "this report"]
    first = mine[(mine["first"] == "ord_match") & (mine["metric"] == "train_exact")].iloc[0]
    assert first["first minus second"].startswith("+0.300")
    printed = set(steps[steps["from"] == "published, other instances"]["first minus second"])
    assert printed <= {cell.printed for cell in published.cells(NAME, table="D.1")}
    assert len(printed) > 10


def test_published_cells_of_table_1_stand_as_printed_and_suppressed_ones_stay_so(
    whole: Section,
) -> None:
    table = part(whole, "table-1").frame
    theirs = table[table["from"] == "published, other instances"]
    seen = {"*": 0, "–": 0}
    ours = {
        "heldout_exact_given_train_exact": "heldout_exact_if_train",
        "heldout_world_exact_given_train_exact": "heldout_world_if_train",
    }
    for cell in Published().cells(NAME, table="1"):
        row = theirs[(theirs["pool"] == cell.suite) & (theirs["system"] == cell.system)].iloc[0]
        text = row[ours.get(cell.metric, cell.metric)]
        mark = "*" if cell.suppressed else "–" if cell.undefined else None
        assert text == (mark or cell.printed)
        if mark:
            seen[mark] += 1
    assert seen["*"] > 0
    assert has(whole, "disclosure-full-train-exact")


def test_table_2_has_all_columns_of_the_paper(whole: Section) -> None:
    table = part(whole, "table-2").frame
    theirs = table[table["from"] == "published, other instances"]
    ours = {
        "per_var_parent_exact": "parent_exact",
        "exact_parent_map": "parent_map_exact",
        "mean_local_match": "local_match",
        "train_exact_given_exact_parent_map": "train_exact_if_map",
        "heldout_exact_given_exact_parent_map": "heldout_exact_if_map",
    }
    cells = Published().cells(NAME, table="2")
    assert {cell.suite for cell in cells} == {"ord_full", "block", "hid_full"}
    for cell in cells:
        row = theirs[(theirs["pool"] == cell.suite) & (theirs["system"] == cell.system)].iloc[0]
        mark = "*" if cell.suppressed else "–" if cell.undefined else cell.printed
        assert row[ours.get(cell.metric, cell.metric)] == mark


def test_figure_1_has_its_right_panel_and_figure_d1_both_shares(whole: Section) -> None:
    right = part(whole, "disclosure-match-heldout-world-exact").frame
    mine = right[right["system"] == "provider/some-model"]
    assert mine["share"].tolist() == pytest.approx([1.0, 0.3, 0.3, 0.6])
    plane = part(whole, "figure-d1").frame
    mine = plane[(plane["system"] == "provider/some-model") & (plane["pool"] == "hid_match")]
    assert mine[["train_world_exact", "heldout_world_exact"]].values.tolist() == [[0.7, 0.3]]
    assert plane["system"].str.endswith(" (published)").any()


def test_the_base_cohort_stands_beside_the_others_and_in_no_other_table() -> None:
    later = run_of("hid_match", [scored(1, 1)] * 3 + [scored(1, 0)])
    base = replace(run_of("hid_match", [scored(1, 0)] * 4), parameters={"disambiguation": False})
    found = shown(later, base)
    table = part(found, "cohorts").frame
    assert table["cohort"].tolist() == ["base", "disambiguated"]
    assert table["heldout_world_exact"].tolist() == [0.0, 0.75]
    assert table["heldout_world minus base"].tolist()[1].startswith("+0.750 [")
    first = part(found, "table-1").frame
    assert first[first["from"] == "this report"]["pool"].tolist() == ["hid_match"]
    assert not has(shown(later), "cohorts")


def test_the_support_and_bits_ladders_use_each_rung_once(whole: Section) -> None:
    frame = part(whole, "support-hidden-heldout-exact").frame
    mine = frame[frame["system"] == "provider/some-model"]
    assert mine["rung"].tolist() == ["match", "full", "ext", "cert"]
    bits = part(whole, "bits-heldout-exact").frame
    assert bits[["system", "rung"]].value_counts().max() == 1
    assert sorted(bits["rung"]) == ["0", "0", "8", "8"]


def test_the_funnel_says_where_answers_are_lost(whole: Section) -> None:
    frame = part(whole, "funnel-stages").frame
    frame = frame[frame["row"].str.startswith("hid_cert")].set_index("stage")
    assert frame["lost here"].to_dict()["legal"] == frame["lost here"].sum() == 1
    assert frame["share"]["parse"] == 1.0
    assert frame["share"]["legal"] == pytest.approx(0.9)


def test_hidden_roots_and_alternatives_have_their_tables(whole: Section) -> None:
    row = first_row(whole, "roots", "hid_roots")
    assert row["root_set_exact"].startswith("0.600 [")
    assert row["train_exact_given_root_exact"] == "1.000, n 6"
    assert row["train_exact_given_root_wrong"] == "*"
    assert part(whole, "edits").frame.iloc[0]["one variable changed"] == "1.000"
    after = part(whole, "after-failure").frame
    assert after.iloc[0]["joint_success"] == "1.000"
    gpt = after[after["system"] == "GPT-5.4"].iloc[0]
    assert gpt["source solved"] == "0.620"


def test_what_is_absent_is_said_with_its_command_and_not_drawn() -> None:
    found = shown(run_of("hid_cert", TEN))
    sound(found)
    said = " ".join(p.text for p in found.walk() if isinstance(p, Remark))
    for command in ("suite=bits_0", "replayscm_lab", "suite=roots_cert", "suite=alt_ord"):
        assert command in said
    assert not has(found, "lab-failures")
    assert not has(found, "bits-train-exact")
    empty = shown()
    assert not [p for p in empty.walk() if isinstance(p, Figure | Table)]


def test_runs_without_a_valid_answer_or_without_scores_do_no_harm() -> None:
    broken = invalid(evidence_unique=0, root_set_exact=0, alt_success=0, joint_success=0)
    pools = ("hid_cert", "hid_roots", "alt_ord", "lab", "bits_4")
    wrong = [run_of(pool, [broken] * 6) for pool in pools]
    sound(shown(*wrong, *(run_of(pool, [{}] * 3, model="provider/other") for pool in pools)))


def test_two_profiles_of_one_pool_are_two_systems() -> None:
    one = run_of("hid_match", TEN)
    two = replace(one, profile="published")
    names = [entry.system for entry in Tried.of(View(FAMILY, (one, two), Published())).listed]
    assert names == [f"provider/some-model · profile {p}" for p in ("certified", "published")]


def test_private_seeds_and_folders_are_never_shown() -> None:
    one = run_of("hid_match", TEN)
    two = replace(one, seed="hush-7", parameters={"data": "folder/released"})
    found = shown(one, two)
    words = repr([(p, getattr(p, "frame", None)) for p in found.walk()])
    assert "seed private-" in words
    assert "released" in words
    assert "hush-7" not in words
    assert "/home" not in words


def test_only_runs_that_match_have_published_figures_beside_them() -> None:
    asked = run_of("hid_match", TEN, protocol="tools")
    drawn = part(shown(asked), "disclosure-match-train-exact")
    theirs = drawn.frame[drawn.frame["published"]]
    low, high = theirs["share"].min(), theirs["share"].max()
    count = theirs["system"].nunique()
    assert f"Published: {low:.2f} to {high:.2f} ({count} systems)." in drawn.alt
    assert "Unlike the paper's runs: provider/some-model in " in drawn.note
    assert "profile, protocol, template." in drawn.note
    table = part(shown(asked), "table-1")
    assert "Unlike the paper's runs" in table.note
    foreign = replace(asked, parameters={"gone": 1})
    alone = part(shown(foreign), "disclosure-match-train-exact")
    assert not alone.frame["published"].any()
    assert "Published" not in alone.alt
    assert "parameters of another version" in alone.note


def played(suite: str, agent: str, count: int) -> tuple[Run, list[tuple[Instance, Trace]]]:
    """Let an agent play real instances, without an engine."""
    told, rows = [], []
    for place in range(count):
        instance = FAMILY.suite(suite)[place]
        trace = play(FAMILY.open(instance), FAMILY.agent(agent, instance))
        score = FAMILY.score(instance, trace)
        values = {k: math.nan if v is None else v for k, v in score.values if k in SHOWN}
        where = {"instance": instance.id, "index": place, "cluster": instance.cluster}
        rows.append(where | values)
        told.append((instance, trace))
    return run_of(suite, rows, model=f"whybench/{agent}"), told


def test_real_episodes_have_bits_and_a_first_contradiction(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wide, told = played("bits_32", "exact", 6)
    matched, more = played("hid_match", "exact", 4)
    stored = {wide.suite: told, matched.suite: more}

    def again(run: Run, most: int) -> Iterator[tuple[Mapping[str, Any], Instance, Trace]]:
        yield from (({}, instance, trace) for instance, trace in stored[run.suite][:most])

    monkeypatch.setattr("whybench.report.view.episodes", again)
    found = shown(wide, matched)
    sound(found)
    wrong = int((wide.frame["heldout_exact"] == 0).sum())
    bars = part(found, "contradictions").frame
    of_wide = bars[bars["row"].str.startswith("bits_32")]
    assert of_wide["count"].sum() == wrong > 0
    assert of_wide.loc[of_wide["kind"] == "a training row", "count"].sum() == 0
    bits = part(found, "support-bits").frame.iloc[0]
    known = [FAMILY.covariates(instance)["bits"] for instance, _ in more]
    assert bits["bits open (mean)"] == round(sum(known) / 4, 1)
    assert "exact (reference agent)" in set(part(found, "table-1").frame["system"])
