"""The exact reader: reads every made document back, and notices what is wrong with a spoilt one."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import chain

import pytest
from tests.tables import sampled

from whybench.causal.seeds import Stream
from whybench.families.recite.parameters import levels, matched
from whybench.families.recite.proof.certify import proof
from whybench.families.recite.proof.document_parser import NO_NAME, Pair, read, read_as
from whybench.families.recite.world.frames import SLOT, Frame, frames, furniture
from whybench.families.recite.world.generate import Order, made
from whybench.families.recite.world.language import language, sentences
from whybench.families.recite.world.vocabulary import FIELDS, field_named
from whybench.families.recite.world.world import Edge, World

FOREIGN = (
    "# On tides\n\nThe moon pulls at the sea, and the sea gives way. Twice a day the harbour "
    "fills and empties again. Fishermen have always known it.\n\n## Of winds\n\nWinds are "
    "another matter; no table foretells them.\n"
)


@cache
def documents(source: str, count: int) -> tuple[World, ...]:
    """Return documents of all fields in turn; on the ladder, of all levels."""
    found = []
    for number in range(count):
        field = FIELDS[number % len(FIELDS)]
        level = number % 5 + 1 if source == "ladder" else 0
        shares = levels()[level - 1] if level else matched()
        found.append(made(Order(source, "reader", number, shares, level, field=field)))
    return tuple(found)


def field_of(world: World) -> str:
    return next(name for name in FIELDS if (field_named(name).title,) == world.domains)


def shown(world: World, edge: Edge) -> Pair:
    """Return an edge as a text can give it."""
    cause, effect = (
        NO_NAME + node.kind if node.mention == "absent" else node.name
        for node in (world.nodes[edge.cause], world.nodes[edge.effect])
    )
    return cause, effect


def gold(world: World) -> set[Pair]:
    return {shown(world, edge) for edge in world.edges}


COUNTS = {"short": 136, "ladder": 104, "matched": 48, "long": 12}


def test_three_hundred_documents_are_counted() -> None:
    assert sum(COUNTS.values()) == 300
    assert min(COUNTS.values()) >= len(FIELDS)


@pytest.mark.parametrize("source", sampled(COUNTS, 1))
def test_documents_are_read_back_without_a_rest(source: str) -> None:
    for world in documents(source, COUNTS[source]):
        found = read_as(world.view.text, field_of(world))
        assert found.unread == ()
        assert set(found.edges) == gold(world)
        assert len(found.edges) == len(world.edges)


@pytest.mark.parametrize("source", COUNTS)
def test_the_reader_finds_the_field_by_itself(source: str) -> None:
    for world in documents(source, COUNTS[source])[: 2 * len(FIELDS)]:
        found = read(world.view.text)
        assert found.field == field_of(world)
        assert found.unread == ()
        assert proof(world).right


@pytest.mark.parametrize("source", ["short", "ladder"])
def test_an_edge_s_passages_are_all_that_is_needed_for_it(source: str) -> None:
    """The passages alone give the edge; without any one of them, the text does not."""
    for world in documents(source, 24)[::3]:
        field = field_of(world)
        for edge in world.edges[::3]:
            text = world.view.text
            passages = [text[start:end] for start, end in edge.spans]
            assert shown(world, edge) in read_as("\n".join(passages), field).edges
            for start, end in edge.spans:
                rest = read_as(without(text, start, end), field)
                assert shown(world, edge) not in rest.edges
                assert rest.unread == ()


def without(text: str, start: int, end: int) -> str:
    """Return a text with a passage cut out, and one of the blanks around it."""
    before, after = text[:start], text[end:]
    return before + after[1:] if after.startswith(" ") else before.rstrip(" ") + after


def test_a_graph_that_the_text_does_not_give_is_noticed() -> None:
    for world in documents("short", 16):
        first, *rest = world.edges
        turned = replace(first, cause=first.effect, effect=first.cause)
        assert not proof(replace(world, edges=tuple(rest))).right
        assert not proof(replace(world, edges=(turned, *rest))).right


def test_ends_that_are_exchanged_in_a_passage_are_noticed() -> None:
    seen = 0
    for world in documents("short", 24):
        text = world.view.text
        for edge in world.edges:
            if edge.status != "stated" or (edge.effect, edge.cause) in world.pairs:
                continue
            if not edge.frames[0].startswith("stated-"):
                continue
            start, end = edge.spans[0]
            spoilt = exchanged(world, edge, text[start:end])
            found = read_as(text[:start] + spoilt + text[end:], field_of(world))
            assert found.unread == ()
            assert set(found.edges) == gold(world) - {shown(world, edge)} | {
                shown(world, edge)[::-1]
            }
            seen += 1
    assert seen > 40


def exchanged(world: World, edge: Edge, passage: str) -> str:
    """Return a passage in which cause and effect have changed places."""
    low = passage.lower()
    one, other = (
        max((a for a in world.nodes[end].aliases if a.lower() in low), key=len)
        for end in (edge.cause, edge.effect)
    )
    masked = low.replace(one.lower(), "\0").replace(other.lower(), "\1")
    return masked.replace("\0", other).replace("\1", one)


def test_a_missing_sentence_is_noticed() -> None:
    for world in documents("short", 24):
        given = sorted({span for edge in world.edges for span in edge.spans})
        for start, end in given:
            first = next(iter(sentences(world.view.text[start:end])))
            cut = without(world.view.text, start, start + len(first))
            found = read_as(cut, field_of(world))
            assert found.unread or set(found.edges) < gold(world)


def test_half_a_frame_is_not_read() -> None:
    seen = 0
    for world in documents("short", 40):
        for edge in world.edges:
            for start, end in edge.spans:
                parts = list(sentences(world.view.text[start:end]))
                for dropped in range(len(parts) if len(parts) > 1 else 0):
                    left = " ".join(part for k, part in enumerate(parts) if k != dropped)
                    found = read_as(left, field_of(world))
                    assert found.unread
                    assert found.edges == ()
                    seen += 1
    assert seen > 100


def test_an_unknown_sentence_is_noticed() -> None:
    for world in documents("short", 20):
        odd = f"{world.nodes[0].aliases[0].capitalize()} sings {world.nodes[1].aliases[0]}."
        found = read(f"{world.view.text}\n{odd}\n")
        assert found.unread == (odd,)
        assert set(found.edges) == gold(world)


def test_foreign_texts_are_not_read() -> None:
    found = read(FOREIGN)
    assert found.unread == tuple(sentences(FOREIGN))
    assert len(found.unread) == 4
    assert found.edges == () == read("").edges
    assert read("").unread == ()


def test_a_document_is_not_understood_in_another_field() -> None:
    for number, world in enumerate(documents("short", 24)):
        other = FIELDS[(number + 1) % len(FIELDS)]
        assert read_as(world.view.text, other).unread


def test_distractors_give_no_edge() -> None:
    """Of all roles, only those that say so give edges."""
    givers = {
        "stated", "causes", "effects", "mutual", "implied", "through", "acts", "receives",
        "except", "counterfactual", "from", "to", "between",
    }  # fmt: skip
    for role, held in frames().items():
        for frame in held[:5]:
            said, _ = filled(frame, Stream("roles", frame.id), "health")
            text = f"By {furniture()['labels'][0]} we mean nothing."
            found = read_as(f"{said} {text}", "health")
            if role not in ("acts", "receives"):  # these need their label's definition
                assert bool(found.edges) == (role in givers), frame.id


def filled(frame: Frame, stream: Stream, field: str) -> tuple[str, dict[str, list[str]]]:
    """Fill a frame with forms of a field: the text, and slot → what stands there."""
    concepts = stream.sample(field_named(field).concepts, 12)
    forms = [stream.choice((*concept.said, *concept.hinted)) for concept in concepts]
    shelves = {"place": "places", "body": "bodies", "elsewhere": "elsewhere", "label": "labels"}
    fills: dict[str, list[str]] = {}

    def fill(slot: str) -> str:
        if slot in shelves:
            held = [stream.choice(furniture()[shelves[slot]])]
        elif slot == "kind":
            held = [concepts[0].kind]
        elif slot == "year":
            held = [str(1990 + stream.below(40))]
        else:
            many = slot in ("causes", "effects", "members")
            held = [forms.pop() for _ in range(2 + stream.below(3) if many else 1)]
        fills.setdefault(slot, []).extend(held)
        return f"a matter of {held[0]}" if slot == "kind" else listed(held)

    return SLOT.sub(lambda match: fill(match[1]), frame.text), fills


def listed(held: Sequence[str]) -> str:
    *most, last = held
    return f"{', '.join(most)} and {last}" if most else last


@pytest.mark.parametrize("field", FIELDS)
def test_every_frame_reads_as_itself(field: str) -> None:
    """Every second frame here, and the others in the next field."""
    known = language(field)
    every = list(chain.from_iterable(frames().values()))
    for frame in every[FIELDS.index(field) % 2 :: 2]:
        stream = Stream("frames", frame.id, field)
        said, fills = filled(frame, stream, field)
        if stream.below(3) == 0:
            said = f"{stream.choice(furniture()['openers'])} {said}"
        found: dict[str, list[str]] = {}
        for number, sentence in enumerate(sentences(said)):
            read_back = known.read(sentence)
            assert read_back is not None, sentence
            meaning, handed = read_back
            assert (meaning.frame.id, meaning.number) == (frame.id, number)
            for slot, held in handed.items():
                found.setdefault(slot, []).extend(held)
        folded = {slot: [phrase.casefold() for phrase in held] for slot, held in found.items()}
        assert folded == {slot: [p.casefold() for p in held] for slot, held in fills.items()}


def test_a_proof_counts_the_names_that_a_text_leaves_open() -> None:
    for world in documents("ladder", 10):
        found = proof(world)
        assert {node.name for node in found.unnamed} == {
            node.name for node in world.nodes if node.mention == "absent"
        }
        for node, names in zip(found.unnamed, found.alternatives, strict=True):
            assert node.name not in names
            assert not {other.name for other in world.nodes} & set(names)
            kinds = {c.kind for c in field_named(field_of(world)).concepts if c.name in names}
            assert kinds <= {node.kind}
        assert (found.bits > 0) == any(found.alternatives)
