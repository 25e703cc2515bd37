"""The two released problems and their 18 stored answers: our scorer against the stored one."""

import gzip
import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from whybench.causal.boolean import Formula, parse
from whybench.causal.canonical import EMPTY
from whybench.causal.graph import members
from whybench.episode.episode import ANSWERED
from whybench.families.replayscm.alternative import candidate_of, contrast, experiment
from whybench.families.replayscm.score import Handed, values
from whybench.families.replayscm.submission import Candidate, extract, judge
from whybench.families.replayscm.world.released import problems
from whybench.families.replayscm.world.replay import mismatches, replay
from whybench.families.replayscm.world.world import World, names, numbers, scm_of

DATA = Path(__file__).parents[4] / "shared" / "data" / "replayscm"

needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="needs the released problems")

CORE = {
    "valid": "valid",
    "correct": "task_correct",
    "trainExact": "train_exact",
    "heldoutExact": "heldout_exact",
    "trainAccuracy": "train_accuracy",
    "heldoutAccuracy": "heldout_accuracy",
    "trainWorldExactAccuracy": "train_world_exact",
    "heldoutWorldExactAccuracy": "heldout_world_exact",
    "bloat": "bloat",
    "altSuccess": "alt_success",
    "experimentValid": "experiment_valid",
    "pairSeparates": "pair_separates",
    "pairDisagreementRate": "pair_disagreement",
    "experimentOptimality": "experiment_optimality",
    "witnessValid": "witness_valid",
    "jointSuccess": "joint_success",
}
"""Sixteen stored fields and our metrics. What the released scorer never came to is absent there;
with us it is 0 where it is a yes or no, and has no value where it is a rate."""

RATES_OF_A_PAIR = ("pairDisagreementRate", "experimentOptimality")


def lines(kind: str) -> list[dict[str, Any]]:
    with gzip.open(DATA / f"alt_ord.SAMPLE2.{kind}.jsonl.gz", "rt") as file:
        return [json.loads(line) for line in file]


@cache
def released() -> tuple[tuple[dict[str, Any], World], ...]:
    return tuple(zip(lines("problems"), problems(DATA, "alt_ord"), strict=True))


@cache
def answers() -> list[tuple[dict[str, Any], World, dict[str, Any]]]:
    """Each stored answer with its problem, as stored and as ours."""
    by_id = {problem["id"]: (problem, world) for problem, world in released()}
    return [(*by_id[stored["id"]], stored) for stored in lines("submissions")]


def scored(world: World, answer: dict[str, Any]) -> tuple[dict[str, Any], Candidate]:
    judged = judge(world.view, json.dumps(answer))
    assert judged.candidate is not None, judged
    return values(world, ANSWERED, Handed(judged, 1, True, True), {})[0].asdict(), judged.candidate


@needs_data
def test_the_sixteen_core_fields_of_all_eighteen_answers_agree() -> None:
    compared = 0
    for _, world, submission in answers():
        found, _ = scored(world, submission["answer"])
        for field, metric in CORE.items():
            absent = None if field in RATES_OF_A_PAIR else False
            expected = submission["stored"].get(field, absent)
            same = found[metric] == (None if expected is None else pytest.approx(float(expected)))
            assert same, (submission["model"], field, found[metric], expected)
            compared += 1
    assert compared == 288


def stats(texts: dict[str, str], n: int) -> dict[str, Any]:
    """The stored statistics of formulas, from our reading of them."""
    read: dict[str, Formula] = {name: parse(text, numbers(n)) for name, text in texts.items()}
    operators = {
        name: Counter(item[0] for item in formula.program if isinstance(item, tuple))
        for name, formula in read.items()
    }
    mentioned = {
        name: [names(n)[v] for v in members(formula.mentions)] for name, formula in read.items()
    }
    return {
        "astSize": sum(formula.size for formula in read.values()),
        "maxDepth": max(formula.depth for formula in read.values()),
        "parentCount": sum(map(len, mentioned.values())),
        "operatorCounts": dict(sum(operators.values(), Counter[str]())),
        "equationCount": len(read),
        "perVariable": {
            name: {
                "astSize": formula.size,
                "maxDepth": formula.depth,
                "operatorCounts": dict(operators[name]),
                "variables": mentioned[name],
                "parentCount": len(mentioned[name]),
                "containsIf": False,
            }
            for name, formula in read.items()
        },
        "parentsByVar": mentioned,
    }


def first_mismatch(
    problem: dict[str, Any], world: World, candidate: Candidate, split: str
) -> dict[str, Any] | None:
    """The first wrong cell of a split: by world, then row, then the order of the variables."""
    wrong, at = mismatches(candidate, world.sheet), 0
    for kind in ("train", "heldout"):
        for table in problem[kind]:
            for row in range(len(table["rows"])):
                missed = [v for v in world.view.order if wrong[v] >> at & 1]
                at += 1
                if missed and kind == split:
                    expected = int(table["rows"][row][missed[0]])
                    return {
                        "worldId": table["id"],
                        "rowIndex": row,
                        "variable": names(world.view.n)[missed[0]],
                        "predicted": 1 - expected,
                        "expected": expected,
                    }
    return None


def ours(
    problem: dict[str, Any], world: World, answer: dict[str, Any], succeeded: bool
) -> dict[str, Any]:
    """Every field of a stored evaluation that is no free text, as we compute it."""
    found, candidate = scored(world, answer)
    train, held = replay(candidate, world.sheet)
    n, reference = world.view.n, candidate_of(world.view.reference)
    gold_size = sum(parse(text, numbers(n)).size for text in world.formulas if text)
    size = found["ast_size"]
    heldout_exact = train.exact and held.exact
    both = {
        "valid": True,
        "altValid": True,
        "correct": bool(found["task_correct"]),
        "taskName": "CIND_A_SCM_ALT_EXP",
        "parseError": None,
        "trainExact": train.exact,
        "altTrainExact": train.exact,
        "heldoutExact": heldout_exact,
        "altHeldoutExact": heldout_exact,
        "trainAccuracy": train.accuracy,
        "heldoutAccuracy": held.accuracy,
        "trainWorldExactAccuracy": train.table_rate,
        "altTrainWorldExactAccuracy": train.table_rate,
        "heldoutWorldExactAccuracy": held.table_rate,
        "altHeldoutWorldExactAccuracy": held.table_rate,
        "candidateStats": stats(answer["alternative"]["mechanisms"], n),
        "goldAstSize": gold_size,
        "accGoldPlus": {f"delta_{d}": bool(found[f"gold_plus_{d}"]) for d in (0, 10, 25)},
        "bloat": train.exact and size > gold_size + 25,
        "firstTrainMismatch": first_mismatch(problem, world, candidate, "train"),
        "firstHeldoutMismatch": first_mismatch(problem, world, candidate, "heldout"),
        "altSemanticallyDistinct": found["edited_variables"] > 0,
        "altSuccess": bool(found["alt_success"]),
        "referenceRole": ("gold" if scm_of(world.view.reference) == world.gold else "alternative"),
        "experimentValid": experiment(n, answer["experiment"]) is not None,
        "experiment": answer["experiment"],
        "witnessProvided": "witness" in answer,
    }
    if not succeeded:
        return both
    seen = contrast(n, reference, candidate)
    v, bit = seen.best()
    return both | {
        "pairSeparates": bool(found["pair_separates"]),
        "pairDisagreementRate": found["pair_disagreement"],
        "cellDifferenceRate": found["cell_difference"],
        "experimentOptimality": found["experiment_optimality"],
        "experimentResolves": bool(found["pair_separates"]),
        "bestPairwiseExperiment": {"type": "hard_do", "assignments": {names(n)[v]: bit}},
        "bestPairwiseDisagreementRate": seen.pair_rate(v, bit),
        "bestPairwiseCellDifferenceRate": seen.cell_rate(v, bit),
        "witnessValid": bool(found["witness_valid"]),
        "jointSuccess": bool(found["joint_success"]),
    }


@needs_data
def test_every_other_stored_field_agrees_but_the_free_text() -> None:
    compared = 0
    for problem, world, submission in answers():
        stored = submission["stored"]
        mine = ours(problem, world, submission["answer"], stored["altSuccess"])
        assert set(stored) - set(mine) == {"failureExplanation"}
        assert set(mine) <= set(stored)
        for field, value in mine.items():
            expected = pytest.approx(stored[field]) if isinstance(value, float) else stored[field]
            assert value == expected, (submission["model"], field, value, stored[field])
            compared += 1
        assert (stored["failureExplanation"] is None) == stored["correct"]
    assert compared == 606


@needs_data
def test_the_released_problems_are_read_as_they_are_stored() -> None:
    for problem, world in released():
        view, n = world.view, len(problem["variables"])
        assert (view.task, view.disclosure, view.released) == ("alternative", "ordered", True)
        assert [view.names[v] for v in view.display] == problem["prompt_order"]
        assert [view.names[v] for v in view.order] == problem["order"]
        assert {view.names[v] for v in members(world.gold.roots)} == set(problem["roots"])
        assert view.told.roots == world.gold.roots
        assert (view.told.k, view.told.root_count, view.told.ordered) == (n - 1, 3, True)
        assert (world.facts, view.heldout) == (EMPTY, len(problem["heldout"]))
        for tables, stored in (
            (view.train, problem["train"]),
            (world.heldout, problem["heldout"]),
        ):
            for table, item in zip(tables, stored, strict=True):
                rows = ["".join(str(row >> v & 1) for v in range(n)) for row in table.rows()]
                assert rows == item["rows"]
                assert {view.names[v] for v in members(table.targets)} == set(item["targets"])
                assert table.mode == item["mode"]
                for name, bit in item["const"].items():
                    assert table.columns[numbers(n)[name]] == bit * ((1 << table.size) - 1)


@needs_data
def test_the_stored_facts_of_the_gold_mechanisms_agree() -> None:
    for problem, world in released():
        n = world.view.n
        for name, text in problem["gold"].items():
            formula = parse(text, numbers(n))
            parents = [names(n)[u] for u in members(world.gold.parents[numbers(n)[name]])]
            assert formula.size == problem["gold_ast"][name]
            assert formula.depth == problem["gold_depth"][name]
            assert parents == problem["gold_parents"][name]


@needs_data
def test_gold_replays_every_released_table() -> None:
    for _, world in released():
        train, held = replay(candidate_of(world.formulas), world.sheet)
        assert train.exact
        assert held.exact
        assert (train.table_rate, held.table_rate) == (1.0, 1.0)


@needs_data
def test_the_two_latent_scms_have_names_of_their_own() -> None:
    worlds = problems(DATA, "alt_ord")
    assert len({world.cluster for world in worlds}) == 2
    assert worlds == problems(DATA, "alt_ord")


# Extraction.


def readable() -> list[tuple[World, dict[str, Any]]]:
    return [(w, stored) for _, w, stored in answers() if "\\ n" not in stored["raw"]]


@needs_data
def test_fourteen_raw_replies_yield_the_stored_answer() -> None:
    assert len(readable()) == 14
    for world, submission in readable():
        found = extract(world.view, submission["raw"])
        assert found is not None
        chosen = json.loads(found.text)
        assert {key: chosen[key] for key in submission["answer"]} == submission["answer"]


@needs_data
def test_four_raw_replies_are_no_json_because_of_a_stray_escape() -> None:
    broken = [stored for _, _, stored in answers() if "\\ n" in stored["raw"]]
    assert len(broken) == 4
    for submission in broken:
        with pytest.raises(json.JSONDecodeError):
            json.loads(submission["raw"])


@needs_data
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Here is my answer:\n", ""),
        ("", "\nI am sure that this is right."),
        ('First I thought {so}, then {"X1": 1}. ', " Done: {}"),
        ("```json\n", "\n```"),
        ("<think>X1 = {a, b}</think>\n```\n", "\n```\nThat is all."),
        ('{"mechanisms": {"X1": "X2"}}\n', ""),
        ("", '\n{"mechanisms": {"X1": "X2"}}'),
        ('{"experiment": {}, "witness": {}}\n', '\n{"alternative": {"mechanisms": {}}}'),
    ],
)
def test_the_outer_object_is_found_in_wrapped_replies(before: str, after: str) -> None:
    for world, submission in readable():
        found = extract(world.view, before + submission["raw"] + after)
        assert found is not None
        assert not found.strict
        chosen = json.loads(found.text)
        assert {key: chosen[key] for key in submission["answer"]} == submission["answer"]


# Files that are not as they should be.


def test_a_missing_folder_says_what_to_give(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="Give the folder that holds the released files"):
        problems(tmp_path / "nowhere", "alt_ord")


def test_a_missing_file_or_one_too_many_says_what_to_put_there(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"has none\. Put the released file there"):
        problems(tmp_path, "alt_ord")
    for name in ("alt_ord.a.problems.jsonl.gz", "alt_ord.b.problems.jsonl.gz"):
        (tmp_path / name).write_bytes(gzip.compress(b""))
    with pytest.raises(ValueError, match=r"alt_ord\.a\.problems\.jsonl\.gz, alt_ord\.b"):
        problems(tmp_path, "alt_ord")


@pytest.mark.parametrize(
    "content",
    [b"not gzip", *(gzip.compress(text, mtime=0) for text in (b"not json", b"{}", b"[1]\n"))],
)
def test_a_broken_file_is_named_and_to_be_fetched_again(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "ord.problems.jsonl.gz").write_bytes(content)
    with pytest.raises(ValueError, match=r"ord\.problems\.jsonl\.gz.*Fetch"):
        problems(tmp_path, "ord")


def compact(**changes: Any) -> dict[str, Any]:
    """A tiny problem in the compact form: X3 = (not X1), X2 a root, X4 = (and X2 X3)."""
    table = {"id": "train_00", "mode": "none", "targets": [], "const": {}, "rows": ["0110", "1000"]}
    return {
        "task": "induce",
        "disclosure": "hidden",
        "blocks": None,
        "roots_hidden": False,
        "variables": ["X1", "X2", "X3", "X4"],
        "roots": ["X2", "X1"],
        "order": ["X2", "X1", "X3", "X4"],
        "prompt_order": ["X4", "X1", "X3", "X2"],
        "ops": ["not", "and", "or", "xor", "iff"],
        "allow_constants": False,
        "train": [table],
        "heldout": [table, table],
        "gold": {"X3": "(not X1)", "X4": "(and X2 X3)"},
    } | changes


def written(folder: Path, *items: dict[str, Any]) -> Path:
    text = "".join(json.dumps(item) + "\n" for item in items)
    (folder / "mine.problems.jsonl.gz").write_bytes(gzip.compress(text.encode()))
    return folder


def test_all_disclosures_of_the_compact_form_are_read(tmp_path: Path) -> None:
    blocks = [["X1", "X2"], ["X4", "X3"]]
    folder = written(
        tmp_path,
        compact(),
        compact(disclosure="ordered"),
        compact(disclosure="blocks", blocks=blocks),
        compact(task="roots", roots_hidden=True),
    )
    hidden, ordered, block, roots = (world.view for world in problems(folder, "mine"))
    assert [v.disclosure for v in (hidden, ordered, block, roots)] == [
        "hidden",
        "ordered",
        "block",
        "roots",
    ]
    assert hidden.told.admissible == (0, 0, 0b1011, 0b0111)
    assert ordered.told.admissible == (0, 0, 0b0011, 0b0111)
    assert block.told.admissible == (0, 0, 0b1011, 0b0111)
    assert roots.told.admissible == (0b1110, 0b1101, 0b1011, 0b0111)
    assert (hidden.told.roots, roots.told.roots, roots.told.root_count) == (0b0011, None, 2)
    assert (hidden.order, ordered.order, block.order) == ((), (1, 0, 2, 3), ())
    assert (hidden.blocks, block.blocks) == ((), ((0, 1), (3, 2)))
    assert hidden.display == (3, 0, 2, 1)
    assert [view.told.ordered for view in (hidden, ordered)] == [False, True]
    assert {view.told.k for view in (hidden, ordered, block, roots)} == {3}
    assert hidden.train[0].rows() == (0b0110, 0b0001)


@pytest.mark.parametrize(
    "changes",
    [
        {"variables": ["X2", "X1", "X3", "X4"]},
        {"variables": ["A", "B", "C", "D"]},
        {"allow_constants": True},
        {"ops": ["not", "and", "if"]},
        {"disclosure": "blocks", "blocks": [["X1"], ["X3", "X4"]]},
        {"disclosure": "blocks", "blocks": None},
        {"disclosure": "none"},
        {"train": [{"mode": "none", "targets": [], "rows": ["011"]}]},
        {"train": [{"mode": "none", "targets": ["X9"], "rows": []}]},
        {"gold": ["X1"]},
    ],
)
def test_a_problem_of_another_form_is_refused_with_its_line(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    folder = written(tmp_path, compact(), compact(**changes))
    with pytest.raises(ValueError, match=r"mine\.problems\.jsonl\.gz, line 2 is not .* Fetch"):
        problems(folder, "mine")
