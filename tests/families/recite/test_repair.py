"""Repair by a second model: what it is shown, and that it can invent nothing."""

import json

import pytest
from tests.effort import calls

from whybench import CANARY
from whybench.families.recite.answer import MOST, AnswerError
from whybench.families.recite.prompts.repair import RepairError, accept, prompt, snippet
from whybench.families.recite.world.world import View

FREE = View("text", 3)
TOLD = View("text", 3, "told", ("Crop yield", "Income", "Rain"))
REPLY = "So rain raises crop_yield, and crop-yield raises “Income”: rain -> crop yield -> income."


def graph(*pairs: tuple[object, object]) -> str:
    return json.dumps({"relationships": [{"source": a, "sink": b} for a, b in pairs]})


# What the second model is shown.


def test_a_snippet_is_the_end_of_a_reply() -> None:
    assert snippet("a" * 100 + "b" * 5000) == "b" * 5000
    assert snippet("short") == "short"
    assert snippet("abc", 2) == "bc"
    with pytest.raises(ValueError, match="at least 1"):
        snippet("abc", 0)


def test_the_prompt_holds_the_end_of_the_reply_and_the_way_out() -> None:
    reply = "FIRST THOUGHTS" + "." * 5000 + "costs $5 and ${more}"
    for view in (FREE, TOLD):
        shown = prompt(view, reply)
        assert reply[-5000:] in shown
        assert "FIRST THOUGHTS" not in shown
        assert CANARY in shown
        assert '{"relationships": []}' in shown


def test_only_where_names_are_told_the_prompt_lists_them() -> None:
    listed = "1: Crop yield\n2: Income\n3: Rain"
    assert listed in prompt(TOLD, "x")
    assert listed not in prompt(FREE, "x")


# What it may send.


def test_names_of_the_reply_are_taken_whatever_their_marks_and_case() -> None:
    sent = graph(("Rain", "Crop  Yield"), ("crop_yield", "INCOME"))
    answer = accept(FREE, REPLY, sent)
    assert answer.edges == (("Rain", "Crop Yield"), ("crop_yield", "INCOME"))


def test_fences_and_trailing_prose_do_no_harm() -> None:
    sent = f"Here you are:\n```json\n{graph(('rain', 'income'))}\n```\nI hope {{this}} helps."
    assert accept(FREE, REPLY, sent).edges == (("rain", "income"),)


@pytest.mark.parametrize(
    ("reply", "name"),
    [
        ('{"source": "Soil moisture", "sink"', "soil moisture"),
        ("Soil\n   moisture falls", "Soil moisture"),
        ("farmers' income", "farmer's income"),
        ("CO2 (in ppm) rises", "CO2 (in ppm)"),
        ('"source": "Gr\\u00f6\\u00dfe"', "Größe"),
        ("雨量增加导致洪水", "雨量"),
        ("**Self-esteem**→x", "self esteem"),
    ],
)
def test_a_name_is_found_in_broken_forms(reply: str, name: str) -> None:
    assert accept(FREE, f"{reply} and rain", graph((name, "rain"))).nodes == (name, "rain")


@pytest.mark.parametrize(
    ("sent", "invented"),
    [
        (graph(("rain", "harvest")), "harvest"),
        (graph(("snow", "income")), "snow"),
        (graph(("rain", "rop")), "rop"),
        (graph(("rain", "come")), "come"),
        (graph(("rain", "yield crop")), "yield crop"),
        (graph(("rain", "crop yields")), "crop yields"),
        (graph(("rain", "->")), "->"),
        (graph(("harvest", "harvest")), "harvest"),
        (graph(("rain", "income"), ("income", "poverty"), ("poverty", "rain")), "poverty"),
    ],
)
def test_invented_names_are_refused_and_told(sent: str, invented: str) -> None:
    with pytest.raises(RepairError) as error:
        accept(FREE, REPLY, sent)
    assert f"invents {invented!r}:" in str(error.value)


def test_of_many_invented_names_some_are_told() -> None:
    sent = graph(*((f"made up {i}", "rain") for i in range(9)))
    with pytest.raises(RepairError, match="'made up 4' and 4 more"):
        accept(FREE, REPLY, sent)


@pytest.mark.parametrize("reply", ["I found no graph.", "", REPLY])
def test_an_empty_list_is_taken(reply: str) -> None:
    for view in (FREE, TOLD):
        assert accept(view, reply, graph()).edges == ()


@pytest.mark.parametrize("reply", ["I found no graph.", ""])
def test_a_graph_out_of_nothing_is_refused(reply: str) -> None:
    with pytest.raises(RepairError):
        accept(FREE, reply, graph(("rain", "income")))
    with pytest.raises(RepairError):
        accept(TOLD, reply, graph((3, 2)))


@pytest.mark.parametrize(
    "reply",
    [
        "rain leads to income",
        "edges: 3->2",
        "(3,2)",
        '{"source": 3, "sink": 2',
        '{"source": "3", "sink": "2"}',
        "node_3 causes node_2.",
        "Rain causes 2.",
    ],
)
def test_told_nodes_may_stand_in_the_reply_by_id_or_name(reply: str) -> None:
    assert accept(TOLD, reply, graph((3, 2))).edges == (("Rain", "Income"),)


@pytest.mark.parametrize(
    "reply",
    [
        "rain leads to poverty",
        "3 -> 4",
        "3 and 12",
        "3 and 2.5",
        "3 and 0.2",
        "3 and CO2",
        "3 and incomes",
        "3 and 23",
    ],
)
def test_invented_ids_are_refused_and_told(reply: str) -> None:
    with pytest.raises(RepairError, match="invents 'Income': "):
        accept(TOLD, reply, graph((3, 2)))


@pytest.mark.parametrize(
    ("sent", "stage"),
    [
        ("sorry", "no_object"),
        ('{"relationships": [{"source": 3}]}', "schema"),
        (graph((3, 99)), "ids"),
        (graph(("Rain", "Income")), "ids"),
        (graph(*[(1, 2)] * (MOST + 1)), "size"),
    ],
)
def test_what_is_sent_is_validated_like_any_answer(sent: str, stage: str) -> None:
    with pytest.raises(AnswerError) as error:
        accept(TOLD, "Rain 99 Income Crop yield", sent)
    assert error.value.stage == stage


def test_long_replies_and_repairs_cost_little_time() -> None:
    names = [f"a fairly long name of node {i}" for i in range(2 * MOST)]
    reply = "a fairly long name of " * 8_000 + "; ".join(names[:-1])
    sent = graph(*zip(names[::2], names[1::2], strict=True))

    def refused() -> None:
        with pytest.raises(RepairError, match="invents"):
            accept(FREE, reply, sent)

    assert calls(refused) < 1_000_000


def test_nodes_that_stand_far_apart_may_not_be_joined() -> None:
    reply = "Rain drives floods." + " Nothing else is said here." * 100 + " Wind drives waves."
    view = View("", 4)
    near = '{"relationships": [{"source": "rain", "sink": "floods"}]}'
    far = '{"relationships": [{"source": "rain", "sink": "waves"}]}'
    assert accept(view, reply, near).edges == (("rain", "floods"),)
    with pytest.raises(RepairError, match="far apart"):
        accept(view, reply, far)
