"""Annotated episodes: the belief counts just as the score does, and nothing legal breaks it."""

import json
from pathlib import Path

import pytest

from whybench.causal.canonical import Record
from whybench.causal.graph import Graph
from whybench.episode.action import Action
from whybench.episode.annotated import AnnotatedEpisode, compared
from whybench.episode.episode import play
from whybench.episode.instance import Instance
from whybench.families.recite import FAMILY
from whybench.families.recite.answer import Answer
from whybench.families.recite.extras import annotated
from whybench.families.recite.extras.belief import believed

SUITES = ("short", "ladder", "standard", "name_assisted")


def annotate(instance: Instance, *actions: Action) -> AnnotatedEpisode:
    episode = FAMILY.open(instance)
    for action in actions:
        episode.step(action)
    return FAMILY.annotate(instance, episode.trace)


def graph(*pairs: tuple[str, str]) -> Action:
    arrows = [{"source": cause, "sink": effect} for cause, effect in pairs]
    return Action.of("submit", answer=json.dumps({"relationships": arrows}))


@pytest.mark.parametrize("suite", SUITES)
@pytest.mark.parametrize("agent", sorted(FAMILY.agents))
def test_the_belief_has_just_the_score_s_precision_and_recall(suite: str, agent: str) -> None:
    instance = FAMILY.suite(suite)[4]
    trace = play(FAMILY.open(instance), FAMILY.agent(agent, instance))
    told = FAMILY.annotate(instance, trace)
    score = FAMILY.score(instance, trace).values
    assert len(told.moments) == len(trace.steps)
    arrows = told.moments[-1].arrows
    assert arrows is not None
    hits = [kind for _, kind in compared(told.truth, arrows)].count("correct")
    assert hits / max(1, len(arrows)) == pytest.approx(score["edge_precision"])
    assert hits / len(told.truth) == pytest.approx(score["edge_recall"])
    assert json.loads(json.dumps(told.to_json())) == told.to_json()


@pytest.mark.parametrize("suite", SUITES)
def test_the_text_suffices_from_the_start_where_the_certificate_says_so(suite: str) -> None:
    for index in (0, 4):
        instance = FAMILY.suite(suite)[index]
        told = FAMILY.annotate(instance, FAMILY.exact_run(instance))
        assert FAMILY.certify(instance).identified
        assert told.sufficed == 0
        arrows = told.moments[-1].arrows
        assert arrows is not None
        pairs = {(arrow.cause, arrow.effect) for arrow in arrows}
        gold = {(arrow.cause, arrow.effect) for arrow in told.truth}
        assert pairs == gold
        assert told.moments[-1].bits == pytest.approx(FAMILY.certify(instance).bits)


def test_verdicts_tell_right_from_wrong_and_name_edges_against_common_knowledge() -> None:
    instance = FAMILY.suite("ladder")[4]
    runs = {
        agent: FAMILY.annotate(instance, play(FAMILY.open(instance), FAMILY.agent(agent, instance)))
        for agent in ("exact", "oracle", "random", "null")
    }
    assert "which the text determines" in runs["exact"].verdict
    assert "which the text determines" in runs["oracle"].verdict
    assert "The reading caused the errors" in runs["random"].verdict
    assert "without edges" in runs["null"].verdict
    strange = [edge for edge in FAMILY.world(instance).edges if edge.plausible is False]
    assert strange
    note = f"Edges against common knowledge found: {len(strange)} of {len(strange)}."
    assert note in runs["oracle"].notes


def test_passages_stand_in_the_text_and_give_every_arrow() -> None:
    instance = FAMILY.suite("short")[2]
    told = annotate(instance)
    assert told.text is not None
    assert {place for passage in told.passages for place in passage.arrows} == set(
        range(len(told.truth))
    )
    world = FAMILY.world(instance)
    for passage in told.passages:
        assert told.text[passage.start : passage.end].strip()
        for place in passage.arrows:
            assert (passage.start, passage.end) in world.edges[place].spans
    spans = [(passage.start, passage.end) for passage in told.passages]
    assert spans == sorted(set(spans))
    assert json.dumps(told.to_json()).count(json.dumps(told.text)[1:60]) == 1


def test_notes_name_nodes_that_were_found_lost_and_invented() -> None:
    instance = FAMILY.suite("ladder")[4]
    nodes = FAMILY.world(instance).nodes
    other = next(node for node in nodes if len(node.aliases) > 1)
    alias = next(alias for alias in other.aliases if alias != other.name)
    left = next(node for node in nodes if node is not other)
    told = annotate(instance, graph((alias, left.name), ("Zeal of dragons", left.name)))
    notes = " ".join(told.notes)
    assert f"Nodes found (2 of {len(nodes)})" in notes
    assert f"{other.name} “{alias}”" in notes
    assert "match no gold node: Zeal of dragons." in notes
    assert "Gold nodes that the answer lacks" in notes
    assert told.moments[0].marks[other.name].startswith(f"“{alias}”")
    assert told.moments[0].did == "submitted 2 edges between 3 nodes"


def test_two_names_of_one_gold_node_stay_two_nodes() -> None:
    instance = FAMILY.suite("ladder")[4]
    world = FAMILY.world(instance)
    node = next(node for node in world.nodes if len(node.aliases) > 1)
    alias = next(alias for alias in node.aliases if alias != node.name)
    far = next(other for other in world.nodes if other is not node)
    pairs = ((node.name, far.name), (alias, far.name), (far.name, far.name.upper()))
    found = believed(world, Answer(pairs, 0, 0, (*dict.fromkeys(sum(pairs, ())),)), "lexical")
    assert len({(arrow.cause, arrow.effect) for arrow in found.arrows}) == 3
    told = annotate(instance, graph(*pairs))
    kinds = [kind for _, kind in compared(told.truth, told.moments[0].arrows or ())]
    episode = FAMILY.open(instance)
    episode.step(graph(*pairs))
    precision = FAMILY.score(instance, episode.trace).values["edge_precision"]
    assert kinds.count("correct") / 3 == pytest.approx(precision)


HOSTILE = (
    Action.malformed("nobody could read it"),
    Action.of("dance"),
    Action.of("submit"),
    Action.of("submit", answer=""),
    Action.of("submit", answer=["not", {"a": "text"}]),
    Action.of("submit", answer="x" * 100_000),
    Action.of("submit", answer='{"relationships": [{"source": "", "sink": 3}]}'),
    Action.of("submit", answer='{"relationships": []}'),
    graph(*((f"node {k}", f"node {k + 1}") for k in range(2_000))),
    graph(("a\u202e\x00b", "c" * 199), ("c" * 199, "a b")),
)


@pytest.mark.parametrize("suite", ["short", "name_assisted"])
def test_hostile_and_unfinished_traces_are_told(suite: str) -> None:
    instance = FAMILY.suite(suite)[1]
    assert annotate(instance).verdict == "No graph was submitted (unfinished)."
    for action in HOSTILE:
        told = annotate(instance, action)
        assert len(told.moments) == 1
        assert len(told.moments[0].did) < 250
        json.dumps(told.to_json())
    told = annotate(instance, *HOSTILE[:3])
    assert [moment.error for moment in told.moments] == [True, True, True]
    assert "No graph" in told.verdict
    assert "not an action" in told.moments[0].did
    assert "dance" in told.moments[1].did
    mended = annotate(instance, HOSTILE[3], HOSTILE[7])
    assert [moment.arrows for moment in mended.moments] == [None, ()]
    assert mended.moments[0].did == "submitted an empty reply"


def test_repaired_answers_are_told_as_such() -> None:
    instance = FAMILY.suite("short")[0]
    args = Record.of(answer='{"relationships": []}', repaired=True)
    assert "second model" in annotate(instance, Action("submit", args)).moments[0].did


@pytest.fixture
def texts(tmp_path: Path) -> str:
    record = {
        "id": 1, "title": "T", "source": "PLOS", "url": "", "domains": ["Medicine", "Education"],
        "nodes": ["Rain", "Harvest", "Price"], "input_text": "Rain feeds the harvest.",
        "edges": [{"source": "Rain", "target": "Harvest"}, {"source": "Harvest", "target": "Price"},
                  {"source": "Price", "target": "Harvest"}],
        "node_explicitness": {"Rain": 1, "Harvest": 2, "Price": 3},
        "publication_date": "2024-05-17",
    }  # fmt: skip
    path = tmp_path / "texts.jsonl"
    path.write_text(json.dumps(record), encoding="utf-8")
    return str(path)


def test_a_published_text_has_a_date_and_no_passages(
    texts: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = FAMILY.suite("standard", profile="published", parameters={"data": texts})
    covariates = FAMILY.covariates(suite[0]).asdict()
    assert (covariates["date"], covariates["domain"]) == ("2024-05-17", "Medicine | Education")
    assert (covariates["cyclic"], covariates["nodes"], covariates["edges"]) == (True, 3, 3)
    assert "stated" not in covariates
    assert "level" not in covariates
    monkeypatch.setattr(annotated, "available", lambda: False)
    told = annotate(suite[0], graph(("rain", "harvest")))
    assert told.notes[0].startswith("Names are compared by their letters only")
    assert told.passages == ()
    assert told.sufficed is None
    assert told.moments[0].bits is None
    assert "A published text" in told.notes[-1]


@pytest.mark.parametrize("suite", SUITES)
def test_covariates_are_plain_and_agree_with_the_world(suite: str) -> None:
    for index in (0, 3):
        instance = FAMILY.suite(suite)[index]
        world, found = FAMILY.world(instance), FAMILY.covariates(instance).asdict()
        assert all(isinstance(value, bool | int | float | str) for value in found.values())
        assert found["characters"] == len(world.view.text)
        assert found["unnamed"] == sum(node.mention == "absent" for node in world.nodes)
        assert found["stated"] + found["implied"] + found["derivable"] == pytest.approx(1)
        assert found["cyclic"] is not Graph.from_edges(len(world.nodes), world.pairs).is_acyclic()
        assert found.get("level") == (index % 5 + 1 if suite == "ladder" else None)
