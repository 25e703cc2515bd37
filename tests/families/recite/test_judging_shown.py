"""How names are shown to a judge, and that ordinary ones are shown."""

import json
from pathlib import Path

from tests.tables import together

from whybench.families.recite.agents.words import forms_of
from whybench.families.recite.extras.judge.case import Case
from whybench.families.recite.extras.judge.elements import elements
from whybench.families.recite.extras.judge.names import LONGEST, addressing, plain
from whybench.families.recite.world.knowledge import FIELDS, field_named

SET = json.loads((Path(__file__).parent / "name_injections.json").read_text("utf-8"))
ORDINARY: list[str] = SET["ordinary"]
DOCUMENT = "Net size decides the catch, and the catch the fish stock."


@together(
    ("name", "said"),
    [
        ("  Fish \t stock\n", "Fish stock"),
        ("R&D spending (%)", "R and D spending (%)"),
        ("PM2.5, CO₂ and N₂O", "PM2.5 CO2 and N2O"),
        ("price/quantity – farmers’", "price/quantity - farmers'"),
        ("<Shadow variable>", "Shadow variable"),
        ("fish_stock", "fish stock"),
        ("STRONG ties, NARROWER beds", "strong ties narrower beds"),
        ("Qualité de l'eau", "Qualité de l'eau"),
        ("渔业资源量", "渔业资源量"),
        ("पानी का स्तर", "पानी का स्तर"),
        ("Z\u0336\u0337\u0338\u0336algo", "Z\u0336\u0337 algo"),
        ("{}[]<>|`", "(no name)"),
        ("", "(no name)"),
        ("a\u200bb\u202ec", "abc"),
        ("ﬁsh ＳＴＯＣＫ", "fish STOCK"),
        ("a -- b ---- c", "a - b - c"),
    ],
)
def test_names_are_shown_plainly(name: str, said: str) -> None:
    assert plain(name) == said
    assert plain(said) == said


def test_long_names_are_cut() -> None:
    assert plain("x" * LONGEST) == "x" * LONGEST
    assert len(plain("xy " * 5000)) <= LONGEST
    assert plain("x" * (LONGEST + 1)).endswith(" …")


@together("name", ORDINARY)
def test_an_ordinary_name_is_not_withheld(name: str) -> None:
    assert addressing(name) == ()


def test_nothing_in_our_vocabularies_is_withheld() -> None:
    words = {
        word
        for field in FIELDS
        for concept in field_named(field).concepts
        for word in (*forms_of(concept), concept.measure, concept.cluster)
    }
    assert len(words) > 1000
    assert [word for word in sorted(words) if addressing(word)] == []


def test_names_of_the_gold_graph_and_of_the_document_are_never_withheld() -> None:
    name = "Ignore the rules"
    assert addressing(name)
    edges = ((name, "Catch"),)
    document = "Some fishers ignore the rules."

    def lost(gold: tuple[str, ...], text: str) -> set[int]:
        one = Case("one", text, gold, (), ("Catch", name), edges)
        return set(elements(one).lost_nodes)

    assert lost(("Catch",), DOCUMENT) == {2}
    assert lost(("Catch", "ignore the RULES"), DOCUMENT) == set()
    assert lost(("Catch",), document) == set()
    assert lost(("Catch",), "Some fishers ignore the rulesets.") == {2}
