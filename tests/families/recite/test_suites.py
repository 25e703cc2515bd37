"""The suites: what they promise, level by level and document by document."""

import json
import sys
from collections import defaultdict
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from whybench.episode.action import Action
from whybench.episode.episode import play
from whybench.episode.instance import Instance
from whybench.episode.score import Score
from whybench.families.recite import FAMILY
from whybench.families.recite.parameters import levels, matched
from whybench.families.recite.proof.document_parser import read
from whybench.families.recite.world.generate import Order, made


def played(instance: Instance, agent: str) -> Score:
    return FAMILY.score(instance, play(FAMILY.open(instance), FAMILY.agent(agent, instance)))


def handed(instance: Instance, answer: str) -> Score:
    episode = FAMILY.open(instance)
    episode.step(Action.of("submit", answer=answer))
    return FAMILY.score(instance, episode.trace)


@cache
def ladder(agent: str) -> dict[int, list[dict]]:
    """Half of the ladder's graphs, by level."""
    found = defaultdict(list)
    suite = FAMILY.suite("ladder")
    for instance in (suite[index] for index in range(len(suite) // 2)):
        found[FAMILY.world(instance).level].append(played(instance, agent).values.asdict())
    return dict(found)


def mean(rows: list[dict], name: str) -> float:
    known = [row[name] for row in rows if row[name] is not None]
    return sum(known) / len(known)


@pytest.mark.slow
def test_the_pattern_agents_recall_rises_with_every_level_of_explicitness(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = ladder("pattern")
    recalls = [mean(rows[level], "edge_recall") for level in sorted(rows)]
    with capsys.disabled():
        shown = ", ".join(f"{recall:.3f}" for recall in recalls)
        sys.stdout.write(f"\npattern recall by level: {shown}\n")
    assert len(recalls) == 5
    assert all(low < high for low, high in pairwise(recalls))
    assert recalls[-1] > 0.1


@pytest.mark.slow
def test_the_oracle_and_the_exact_reader_score_one_at_every_level() -> None:
    for agent in ("oracle", "exact"):
        for rows in ladder(agent).values():
            assert {row["edge_f1"] for row in rows} == {1.0}
            assert {row["edge_recall_implausible"] for row in rows} <= {1.0, None}


@pytest.mark.slow
def test_levels_of_the_ladder_share_a_graph_and_nothing_else() -> None:
    suite = FAMILY.suite("ladder")
    for first in range(0, 50, 5):
        worlds = [FAMILY.world(suite[first + level]) for level in range(5)]
        assert len({tuple(world.named()) for world in worlds}) == 1
        assert len({world.view.text for world in worlds}) == 5
        assert len({suite[first + level].cluster for level in range(5)}) == 1


def test_names_told_or_free_the_documents_are_the_same() -> None:
    free, told = FAMILY.suite("standard"), FAMILY.suite("name_assisted")
    for index in range(0, 292, 40):
        one, other = FAMILY.world(free[index]), FAMILY.world(told[index])
        assert one.view.text == other.view.text
        assert (one.nodes, one.edges) == (other.nodes, other.edges)
        assert one.view.nodes == ()
        assert list(other.view.nodes) == sorted(node.name for node in one.nodes)
        assert FAMILY.certify(told[index]).best_score == 1.0


def test_every_document_is_identified_and_leaves_nothing_open() -> None:
    for suite in ("short", "ladder"):
        for index in range(0, 40, 4):
            instance = FAMILY.suite(suite)[index]
            proof = FAMILY.certify(instance)
            assert (proof.identified, proof.bits, proof.witness) == (True, 0, None)
            assert {node.mention for node in FAMILY.world(instance).nodes} <= {
                "explicit", "implicit",
            }  # fmt: skip


def test_recall_is_told_apart_by_what_knowledge_expects() -> None:
    instance = FAMILY.suite("name_assisted", parameters={"nodes": 12, "length": 9_000})[0]
    world = FAMILY.world(instance)
    expected = [edge for edge in world.edges if edge.plausible]
    assert 0 < len(expected) < len(world.edges)
    arrows = [{"source": e.cause + 1, "sink": e.effect + 1} for e in expected]
    score = handed(instance, json.dumps({"relationships": arrows}))
    assert score.values["edge_recall_plausible"] == 1.0
    assert score.values["edge_recall_implausible"] == 0.0


def test_parameters_give_the_shares_that_are_asked_for() -> None:
    parameters = {
        "nodes": 20,
        "explicit": 1,
        "stated": 0,
        "implied": 1,
        "length": 4000,
    }
    for index in range(10):
        world = FAMILY.world(FAMILY.suite("short", parameters=parameters)[index])
        assert len(world.nodes) == 20
        assert {node.mention for node in world.nodes} == {"explicit"}
        assert {edge.status for edge in world.edges} == {"implied"}


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"stated": 0.9, "implied": 0.2}, "sum must be at most 1"),
        ({"field": "astrology"}, "Try one of economy"),
        ({"filter": "nodes=5..9"}, "Give `data` too"),
        ({"data": "texts.jsonl"}, "profile `published`"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(parameters: dict, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        FAMILY.suite("short", parameters=parameters)


def test_the_largest_document_can_be_made_and_read() -> None:
    world = made(
        Order("matched", "largest", 0, matched(), nodes=140, length=170_000, field="health")
    )
    assert len(world.nodes) == 140
    assert len(world.view.text) == pytest.approx(170_000, rel=0.03)
    assert read(world.view.text).unread == ()


def test_five_levels() -> None:
    assert [round(level.explicit, 2) for level in levels()] == [0.7, 0.8, 0.88, 0.94, 1.0]


# Profile `published`: declared defects, each shown to be there.


def published(index: int = 0, suite: str = "name_assisted", **parameters: object) -> Instance:
    return FAMILY.suite(suite, profile="published", parameters=parameters)[index]


def gold_answer(instance: Instance) -> str:
    return str(next(FAMILY.agent("oracle", instance)).args["answer"])


def test_published_takes_no_words_around_an_answer_and_certified_does() -> None:
    certified = FAMILY.suite("name_assisted")[0]
    talkative = f"Here it is: {gold_answer(certified)}"
    assert handed(certified, talkative).values["edge_f1"] == 1.0
    assert handed(published(max_errors=1), talkative).outcome == "invalid_answer"


def test_published_leaves_missing_answers_out_and_certified_scores_them_zero() -> None:
    missing = handed(published(max_errors=1), "I do not know")
    assert missing.values["edge_f1"] is None
    assert missing.values["answered"] == 0.0
    ours = handed(FAMILY.suite("name_assisted", parameters={"max_errors": 1})[0], "I do not know")
    assert ours.values["edge_f1"] == ours.values["edge_recall"] == 0.0
    assert ours.values["edge_f1_answered"] is None


def test_published_keeps_self_loops_and_true_as_an_id() -> None:
    answer = '{"relationships": [{"source": true, "sink": 2}, {"source": 3, "sink": 3}]}'
    score = handed(published(), answer)
    assert score.outcome == "answered"
    assert score.values["self_loops"] == 1.0
    assert handed(FAMILY.suite("name_assisted")[0], answer).outcome == "unfinished"


def test_the_legacy_recall_of_a_perfect_answer_is_not_one() -> None:
    instance = published()
    score = handed(instance, gold_answer(instance))
    assert score.values["edge_f1"] == 1.0
    assert score.values["legacy_precision"] == 1.0
    assert 0.6 < score.values["legacy_recall"] < 0.75


def test_a_repaired_answer_is_marked_and_was_not_valid_at_first() -> None:
    instance = FAMILY.suite("short")[0]
    talk = FAMILY.conversation(episode := FAMILY.open(instance), "plain")
    reply = "I think rainfall drives runoff, and runoff drives floods."
    assert "runoff drives floods" in talk.broken(reply)
    mended = '{"relationships": [{"source": "rainfall", "sink": "runoff"}]}'
    talk.mended(reply, mended)
    score = FAMILY.score(instance, episode.trace)
    assert score.outcome == "answered"
    assert (score.values["repaired"], score.values["valid_first"]) == (1.0, 0.0)


def test_a_repair_that_invents_is_not_taken() -> None:
    instance = FAMILY.suite("short", parameters={"max_errors": 1})[0]
    talk = FAMILY.conversation(episode := FAMILY.open(instance), "plain")
    talk.mended("Rainfall drives runoff.", '{"relationships": [{"source": "a", "sink": "b"}]}')
    assert FAMILY.score(instance, episode.trace).values["repaired"] == 0.0
    assert episode.outcome == "invalid_format"


# Published texts, in files of the same schema.


@pytest.fixture
def texts(tmp_path: Path) -> str:
    rows = [
        {
            "id": number,
            "title": f"Paper {number}",
            "source": "PLOS",
            "url": "",
            "domains": ["Medicine"],
            "num_nodes": 3,
            "num_edges": 2,
            "explicitness": 1.0,
            "nodes": ["Rain", "Crop", "Income"],
            "edges": [{"source": "Rain", "target": "Crop"}, {"source": "Crop", "sink": "Income"}],
            "node_explicitness": {"Rain": 1, "Crop": 2, "Income": 3},
            "input_text": "Rain falls. What grows then depends on it.",
            "abstract": "",
            "publication_date": f"202{number}-01-01",
        }
        for number in range(1, 5)
    ]
    path = tmp_path / "texts.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    return str(path)


def test_published_texts_are_played_and_scored_but_never_proven(texts: str) -> None:
    suite = FAMILY.suite(
        "standard", profile="published", parameters={"data": texts, "similarity": "lexical"}
    )
    assert len(suite) == 4
    assert played(suite[0], "oracle").values["edge_f1"] == 1.0
    assert FAMILY.certify(suite[0]).status == "none"
    with pytest.raises(ValueError, match="generated documents only"):
        played(suite[0], "exact")


def test_a_filter_chooses_among_published_texts(texts: str) -> None:
    parameters = {"data": texts, "filter": "date=2023-01-01..", "similarity": "lexical"}
    suite = FAMILY.suite("name_assisted", profile="published", parameters=parameters)
    assert len(suite) == 2
    assert FAMILY.world(suite[0]).view.nodes == ("Crop", "Income", "Rain")
    with pytest.raises(ValueError, match="No text passes"):
        FAMILY.suite(
            "standard", profile="published", parameters=parameters | {"filter": "nodes=9..12"}
        )
