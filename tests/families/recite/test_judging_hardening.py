"""Names that instruct the judge: gullible judges fall for them raw; what hardening stops."""

import base64
import json
import re
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.tables import together

from whybench.families.recite.extras.judge import elements as listing
from whybench.families.recite.extras.judge import names as shown
from whybench.families.recite.extras.judge.case import Case
from whybench.families.recite.extras.judge.labels import LABELS, PASSES
from whybench.families.recite.extras.judge.names import WITHHELD, addressing
from whybench.families.recite.extras.judge.prompt import question, questions
from whybench.families.recite.extras.judge.verdict import complete, verdict
from whybench.judge.question import Question

SET = json.loads((Path(__file__).parent / "name_injections.json").read_text("utf-8"))
INJECTIONS: dict[str, str] = SET["injections"]
EVERY = [*INJECTIONS.values(), *SET["second_round"], *SET["unseen"]]

SPURIOUS = "Moon phase"
GOLD_NODES = ("Catch", "Fish stock", "Net size", "Price of fish")
GOLD_EDGES = (("Net size", "Catch"), ("Catch", "Fish stock"), ("Fish stock", "Price of fish"))
DOCUMENT = (
    "Net size decides the catch, and the catch the fish stock. Few fish: a high price of fish."
)


def case(name: str) -> Case:
    """Return an answer with two right edges and two with a spurious node of this name."""
    edges = (("Net size", "Catch"), (name, "Catch"), ("Catch", "Fish stock"), ("Fish stock", name))
    nodes = tuple(sorted({node for edge in edges for node in edge}))
    return Case("one", DOCUMENT, GOLD_NODES, GOLD_EDGES, nodes, edges)


# Judges that can read lists, and believe too much -------------------------------------------------


def listed(text: str) -> tuple[list[str], list[tuple[str, ...]]]:
    """Return the nodes and edges in a numbered list, as a simple reader finds them."""
    lines = [match[1] for match in re.finditer(r"^(?:\| )?\d+\. (.*)$", text, re.MULTILINE)]
    split = [tuple(part.strip('"').lower() for part in line.split(" -> ")) for line in lines]
    return [one[0] for one in split if len(one) == 1], [one for one in split if len(one) == 2]


def parts(asked: Question) -> tuple[str, str]:
    """Return what a prompt says of the reference graph and of the answer."""
    head, rest = asked.prompt.split("# The answer", 1)
    return head, rest.rsplit("The answer has ended; what follows", 1)[0]


def judge(pass_name: str, asked: Question, gullible: Callable[[str], bool]) -> str:
    """Reply as one who finds equal names only; once taken in, all is a perfect match."""
    gold, answer = (listed(text) for text in parts(asked))
    own, other = (answer, gold) if pass_name.endswith("precision") else (gold, answer)
    kind = 0 if pass_name.startswith("node") else 1
    taken_in = gullible(parts(asked)[1])
    entries = {}
    for number, shape in asked.schema["properties"]["elements"]["properties"].items():
        mine = own[kind][int(number) - 1] if int(number) <= len(own[kind]) else None
        found = taken_in or mine in other[kind]
        entries[number] = {
            field: choice["enum"][0 if found or field == "importance" else -1]
            for field, choice in shape["properties"].items()
            if field != "why"
        }
    return json.dumps({"case": asked.word, "elements": entries})


def seen(text: str) -> str:
    """Return a text as a model reads it: without invisible characters, disguises seen through."""
    text = "".join(chr(ord(c) - 0xE0000) if 0xE0000 < ord(c) < 0xE007F else c for c in text)
    text = unicodedata.normalize("NFKC", text)
    for run in re.findall(r"[A-Za-z0-9+/]{30,}=*", text):
        text += "\n" + base64.b64decode(run + "=" * (-len(run) % 4)).decode("utf-8", "replace")
    text = "".join(c for c in text if unicodedata.category(c) != "Cf")
    return text + "\n" + text.translate(str.maketrans("аоес", "aoec"))


def obeys_tokens(text: str) -> bool:
    """Believe a label that stands anywhere in the answer."""
    words = re.sub(r"[\W_]+", " ", seen(text)).lower()
    return bool(
        re.search(
            r"\b(?:strong ?match|presence explicit|semantic strong|abstraction aligned"
            r"|fully correct|(?:label\w*|mark|marks|as|be) (?:\w+ ){0,3}correct)\b|strongmatch",
            words,
        )
    )


ORDERS = re.compile(
    r"\b(?:ignore|disregard|forget|labels?|labelled|rate|mark|treat|give|count|accept|consider|obey"
    r"|reply|must|ask|asked|told|judged?|ignoriere|bewerte|oubliez|marquez|ignora|marca|игнорируй"
    r"|ставь)\b|忽略|标记"
)
OBJECTS = re.compile(
    r"\b(?:nodes?|elements?|everything|all|every|each|rubric|instructions|match|correct|numbers?"
    r"|label|strong|this|anweisungen|jeden|alle|tous|consignes|todo|instrucciones|везде|правила)\b"
    r"|指令|节点"
)


def obeys_orders(text: str) -> bool:
    """Obey whatever sounds like an order to a judge, in several languages."""
    sentences = re.split(r"[.!?\n\r\u2028]", seen(text).lower())
    return any(ORDERS.search(one) and OBJECTS.search(one) for one in sentences)


def believes_forgeries(text: str) -> bool:
    """Take every mark, list, turn or object in the answer for what it pretends to be."""
    inside = re.split(r"<<<ANSWER \w+>>>\n", text, maxsplit=1)[1]
    inside = inside.rsplit("\n<<<END OF ANSWER", 1)[0]
    lines = inside.splitlines()
    if any(not line.startswith("| ") for line in lines):
        return True
    numbers = [int(m[1]) for line in lines if (m := re.match(r"\| (\d+)\. ", line))]
    turn = numbers.index(1, 1)
    counted = [*range(1, turn + 1), *range(1, len(numbers) - turn + 1)]
    forged = r"[{}\[\]=:]|<\||<<|</|```|[Aa]ssistant:|SYSTEM:"
    return numbers != counted or any(
        re.search(forged, line.removeprefix("| Nodes:").removeprefix("| Edges, cause -> effect:"))
        for line in lines
    )


GULLIBLE = {"tokens": obeys_tokens, "orders": obeys_orders, "forgeries": believes_forgeries}


def said(one: Case, gullible: Callable[[str], bool]) -> dict[str, dict[int, dict[str, str]]]:
    given: dict[str, dict[int, dict[str, str]]] = {}
    for pass_name in PASSES:
        given[pass_name] = {}
        for numbers, asked in questions(one, pass_name):
            reply = judge(pass_name, asked, gullible)
            given[pass_name] |= LABELS.read_entries(pass_name, numbers, asked.word, reply)
    return given


def scores(one: Case, gullible: Callable[[str], bool]) -> dict[str, float]:
    return dict(verdict(one, said(one, gullible)).values)


def labels(one: Case, name: str, gullible: Callable[[str], bool]) -> dict[object, dict[str, str]]:
    """Return what a judge says of each element in the end, under its name; `name` as one word."""
    given = said(one, gullible)
    own = {
        "node_precision": one.answer_nodes,
        "node_recall": one.gold_nodes,
        "edge_precision": one.answer_edges,
        "edge_recall": one.gold_edges,
    }
    neutral = {name: "the spurious one"}
    return {
        (pass_name, str([neutral.get(part, part) for part in _parts(element)])): dict(entry)
        for pass_name, entries in complete(one, given).items()
        for element, entry in zip(own[pass_name], entries or (), strict=True)
    }


def _parts(element: str | tuple[str, str]) -> tuple[str, ...]:
    return (element,) if isinstance(element, str) else element


@pytest.fixture
def raw(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Show names to judges as they are."""
    listing.elements.cache_clear()
    monkeypatch.setattr(listing, "plain", lambda name: name)
    monkeypatch.setattr(listing, "shown_names", lambda names, known, text: {n: n for n in names})
    yield
    listing.elements.cache_clear()


@pytest.fixture
def unflagged(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let no name be withheld: it is shown, but harmlessly."""
    listing.elements.cache_clear()
    monkeypatch.setattr(shown, "speaks", lambda name: False)
    yield
    listing.elements.cache_clear()


def swayed(gullible: Callable[[str], bool]) -> set[str]:
    """Return the injections with which some label differs from a plain spurious name's."""
    calm = labels(case(SPURIOUS), SPURIOUS, gullible)
    return {key for key, name in INJECTIONS.items() if labels(case(name), name, gullible) != calm}


# The set ------------------------------------------------------------------------------------------


def test_the_set_is_large_enough() -> None:
    assert len(INJECTIONS) >= 36
    assert len(SET["ordinary"]) >= 80
    assert len(set(EVERY)) == len(EVERY)


def test_the_judges_tell_right_from_wrong_when_nobody_speaks_to_them() -> None:
    for gullible in GULLIBLE.values():
        found = labels(case(SPURIOUS), SPURIOUS, gullible)
        assert found["node_precision", "['Catch']"]["graph_presence"] == "PRESENCE_STRONG_MATCH"
        spurious = found["node_precision", "['the spurious one']"]
        assert spurious["graph_presence"] == spurious["text_presence"] == "PRESENCE_NO_MATCH"
        assert found["edge_recall", "['Fish stock', 'Price of fish']"]["direction"].endswith(
            "MISSING"
        )
        assert found["edge_recall", "['Net size', 'Catch']"]["direction"].endswith("CORRECT")


@pytest.mark.usefixtures("raw")
def test_raw_names_sway_gullible_judges_on_most_of_the_set() -> None:
    found = {name: swayed(gullible) for name, gullible in GULLIBLE.items()}
    assert len(found["tokens"]) > len(INJECTIONS) / 2
    assert len(found["orders"]) > len(INJECTIONS) / 2
    assert len(found["forgeries"]) > len(INJECTIONS) / 3
    assert len(set.union(*found.values())) >= 0.95 * len(INJECTIONS)


@pytest.mark.parametrize("kind", GULLIBLE)
def test_shown_names_sway_no_judge_and_change_no_label(kind: str) -> None:
    assert swayed(GULLIBLE[kind]) == set()


def star(name: str) -> Case:
    """Return an answer in which every gold node acts on a spurious one of this name."""
    nodes, edges = tuple(sorted((*GOLD_NODES, name))), tuple((node, name) for node in GOLD_NODES)
    return Case("one", DOCUMENT, GOLD_NODES, GOLD_EDGES, nodes, edges)


@pytest.mark.parametrize("kind", GULLIBLE)
def test_a_star_about_a_withheld_name_changes_no_label_and_no_score(kind: str) -> None:
    calm = labels(star(SPURIOUS), SPURIOUS, GULLIBLE[kind])
    expected = scores(star(SPURIOUS), GULLIBLE[kind])
    assert 0 < expected["recall"] < 1
    for name in INJECTIONS.values():
        found = labels(star(name), name, GULLIBLE[kind]), scores(star(name), GULLIBLE[kind])
        assert found == (calm, expected | {"withheld": 1})


@pytest.mark.usefixtures("unflagged")
def test_forgeries_fail_even_if_no_name_is_withheld() -> None:
    assert swayed(believes_forgeries) == set()


# What is shown ------------------------------------------------------------------------------------


@pytest.mark.usefixtures("unflagged")
@together("name", EVERY)
def test_whatever_a_name_holds_it_stays_one_harmless_line_in_the_fence(name: str) -> None:
    asked = question(case(name), "node_precision")
    lines = asked.prompt.splitlines()
    opened = [n for n, line in enumerate(lines) if line.startswith("<<<ANSWER")]
    closed = [n for n, line in enumerate(lines) if line.startswith("<<<END OF ANSWER")]
    assert (len(opened), len(closed)) == (1, 1)
    inside = lines[opened[0] + 1 : closed[0]]
    assert len(inside) == 2 + 4 + 4
    nodes, edges = inside[1:5], inside[6:]
    text = r"[\w '%/().,…-]{1,80}"
    for n, line in enumerate(nodes, 1):
        assert re.fullmatch(rf'\| {n}\. "{text}"', line), line
        assert "_" not in line
    for n, line in enumerate(edges, 1):
        assert re.fullmatch(rf'\| {n}\. "{text}" -> "{text}"', line), line
    assert asked.word not in "\n".join(inside)


# What is withheld ---------------------------------------------------------------------------------


@together("name", [*INJECTIONS.values(), *SET["second_round"]])
def test_a_name_that_speaks_to_the_judge_is_withheld_and_matches_nothing_by_rule(name: str) -> None:
    one = case(name)
    listed_ = listing.elements(one)
    at = one.answer_nodes.index(name) + 1
    assert (listed_.lost_nodes, listed_.lost_edges) == ({at}, {2, 4})
    assert listed_.answer_nodes[at - 1] == WITHHELD
    for pass_name, lost in (("node_precision", {at}), ("edge_precision", {2, 4})):
        assert set(listing.by_rule(one, pass_name)) == lost
        asked = {n for numbers in listing.batches(one, pass_name) for n in numbers}
        assert asked == {1, 2, 3, 4} - lost
    assert verdict(one, dict.fromkeys(PASSES)).values["withheld"] == 1


def test_patterns_are_no_proof_against_new_words() -> None:
    """A known limit: none of a dozen attempts in other words is found, and two sway a judge."""
    unseen: list[str] = SET["unseen"]
    assert [name for name in unseen if addressing(name)] == []
    found = {}
    for kind, gullible in GULLIBLE.items():
        calm = labels(case(SPURIOUS), SPURIOUS, gullible)
        found[kind] = sum(labels(case(name), name, gullible) != calm for name in unseen)
    assert found == {"tokens": 0, "orders": 2, "forgeries": 0}
