"""The plan of a document: sections, paragraphs, and what each of them tells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from whybench.families.recite.world.author import LISTED, Author
from whybench.families.recite.world.doubts import Doubts
from whybench.families.recite.world.drawing import Link
from whybench.families.recite.world.grammar import words
from whybench.families.recite.world.knowledge import Concept
from whybench.families.recite.world.say import (
    COUNT,
    Paragraph,
    Say,
    Section,
    Table,
)
from whybench.families.recite.world.simulate import printed

PART = 9
"""Arrows in a part of the results, about."""
OTHERWISE = 0.2
"""Share of the lures in results that are told by what would have happened otherwise."""
REFERRED = 0.25
"""Share of them that are told by reference to the sentence before."""
PARAGRAPH = 5
"""Sentences of a paragraph, about."""
SHOWN = 7
"""Quantities in a table of correlations."""
VERDICTS = {
    "R": ("First results in the full model", "table_results", "Result"),
    "study ": ("Findings of the cited studies in the full model", "table_studies", "Study"),
}
"""Kind of numbers → caption, sentence and head of the table that decides on them."""


@dataclass(frozen=True, slots=True)
class Setting:
    """The phrases of a document that do not depend on its graph."""

    phrases: Mapping[str, str]
    topics: Mapping[str, str]
    """Topics that take an article, with it."""
    compact: bool
    """Whether it is a short document: fewer repeats, no regression tables."""


def planned(author: Author, doubts: Doubts, setting: Setting) -> list[Section]:
    """Plan a document. Results come first here, because the other sections repeat them."""
    parts = _parts(author)
    results = [_part(author, doubts, setting, title, links) for title, links in parts]
    author.again = True
    abstract = _abstract(author)
    introduction = _introduction(author, doubts)
    hypotheses = _hypotheses(author)
    discussion = _discussion(author, doubts)
    conclusion = _conclusion(author)
    synthesis = [] if setting.compact else _synthesis(author)
    last: dict[str, list[Paragraph]] = {
        "Discussion": discussion,
        "Synthesis": synthesis,
        "Robustness": _robustness(author),
        "Limitations": [_several("limits", 4)],
        "Conclusions": conclusion,
    }
    return [
        Section("Abstract", abstract),
        Section("1 Introduction", introduction),
        Section("2 System and methods", [*_methods(author, doubts), *hypotheses]),
        *(
            Section(f"3.{k} {title[0].upper()}{title[1:]}", part)
            for k, ((title, _), part) in enumerate(zip(parts, results, strict=True), 1)
        ),
        *(
            Section(f"{k} {title}", paragraphs)
            for k, (title, paragraphs) in enumerate(((t, p) for t, p in last.items() if p), 4)
        ),
    ]


def _several(role: str, count: int) -> list[Say]:
    """Return different sentences of a role, in the order of the grammar."""
    return [Say(role, phrases={"@": str(k)}) for k in range(count)]


# Results.


def _parts(author: Author) -> list[tuple[str, list[Link]]]:
    """Divide the arrows by the topic of their effect; small topics join the nearest one."""
    concepts = author.findings.study.system.concepts
    by_topic: dict[str, list[Link]] = {}
    told = [link for link in author.arrows if link not in author.places]
    told += author.told_in("R")
    for link in told:
        by_topic.setdefault(concepts[link[1]].cluster, []).append(link)
    while len(by_topic) > max(1, len(told) // PART):
        small = min(sorted(by_topic), key=lambda topic: len(by_topic[topic]))
        ends = Counter(concepts[a].cluster for a, _ in by_topic[small])
        others = [topic for topic in sorted(by_topic) if topic != small]
        near = max(others, key=lambda topic: (ends[topic], -len(by_topic[topic])))
        by_topic[near] += by_topic.pop(small)
    return [(_main(links, concepts), links) for links in by_topic.values()]


def _main(links: Sequence[Link], concepts: Sequence[Concept]) -> str:
    """Return the topic of most effects."""
    count = Counter(concepts[b].cluster for _, b in links)
    return max(sorted(count), key=lambda topic: count[topic])


def _part(
    author: Author, doubts: Doubts, setting: Setting, title: str, links: Sequence[Link]
) -> list[Paragraph]:
    author.begin("R")
    paragraphs: list[Paragraph] = []
    opening = [Say("part", phrases={"cluster": setting.topics.get(title, title)})]
    rest = author.stream.shuffled(links)
    derivable = [link for link in rest if author.level[link] == "derivable"]
    rest = [link for link in rest if author.level[link] != "derivable"]
    arrows = [link for link in links if link not in author.lures]
    loop = _loop([link for link in rest if link not in author.lures])
    if loop:
        paragraphs.append([*opening, *_told_loop(author, loop)])
        opening = []
    rest = [link for link in rest if link not in loop]
    sentences = _walk(author, rest)
    for links_told in _cut(author.derivable(derivable), 3):
        sentences.append(links_told)
    paragraphs += _paragraphs(opening, sentences)
    if not setting.compact:
        paragraphs += doubts.regressions(arrows)
    paragraphs += _correlations(author, doubts, setting, arrows)
    return paragraphs


def _cut(said: Sequence[Say], size: int) -> list[list[Say]]:
    """Cut into paragraphs of about the same number of sentences, at most `size`."""
    parts = -(-len(said) // size)
    ends = [len(said) * k // parts for k in range(parts + 1)] if parts else [0]
    return [list(said[a:b]) for a, b in pairwise(ends)]


def _loop(links: Sequence[Link]) -> list[Link]:
    """Return a cycle of three to five links, or nothing."""
    after: dict[int, list[int]] = {}
    for a, b in links:
        after.setdefault(a, []).append(b)

    def search(path: list[int]) -> list[int] | None:
        for w in after.get(path[-1], ()):
            if w == path[0] and len(path) >= 3:
                return path
            if w not in path and len(path) < 5:
                found = search([*path, w])
                if found:
                    return found
        return None

    for a, _ in links:
        found = search([a])
        if found:
            return list(zip(found, [*found[1:], found[0]], strict=True))
    return []


def _told_loop(author: Author, loop: Sequence[Link]) -> list[Say]:
    """Tell the links of a cycle in order; it begins behind an implied one, if there is any."""
    start = next((k + 1 for k, link in enumerate(loop) if author.level[link] == "stated"), 1) - 1
    said = [Say("loop_open")]
    sign = 1
    for link in (*loop[start:], *loop[:start]):
        sign *= author.sign(link)
        if author.level[link] == "stated":
            said.append(author.claim(link))
        else:
            said += author.implied(link, said[-1])
    return [*said, Say("loop_close", signs={"!y": sign}, phrases={"k": COUNT[len(loop)]})]


def _walk(author: Author, links: Sequence[Link]) -> list[list[Say]]:
    """Tell links in an order in which neighbours have something to do with each other."""
    rest, runs = list(links), []
    run: list[Say] = []
    at: Link | None = None
    while rest:
        near = [link for link in rest if at and link[0] == at[1]]
        near = near or [link for link in rest if at and (link[0] == at[0] or link[1] == at[1])]
        if not near or len(run) >= PARAGRAPH:
            if run:
                runs.append(run)
            run = []
        link = (near or rest)[0]
        said, taken = _some(author, link, rest, run[-1] if run else None)
        run += said
        at = taken[-1]
        rest = [one for one in rest if one not in taken]
    return [*runs, run] if run else runs


def _some(
    author: Author, link: Link, rest: Sequence[Link], before: Say | None
) -> tuple[list[Say], list[Link]]:
    """Tell a link, and others with it if one sentence can hold them."""
    level = author.level
    if level[link] == "implied":
        twin = [one for one in rest if one != link and level[one] == "implied"
                and one[1] == link[1] and author.sign(one) == author.sign(link)]  # fmt: skip
        if twin and author.stream.uniform() < 0.5:
            return author.both(link, twin[0]), [link, twin[0]]
        return author.implied(link, before), [link]
    alike = [(one in author.places, one in author.lures) for one in (link, *rest)]
    stated = [one for one, kind in zip(rest, alike[1:], strict=True)
              if one != link and level[one] == "stated" and kind == alike[0]]  # fmt: skip
    back = (link[1], link[0])
    if back in stated:
        return [author.mutual(link)], [link, back]
    draw = author.stream.uniform()
    if link in author.lures and draw > 1 - OTHERWISE:
        return [author.absent(link)], [link]
    if link in author.lures and draw > 1 - OTHERWISE - REFERRED:
        return author.referred(link, before) or author.led(link), [link]
    into = [one for one in stated if one[1] == link[1]][:3]
    out = [one for one in stated if one[0] == link[0]][:3]
    on = [one for one in stated if one[0] == link[1] and one[1] != link[0]]
    if draw < 0.2 and into:
        return [author.causes([link, *into])], [*into, link]
    if draw < 0.35 and out:
        return [author.effects([link, *out])], [*out, link]
    if draw < 0.6 and on:
        return [author.chain(link, on[0])], [link, on[0]]
    return [author.claim(link)], [link]


def _paragraphs(opening: list[Say], runs: Sequence[list[Say]]) -> list[Paragraph]:
    """Put short runs together; a run of experiments gets a sentence that introduces it."""
    found: list[list[Say]] = [opening] if opening else [[]]
    for run in runs:
        if found[-1] and len(found[-1]) + len(run) > PARAGRAPH + 2:
            found.append([])
        if run[0].role == "trial" and not found[-1]:
            found[-1].append(Say("trial_open"))
        found[-1] += run
    if len(found) > 1 and len(found[-1]) < 2:
        last = found.pop()
        found[-1] += last
    return [paragraph for paragraph in found if paragraph]


def _correlations(
    author: Author, doubts: Doubts, setting: Setting, links: Sequence[Link]
) -> list[Paragraph]:
    """Print correlations of a part, in words and in a table."""
    said = doubts.correlations(links)
    ends = list(dict.fromkeys(v for link in links for v in link))
    own = doubts.explained(author.stream.sample(ends, min(len(ends), SHOWN)))
    author.shown += 1
    if setting.compact or len(own) < 4 or author.shown % 3 != 1:
        return [[*said, Say("warn")]] if said else []
    table = author.findings.study.correlations
    rows: tuple[tuple[str | int, ...], ...] = tuple(
        (v, *(printed(float(table[v, w]), 2) for w in own[: k + 1]), *("" for _ in own[k + 1 :]))
        for k, v in enumerate(own)
    )
    head = ("Quantity", *(f"({k})" for k in range(1, len(own) + 1)))
    shown = Say("table_corr", phrases={"k": COUNT[len(own)], "#t": "?"})
    return [[shown, *said, Say("warn")], Table("Correlations", head, rows)]


# The other sections.


def _abstract(author: Author) -> list[Paragraph]:
    author.begin()
    said = [author.claim(link) for link in author.due("stated")[: 2 + len(author.arrows) // 12]]
    return [[Say("abstract_open"), *said, Say("abstract_close")]]


def _introduction(author: Author, doubts: Doubts) -> list[Paragraph]:
    author.begin()
    links = [*_third(author.due("stated")), *author.told_in("cited")]
    found = [author.claim(link, "cited") for link in author.stream.shuffled(links)]
    said = [Say("intro_open"), Say("intro_found"), *found, *doubts.elsewhere(), Say("intro_aim")]
    return list(_cut(said, PARAGRAPH + 1))


def _third(links: list[Link]) -> list[Link]:
    return links[: (len(links) + 2) // 3]


def _hypotheses(author: Author) -> list[Paragraph]:
    """State hypotheses with numbers, by topic; some with the mechanism that suggests them."""
    author.begin("H")
    concepts = author.findings.study.system.concepts
    links = sorted(author.told_in("H"), key=lambda link: concepts[link[1]].cluster)
    said = [
        author.claim(
            link,
            "reasoned" if author.explainable(link) and author.stream.below(2) else "hypothesis",
        )
        for link in links
    ]
    return list(_cut([Say("hypotheses_open"), *said], PARAGRAPH + 1)) if said else []


def _robustness(author: Author) -> list[Paragraph]:
    """Withdraw first results by their numbers."""
    verdict = _verdict(author, "R", "retracted")
    if not verdict:
        return []
    first = verdict[0] if isinstance(verdict[0], list) else []
    return [[Say("robustness_open"), *first], *verdict[1:]]


def _verdict(author: Author, kind: str, no: str, yes: str | None = None) -> list[Paragraph]:
    """Decide on first results, or studies, by sentences; on many of them by a table."""
    own = [one for one in author.numbered if one.startswith(kind)]
    if len(own) <= LISTED:
        said = author.decided(yes, kind, True) if yes else []
        said += author.decided(no, kind, False)
        return [said] if said else []
    good, bad = (
        [w.forms["-", "s"] for w in words()["verdict"] if w.polarity == s] for s in (1, -1)
    )
    pick = author.stream.below(len(good))
    rows = tuple((one, good[pick] if author.numbered[one] else bad[pick]) for one in own)
    title, role, head = VERDICTS[kind]
    return [[Say(role, phrases={"#t": "?"})], Table(title, (head, "Full model"), rows)]


def _methods(author: Author, doubts: Doubts) -> list[Paragraph]:
    """Describe data and estimation, define groups, and state first assumptions."""
    system = author.findings.study.system
    rows = tuple(
        (v, concept.measure, concept.unit, figures["#mean"], figures["#sd"])
        for v, concept in enumerate(system.concepts)
        if (figures := author.findings.described(v))
    )
    groups = [
        Say("define", {"ms": members}, phrases={"label": label}, label=label)
        for label, members in author.groups.items()
    ]
    head = ("Quantity", "Measurement", "Unit", "Mean", "SD")
    outside = [
        Say("aside", {"a": v}, phrases=author.findings.described(v))
        for v in range(system.n, len(system.concepts))
    ]
    return [
        [*_several("data", 4), Say("describe")],
        Table(
            "Quantities, their measurement, units, means and standard deviations (SD)", head, rows
        ),
        [*_several("method", 4), *([Say("numbering")] if author.places else [])],
        *_cut([*groups, *doubts.first_doubts()], PARAGRAPH),
        *_cut(outside, PARAGRAPH),
    ]


def _discussion(author: Author, doubts: Doubts) -> list[Paragraph]:
    author.begin()
    concepts = author.findings.study.system.concepts
    explained = [link for link in author.due("stated") if author.explainable(link)]
    explained.sort(key=lambda link: (concepts[link[1]].cluster, link[1]))
    due = author.due("implied")
    because: list[Say] = []
    for link in explained:
        because.append(author.claim(link, "because"))
        after = [one for one in due if one[0] == link[1]][:1]
        because += [author.latter(one) for one in after]
        due = [one for one in due if one not in after]
    again = [one for link in due for one in author.resumed(link)]
    again += author.derivable(author.due("derivable"))
    verdicts = [
        *author.decided("supported", "H", True),
        *author.decided("rejected", "H", False),
    ]
    studies = _verdict(author, "study ", "unreplicated", "replicated")
    contrast = doubts.contrasts()
    return [
        *([verdicts] if verdicts else []),
        *studies,
        *_whole([*([Say("discuss_open")] if because else []), *because, *again], PARAGRAPH),
        *_whole([Say("contrast_open"), *contrast] if contrast else [], PARAGRAPH),
        *_cut(doubts.hedges(), PARAGRAPH),
    ]


def _whole(said: Sequence[Say], size: int) -> list[list[Say]]:
    """Cut into paragraphs without separating a sentence from the ones it belongs to."""
    found: list[list[Say]] = []
    for one in said:
        if not found or (len(found[-1]) >= size and not one.with_last):
            found.append([])
        found[-1].append(one)
    if len(found) > 1 and len(found[-1]) < 3:
        last = found.pop()
        found[-1] += last
    return found


def _synthesis(author: Author) -> list[Paragraph]:
    """Tell once more what is due, of all levels."""
    author.begin()
    runs = _walk(author, author.due("stated", "implied")[: len(author.arrows) // 2])
    said = [one for run in runs for one in run]
    said += author.derivable(author.due("derivable"))
    return list(_whole([Say("synthesis_open"), *said], PARAGRAPH)) if said else []


def _conclusion(author: Author) -> list[Paragraph]:
    author.begin()
    due = author.due("stated")
    said: list[Say] = []
    for run in _walk(author, due[: 3 + len(author.arrows) // 6]):
        said += run
    return (
        list(_whole([Say("close_open"), *said], PARAGRAPH + 1)) if said else [[Say("close_only")]]
    )
