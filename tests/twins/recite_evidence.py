"""A second check of made documents of ReCITE, blind to the frames and to the code that wrote them.

It knows the words for the variables of a field, how a sentence ends and what a heading looks like.
A passage speaks of a variable where one of its forms stands as whole words, in any case, unless
these words are but a part of a longer form (then they speak of the longer form's owner): so the
sentence "the price of fertiliser fell" does not name the variable "Price".
"""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from whybench.families.recite.world.vocabulary import FIELDS, Concept, field_named
from whybench.families.recite.world.world import Edge, Node, Span, World

WORD = re.compile(r"\w+")
SENTENCE = re.compile(r"\S.*?\.(?=\s|$)")
RULES = ("vocabulary", "graph", "span", "ends", "status", "mention", "absent")


@dataclass(frozen=True)
class Violation:
    """A rule that a document breaks, and where."""

    rule: str
    what: str


@dataclass(frozen=True)
class Find:
    """A form in a text."""

    start: int
    end: int
    owner: str
    form: str


def violations(world: World) -> list[Violation]:
    """Return all that is wrong with a made document."""
    concepts = concepts_of(world)
    lexicon = forms_of(world, concepts)
    body = finds(world.view.text, lexicon)
    title = finds(world.title, lexicon)
    return [
        *_vocabulary(world, concepts),
        *_graph(world),
        *_spans(world),
        *_ends(world, body),
        *_mentions(world, body, concepts),
        *_absent(world, body, title),
    ]


def concepts_of(world: World) -> Mapping[str, Concept]:
    """Return the field's concepts by name."""
    for name in FIELDS:
        field = field_named(name)
        if world.domains == (field.title,):
            return {concept.name: concept for concept in field.concepts}
    raise ValueError(f"no field is called {world.domains}")


def forms_of(world: World, concepts: Mapping[str, Concept]) -> Mapping[str, frozenset[str]]:
    """Return the owners of each form in lower case; a node's own forms are those it carries."""
    nodes = {node.name: (node.name, *node.aliases) for node in world.nodes}
    others = {
        name: (name, *concept.said, *concept.hinted)
        for name, concept in concepts.items()
        if name not in nodes
    }
    owners: dict[str, set[str]] = defaultdict(set)
    for owner, forms in {**nodes, **others}.items():
        for form in forms:
            owners[form.lower()].add(owner)
    kinds = [node.kind for node in world.nodes] + [c.kind for c in concepts.values()]
    for kind in kinds:
        owners[f"a matter of {kind}".lower()].add(f"matter:{kind}")
    return {form: frozenset(names) for form, names in owners.items()}


def finds(text: str, lexicon: Mapping[str, Iterable[str]], *, longest: bool = True) -> list[Find]:
    """Return the forms that stand in a text; only those inside no longer one, if `longest`."""
    low = text.lower()
    begun: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for form in lexicon:
        begun[tuple(WORD.findall(form)[:2])].append(form)
    found = []
    words = [(match.start(), match.group()) for match in WORD.finditer(low)]
    for (start, word), (_, after) in pairwise([*words, (len(low), "")]):
        for form in (*begun.get((word,), ()), *begun.get((word, after), ())):
            end = start + len(form)
            if low.startswith(form, start) and not low[end : end + 1].isalnum():
                found += [Find(start, end, owner, form) for owner in lexicon[form]]
    found.sort(key=lambda find: (find.start, -find.end, find.owner))
    return _outermost(found) if longest else found


def _outermost(found: Sequence[Find]) -> list[Find]:
    kept: list[Find] = []
    for find in found:
        inside = kept and find.end <= kept[-1].end
        if not inside or (find.start, find.end) == (kept[-1].start, kept[-1].end):
            kept.append(find)
    return kept


def sentences(text: str) -> list[Span]:
    """Return where the sentences stand; headings have none."""
    found: list[Span] = []
    for line in re.finditer(r"[^\n]+", text):
        if not line.group().startswith("#"):
            found += [
                (line.start() + match.start(), line.start() + match.end())
                for match in SENTENCE.finditer(line.group())
            ]
    return found


def _vocabulary(world: World, concepts: Mapping[str, Concept]) -> Iterable[Violation]:
    """Every node is a concept of the field, with just its forms."""
    for node in world.nodes:
        known = concepts.get(node.name)
        if known is None:
            yield Violation("vocabulary", f"{node.name} is no concept of the field")
        elif set(node.aliases) != {*known.said, *known.hinted} or node.kind != known.kind:
            yield Violation("vocabulary", f"{node.name} has other forms or another kind")


def _graph(world: World) -> Iterable[Violation]:
    """Nodes in order, edges sorted and unique, no loop at one node, no node alone."""
    names = [node.name for node in world.nodes]
    if any(a >= b for a, b in pairwise(names)):
        yield Violation("graph", "nodes are not in alphabetical order, or one is there twice")
    if world.view.count != len(names):
        yield Violation("graph", "another count of nodes is told")
    if world.view.nodes != (tuple(names) if world.view.names == "told" else ()):
        yield Violation("graph", "other nodes are told")
    pairs = [(edge.cause, edge.effect) for edge in world.edges]
    if any(a >= b for a, b in pairwise(pairs)):
        yield Violation("graph", "edges are not sorted, or one is there twice")
    if any(cause == effect for cause, effect in pairs):
        yield Violation("graph", "a node is its own cause")
    if {end for pair in pairs for end in pair} != set(range(len(names))):
        yield Violation("graph", "a node is in no edge, or an edge has an unknown end")


def _spans(world: World) -> Iterable[Violation]:
    """Every edge has passages; they are whole sentences of the text and hold no heading."""
    text = world.view.text
    told = sentences(text)
    starts, ends = {start for start, _ in told}, {end for _, end in told}
    headings = [match.start() for match in re.finditer(r"^#", text, re.MULTILINE)]
    for edge in world.edges:
        if not edge.spans:
            yield Violation("span", f"{_said(world, edge)} has no evidence")
        for start, end in edge.spans:
            if not 0 <= start < end <= len(text):
                yield Violation("span", f"{_said(world, edge)}: {start}..{end} is not in the text")
            elif start not in starts or end not in ends:
                yield Violation("span", f"{_said(world, edge)}: no sentences: {text[start:end]!r}")
            elif any(start <= heading < end for heading in headings):
                yield Violation("span", f"{_said(world, edge)}: a heading is among them")


def _ends(world: World, body: Sequence[Find]) -> Iterable[Violation]:
    """The passages speak of both ends, in as many sentences as the status says."""
    told = sentences(world.view.text)
    for edge in world.edges:
        cause, effect = (_voice(world.nodes[end]) for end in (edge.cause, edge.effect))
        spoken = [_owners(body, span) for span in edge.spans]
        missing = {cause, effect} - frozenset[str]().union(*spoken)
        if missing:
            yield Violation("ends", f"{_said(world, edge)}: no word of {sorted(missing)}")
            continue
        both = [
            s for s, owners in zip(edge.spans, spoken, strict=True) if {cause, effect} <= owners
        ]
        at_once = any(
            {cause, effect} <= _owners(body, sentence)
            for start, end in both
            for sentence in told
            if start <= sentence[0] and sentence[1] <= end
        )
        if edge.status == "stated" and not at_once:
            yield Violation("status", f"{_said(world, edge)} is stated in no single sentence")
        if edge.status == "implied" and (not both or at_once):
            yield Violation("status", f"{_said(world, edge)} is not implied across sentences")
        if edge.status == "unknown":
            yield Violation("status", f"{_said(world, edge)} has no status")


def _mentions(
    world: World, body: Sequence[Find], concepts: Mapping[str, Concept]
) -> Iterable[Violation]:
    """Explicit nodes are named or said, implicit ones only hinted at."""
    forms: dict[str, set[str]] = defaultdict(set)
    for find in body:
        forms[find.owner].add(find.form)
    for node in world.nodes:
        if node.mention == "absent":
            continue
        known = concepts.get(node.name)
        hinted = {form.lower() for form in (known.hinted if known else ())}
        plainly, hints = forms[node.name] - hinted, forms[node.name] & hinted
        if node.mention == "explicit" and not plainly:
            yield Violation("mention", f"{node.name} is explicit, but never said")
        if node.mention == "implicit" and plainly:
            yield Violation("mention", f"{node.name} is implicit, but said: {sorted(plainly)}")
        if node.mention == "implicit" and not hints:
            yield Violation("mention", f"{node.name} is implicit, but never hinted at")


def _absent(world: World, body: Sequence[Find], title: Sequence[Find]) -> Iterable[Violation]:
    """No form of an absent node stands in the text, its headings or its title."""
    absent = {node.name for node in world.nodes if node.mention == "absent"}
    for where, found in (("text", body), ("title", title)):
        for find in found:
            if find.owner in absent:
                yield Violation("absent", f"{find.owner} is absent, but the {where} has {find}")


def _voice(node: Node) -> str:
    """Return as whom the text speaks of a node."""
    return f"matter:{node.kind}" if node.mention == "absent" else node.name


def _owners(body: Sequence[Find], span: Span) -> frozenset[str]:
    first = bisect_left(body, span[0], key=lambda find: find.start)
    behind = bisect_left(body, span[1], key=lambda find: find.start)
    return frozenset(find.owner for find in body[first:behind] if find.end <= span[1])


def _said(world: World, edge: Edge) -> str:
    return f"{world.nodes[edge.cause].name} -> {world.nodes[edge.effect].name} ({edge.status})"
