"""CausalGame's section of a report: its figures equal what is counted by hand, and the CSV."""

import json
import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from inspect_ai.log import EvalSample
from inspect_ai.scorer import Score
from tests.report.soundness import child, ids, sound

from whybench.causal.canonical import thaw
from whybench.causal.seeds import Stream
from whybench.episode.action import Action
from whybench.episode.episode import play
from whybench.episode.instance import Instance
from whybench.episode.registry import families
from whybench.episode.trace import Trace
from whybench.families.causalgame.claims import claims
from whybench.families.causalgame.extras.report import paper
from whybench.families.causalgame.extras.report.judged import WORDS
from whybench.families.causalgame.extras.report.rows import Games, short
from whybench.families.causalgame.extras.report.section import section
from whybench.families.causalgame.prompts.action_specs import QUESTIONS
from whybench.interfaces.inspectai.runner import reference_logs
from whybench.report.entries import PUBLISHED
from whybench.report.naming import displayed
from whybench.report.published.figures import Published
from whybench.report.runs import Run, read_runs
from whybench.report.section import Figure, Part, Remark, Section, Table
from whybench.report.view import View

FAMILY = families()["causalgame"]
SHOWN = [metric.name for metric in FAMILY.metrics if metric.role != "detail"]
RELEASED = list(FAMILY.suite("all", profile="published"))
STORIES = {name: list(FAMILY.suite(name))[:2] for name in ("antenna", "antenna_no_history", "zone")}
REPORT = dict.fromkeys(QUESTIONS, "text")

Player = Callable[[Instance], Trace]


def agent(name: str) -> Player:
    return lambda instance: play(FAMILY.open(instance), FAMILY.agent(name, instance))


def believer(instance: Instance) -> Trace:
    """Fall for everything, then find all golden claims but the last, and submit the default."""
    known = claims(FAMILY.world(instance).rules.physics)
    firsts = [(claim.golden, claim.beliefs[0]) for claim in known]

    def told(golden: bool, most: int) -> str:
        held = [belief for kind, belief in firsts if kind == golden][:most]
        words = [(b.cause, b.effect, b.sign, b.when) for b in held]
        names = ("cause", "effect", "sign", "when")
        return json.dumps([dict(zip(names, word, strict=True)) for word in words])

    actions = (
        Action.of("deploy", design="{}", count="5", beliefs=told(False, 9)),
        Action.of("deploy", design="{}", count="5", beliefs=told(True, 3)),
        Action.of("submit", design="{}"),
        Action.of("report", **REPORT),
    )
    return FAMILY.replay_episode(instance, actions, 0, "own").trace


def silent(instance: Instance) -> Trace:
    return FAMILY.open(instance).trace


def row(instance: Instance, trace: Trace) -> dict[str, object]:
    score = FAMILY.score(instance, trace)
    values = {name: score.values[name] for name in SHOWN}
    return {
        "instance": instance.id,
        "index": instance.index,
        "cluster": instance.cluster,
        "epoch": 1,
        "outcome": score.outcome,
        **{name: math.nan if value is None else value for name, value in values.items()},
        "labels": thaw(score.labels),
    }


class Made:
    """Views over played instances; episodes come from memory instead of from logs."""

    def __init__(self) -> None:
        self.runs: list[Run] = []
        self.traces: list[list[tuple[dict[str, object], Instance, Trace]]] = []

    def add(
        self,
        player: Player,
        instances: Iterable[Instance] = RELEASED,
        model: str = "acme/one",
        system: str = "",
        **args: object,
    ) -> "Made":
        played = [(instance, player(instance)) for instance in instances]
        rows = [row(instance, trace) for instance, trace in played]
        first = played[0][0]
        made = Run(
            log="made.eval",
            path=f"{len(self.runs)}.eval",
            model=model,
            family=FAMILY,
            suite=f"causalgame/{first.suite}",
            profile=first.profile,
            seed=first.seed,
            parameters=first.parameters.asdict(),
            version=f"{FAMILY.version}-0",
            task="causalgame",
            args={"template": "plain", "protocol": "tools", "evidence": "own"} | args,
            passed=args,
            created="2026-01-01",
            frame=pd.DataFrame(rows),
            system=system or displayed(model),
        )
        self.runs.append(made)
        self.traces.append([(line, *pair) for line, pair in zip(rows, played, strict=True)])
        return self

    @property
    def view(self) -> View:
        found = View(FAMILY, tuple(self.runs), Published())
        found._episodes.update(zip(self.runs, self.traces, strict=True))
        return found


def scored(run: Run, **columns: list[float]) -> Run:
    """Return a run as a judge leaves it."""
    return replace(
        run, frame=run.frame.assign(**{f"report_judge.{k}": v for k, v in columns.items()})
    )


@pytest.fixture(scope="module")
def everything() -> View:
    made = Made()
    made.add(believer).add(agent("oracle"), system="acme/one · protocol=code", protocol="code")
    made.add(agent("null"), model="whybench/null")
    made.add(agent("null"), system="acme/one · evidence=optimal", evidence="optimal")
    for drawn in STORIES.values():
        made.add(agent("null"), drawn, model="whybench/null")
    n = len(RELEASED)
    half = [float(place % 2) for place in range(n)]
    dimensions = ("causal_reasoning", "experimental_design", "reflection_quality", "data_usage")
    made.runs[0] = scored(
        made.runs[0],
        rubric_total=[16 * value for value in half],
        misreported=[0.0] * n,
        **{f"rubric_{name}": half for name in dimensions},
    )
    return made.view


@pytest.fixture(scope="module")
def whole(everything: View) -> Section:
    return section(everything)


def part(found: Section, name: str) -> Figure | Table:
    return next(p for p in found.walk() if not isinstance(p, Remark) and p.id == name)


def remarks(found: Section) -> str:
    return " ".join(p.text for p in found.walk() if isinstance(p, Remark))


def test_every_part_is_whole_and_ids_are_unique(whole: Section) -> None:
    sound(whole)


def test_all_that_the_issue_names_is_there(whole: Section) -> None:
    names = "survival-published challenge-published history-certified tools-minus-code rubric modes"
    names += " difficulty-published claims each-claim distance split evidence"
    assert {f"causalgame-{name}" for name in names.split()} <= set(ids(whole))
    assert "Winning without the right beliefs" not in remarks(whole), "the believer never wins"


def test_survival_equals_the_fleets(everything: View, whole: Section) -> None:
    drawn = part(whole, "causalgame-survival-published").frame
    mine = drawn[drawn["system"] == "null (reference agent)"].set_index("row")["value"]
    fleet = everything.runs[2].frame["survival_rate"]
    for instance, rate in zip(RELEASED, fleet, strict=True):
        scenario = FAMILY.covariates(instance)["scenario"]
        assert mine[short(scenario)] == rate
        marks = drawn[(drawn["whose"] == "of the scenario") & (drawn["row"] == short(scenario))]
        bar = FAMILY.covariates(instance)["threshold"]
        assert marks.set_index("system")["value"]["bar"] == pytest.approx(bar)


def test_published_survival_equals_the_csv(whole: Section) -> None:
    drawn = part(whole, "causalgame-survival-published").frame
    table = part(whole, "causalgame-survival-table-published").frame
    cells = [
        cell
        for condition in ("agentic", "prompting")
        for cell in Published().cells("causalgame", metric="survival_rate", condition=condition)
        if cell.table in ("11", "12") and cell.suite != "core14_mean" and cell.system != "Avg"
    ]
    theirs = drawn[drawn["whose"] == PUBLISHED]
    assert len(theirs) == len(cells) == 2 * 16 * 14
    by_place = theirs.set_index(["row", "system"])["value"]
    printed = table[table["whose"] == PUBLISHED].set_index(["system", "mode"])
    for cell in Stream("test", "causalgame cells").sample(cells, 50):
        place = (short(cell.suite), f"{cell.system}, {cell.condition}")
        assert by_place[place] == pytest.approx(float(cell.printed) / 100)
        assert printed.loc[(cell.system, cell.condition), short(cell.suite)] == cell.printed
    certified = part(whole, "causalgame-survival-certified").frame
    assert PUBLISHED not in set(certified["whose"]), "other rules, other bars"


def test_tools_minus_code_is_paired(everything: View, whole: Section) -> None:
    drawn = part(whole, "causalgame-tools-minus-code").frame
    mine = drawn[drawn["whose"] == "this report"].iloc[0]
    gap = everything.runs[0].frame["survival_rate"] - everything.runs[1].frame["survival_rate"]
    assert (mine["difference"], mine["n"]) == (pytest.approx(gap.mean()), 14)
    paper = drawn[drawn["whose"] == PUBLISHED].set_index("system")["difference"]
    cells = Published().cells("causalgame", table="13", metric="survival_rate_delta")
    assert {c.system: c.share for c in cells} == pytest.approx(paper.to_dict())


def test_difficulty_is_ranked_beside_the_papers_table(everything: View, whole: Section) -> None:
    ranks = part(whole, "causalgame-difficulty-published").frame
    mine = ranks[ranks["system"] == "null (reference agent)"].set_index("scenario")["rank"]
    rates = everything.runs[2].frame["survival_rate"]
    hardest = RELEASED[int(rates.idxmin())]
    assert mine[short(FAMILY.covariates(hardest)["scenario"])] == 1
    table = part(whole, "causalgame-difficulty-table-published").frame.set_index("scenario")
    (cell,) = Published().cells(
        "causalgame", table="14", suite="antenna_trap", metric="survival_rate", condition="agentic"
    )
    assert table.loc["antenna", "paper: agentic"] == cell.printed


def test_rubric_and_modes_follow_the_judge(everything: View, whole: Section) -> None:
    profile = part(whole, "causalgame-rubric").frame
    assert len(profile) == 4
    assert set(profile["share of points"]) == {0.5}
    modes = part(whole, "causalgame-modes").frame.set_index("mode")["reports"]
    low = sum(everything.runs[0].frame["survival_rate"].iloc[1::2] < 0.5)
    counted = {WORDS["A"]: 7, WORDS["C"]: low, WORDS["none"]: 7 - low}
    assert modes[modes > 0].to_dict() == {words: n for words, n in counted.items() if n}


def test_beliefs_are_counted_claim_by_claim(whole: Section) -> None:
    rates = part(whole, "causalgame-claims").frame
    mine = rates[~rates["published"]].set_index("what")["share"]
    assert mine.to_dict() == {"golden claims found": 0.75, "distractors held": 0.0}
    each = part(whole, "causalgame-each-claim").frame
    golden = each[each["claim"].str.contains("golden")]
    assert set(each.loc[~each["claim"].str.contains("golden"), "share"]) == {0.0}
    physics = golden["claim"].str.split(" · ").str[0]
    assert set(golden.groupby(physics)["share"].sum()) == {3.0}, "three of four are found"
    path = part(whole, "causalgame-distance").frame.set_index("deployments")["distance"]
    assert path.to_dict() == {1: 7.0, 2: 1.0}


def test_selection_pairs_have_the_rows_of_table_6(everything: View, whole: Section) -> None:
    table = part(whole, "causalgame-selection-pairs").frame
    theirs = table[table["whose"] == PUBLISHED].set_index("Condition")
    assert theirs["Prompt"].to_dict() == {
        "w Selection Bias": "55.2", "w/o Selection Bias": "68.8", "Δ": "13.5",
    }  # fmt: skip
    names = [FAMILY.covariates(instance)["scenario"] for instance in RELEASED]
    rates = dict(zip(names, everything.runs[0].frame["survival_rate"], strict=True))
    pairs = ("antenna_trap", "deployment_zone_trap_categorical")
    gap = sum(rates[f"{name}_no_selection_bias"] - rates[name] for name in pairs) / 2
    mine = table[table["Condition"] == "Δ"].iloc[0]
    assert mine["Agent"] == f"{100 * gap:.1f}"


def test_the_papers_claims_follow_the_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    zone = [FAMILY.covariates(i)["scenario"].startswith("deployment") for i in RELEASED]
    made = Made().add(agent("null"))
    judged = scored(
        made.runs[0], rubric_total=[8.0] * 14, claims_golden=[0.25 if z else 0.75 for z in zone],
        claims_distractor=[0.0] * 14, distance_01=[5.0] * 14,
        claim_antenna_gt_001=[math.nan if z else 1.0 for z in zone],
        distance_02=[math.nan if z else 2.0 for z in zone],
    )  # fmt: skip
    made.runs[0] = replace(judged, frame=judged.frame.assign(sample="one"))
    told = {"reason": "vague", "confidence": 0.7, "evidence": ["it emits"]}
    said = {"verdicts": [{"CR1": 0.5}], "details": [{"CR1": told}]}
    scores = {"report_judge": Score(value={}, metadata=said)}
    sample = EvalSample(id="one", epoch=1, input="", target="", scores=scores)
    monkeypatch.setattr(paper, "read_eval_log_sample", lambda *_, **__: sample)
    found = section(made.view)
    for task, golden, first in (("antenna", "75.0", "75"), ("zone", "25.0", "41")):
        table = part(found, f"causalgame-paper-claims-{task}").frame
        assert list(table["Golden"])[:2] == [golden, first]
        assert list(table["whose"] == PUBLISHED) == [False] + [True] * 5
    each = part(found, "causalgame-paper-claims-each").frame
    printed = [cell.printed for cell in Published().cells("causalgame", table="15")]
    assert list(each["paper, %"]) == printed
    assert list(each[each.columns[-1]].dropna()) == ["100.0"]
    for task, path in (("zone", [5.0, 5.0]), ("antenna", [5.0, 2.0])):
        assert list(part(found, f"causalgame-paper-distance-{task}").frame["distance"]) == path
    table = part(found, "causalgame-criteria").frame
    assert len(table) == 14
    shown = ["CR1", 0.5, 0.7, "PARTIALLY_SATISFIED", "vague", "it emits"]
    assert list(table.iloc[0])[2:] == shown


def test_winning_without_understanding_is_called_out() -> None:
    made = Made().add(believer)
    frame = made.runs[0].frame.assign(win=1.0, golden_found=[0.25] * 4 + [1.0] * 10)
    made.runs[0] = replace(made.runs[0], frame=frame)
    text = remarks(child(section(made.view), "causalgame-beliefs"))
    assert "won 14 fleets after recording beliefs. In 4 of them (28.6 %)" in text


def test_losses_are_split_and_evidence_is_compared(whole: Section) -> None:
    split = part(whole, "causalgame-split").frame
    mine = split[split["system"].str.startswith("agent null, published")]
    assert set(mine["what"]) == {"lost: bad experiments", "lost: cannot be won"}
    assert mine["share"].sum() == pytest.approx(1)
    wins = part(whole, "causalgame-evidence").frame
    assert set(wins["evidence"]) == {"own", "optimal"}


def test_other_evidence_seed_or_wording_is_another_group() -> None:
    hidden = list(FAMILY.suite("all", profile="published", seed="hush-7"))[:3]
    made = Made().add(silent, RELEASED[:2]).add(silent, RELEASED[3:5])
    made.add(silent, RELEASED[1:4], evidence="optimal").add(silent, hidden)
    made.add(silent, RELEASED[:1], template="compact")
    found = Games.of(made.view).every
    assert [len(group.frame) for group in found] == [4, 3, 3, 1]
    names = [group.name for group in found]
    assert len(set(names)) == 4
    assert "evidence=optimal" in names[1]
    assert "seed=private-" in names[2]
    whole = section(made.view)
    assert "hush-7" not in repr([(p, getattr(p, "frame", None)) for p in whole.walk()])
    wins = part(whole, "causalgame-evidence").frame
    assert list(wins["n"]) == [2, 2], "both were played with own and with optimal evidence"


def test_stories_of_one_system_form_one_group(everything: View, whole: Section) -> None:
    (drawn,) = Games.of(everything).profiles["certified"]
    assert drawn.frame["scenario"].to_list() == [name for name in STORIES for _ in range(2)]
    shown = part(whole, "causalgame-survival-certified").frame
    mine = shown[shown["system"] == "null (reference agent)"].set_index("row")
    assert list(mine.index) == [short(name) for name in STORIES]
    first = drawn.frame["survival_rate"].iloc[:2].mean()
    assert mine["value"].iloc[0] == pytest.approx(first)


def test_absent_data_give_a_sentence_and_no_empty_figure() -> None:
    found = section(Made().add(agent("null"), STORIES["antenna"]).view)
    for words in ("protocol=code", "report_judge", "evidence=optimal", "recorded beliefs"):
        assert words in remarks(found)
    kept: list[Part] = [p for p in found.walk() if isinstance(p, Figure)]
    assert all(not p.frame.empty for p in kept if isinstance(p, Figure))
    assert "causalgame-difficulty-certified" not in ids(found), "two scenarios are no rank"


def test_runs_without_a_fleet_or_of_another_version_do_no_harm() -> None:
    made = Made().add(silent)
    found = section(made.view)
    glance = part(found, "causalgame-glance").frame.iloc[0]
    assert glance["ended otherwise"] == "unfinished 14"
    assert glance["won"].startswith("0.00")
    old = replace(made.runs[0], version="0-0", suite="causalgame/antenna_trap")
    assert section(View(FAMILY, (old,), Published())).children
    unscored = made.runs[0].frame.assign(**dict.fromkeys(SHOWN, math.nan), labels=[{}] * 14)
    made.runs[0] = replace(made.runs[0], frame=unscored)
    room = child(section(made.view), "causalgame-survival")
    assert "No fleet of profile published was scored" in remarks(room)
    assert part(section(made.view), "causalgame-glance").frame.iloc[0]["won"] == "–"


@pytest.mark.wire
def test_a_real_log_makes_a_section(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:

    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "xdg"))
    reference_logs(FAMILY.suite("antenna"), ("null",), tmp_path / "logs", 2)
    logs = read_runs([tmp_path / "logs"])
    found = section(View(FAMILY, logs.runs, Published()))
    assert part(found, "causalgame-split").frame["episodes"].sum() == 2
