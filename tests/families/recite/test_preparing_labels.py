"""Labels of explicitness: every node once, and nothing else."""

import asyncio
import json

import pytest

from whybench.families.recite.extras.preparing.annotation.explicitness import (
    contradictions,
    label,
    mentioned,
    read_labels,
    shares,
)
from whybench.families.recite.extras.preparing.model_client import Asker, RefusedError

NODES = ("rain", "Soil moisture", "trust")
TEXT = "Rain wets the land, and soil mois-\nture rises. Entrusted land is another matter."


def said(labels: object) -> str:
    return f"Here you are: {json.dumps({'scores': labels})}"


def test_labels_come_in_the_order_of_the_nodes() -> None:
    found = read_labels(said({"trust": 3, "rain": 1, "Soil moisture": 2}), NODES)
    assert list(found.items()) == [("rain", 1), ("Soil moisture", 2), ("trust", 3)]


@pytest.mark.parametrize(
    ("labels", "why"),
    [
        ({"rain": 1, "Soil moisture": 2}, "no label for 'trust'"),
        ({"rain": 1, "Soil moisture": 2, "trust": 3, "sun": 1}, "no such node: 'sun'"),
        ({"rain": 1, "soil moisture": 2, "trust": 3}, "no such node: 'soil moisture'"),
        ({"rain": 4, "Soil moisture": 2, "trust": 3}, "must be 1, 2 or 3"),
        ({"rain": True, "Soil moisture": 2, "trust": 3}, "must be 1, 2 or 3"),
        ({"rain": "1", "Soil moisture": 2, "trust": 3}, "must be 1, 2 or 3"),
        ({"rain": 1.0, "Soil moisture": 2, "trust": 3}, "must be 1, 2 or 3"),
        ([1, 2, 3], "an object"),
    ],
)
def test_other_labels_are_refused(labels: object, why: str) -> None:
    with pytest.raises(RefusedError, match=why):
        read_labels(said(labels), NODES)


def test_a_node_that_is_labelled_twice_is_refused() -> None:
    twice = '{"scores": {"rain": 1, "rain": 3, "Soil moisture": 2, "trust": 3}}'
    with pytest.raises(RefusedError, match="there twice: 'rain'"):
        read_labels(twice, NODES)


def test_half_a_character_in_a_label_is_refused() -> None:
    with pytest.raises(RefusedError, match="half a character"):
        read_labels(said({"rain": 1, "Soil moisture": 2, "trust\ud800": 3}), NODES)


def test_the_first_guess_is_by_whole_words_whatever_the_case_and_line_ends() -> None:
    assert [mentioned(name, TEXT) for name in NODES] == [True, True, False]


def test_absent_nodes_that_stand_in_the_text_are_doubts() -> None:
    found = list(contradictions(TEXT, {"rain": 3, "Soil moisture": 2, "trust": 3}))
    assert [(c.kind, c.before) for c in found] == [("doubt", "rain")]


def test_shares_are_lenient_and_strict() -> None:
    assert shares({"a": 1, "b": 2, "c": 2, "d": 3}) == (0.75, 0.25)


def test_the_step_lists_refusals_and_doubts() -> None:
    async def ask(prompt: str) -> str:
        assert '"Soil moisture"' in prompt
        return said(dict.fromkeys(NODES, 3) if "was refused:" in prompt else {})

    labels, changes = asyncio.run(label(TEXT, NODES, Asker(ask, "m", 2)))
    assert set(labels.values()) == {3}
    assert [c.kind for c in changes] == ["refused", "doubt", "doubt"]
