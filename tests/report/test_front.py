"""The front page as text: cells, the plane, cards, colours, and what is escaped and folded."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import combinations, pairwise

import pytest
from tests.report.made_up import HOSTILE
from tests.report.made_up_standings import (
    cell,
    chapters,
    fronted,
    short_of,
    standings,
    system,
    triangle,
)
from tests.report.test_overview import marks
from tests.report.test_page import Elements

from whybench.episode.annotated import AnnotatedEpisode, Arrow, Moment
from whybench.report.charts import dots, specification
from whybench.report.front.cards import MOST_NODES, chosen, graphs
from whybench.report.front.drawing import LENGTH, cell_bar, overall_bar, plane
from whybench.report.front.shown import FIRST, mark, shown
from whybench.report.page import render
from whybench.report.palette import LIGHT, SHAPES, SYSTEMS, mark_of, ranked
from whybench.report.section import Figure, Report, Section
from whybench.report.standings.model import Estimate


@pytest.fixture(scope="module")
def html() -> str:
    return render(fronted())


def parsed(text: str) -> Elements:
    found = Elements()
    found.feed(text)
    found.close()
    return found


# Cells.


def test_a_cell_is_solid_where_understood_and_hatched_where_lucky() -> None:
    bar = cell_bar(cell("a", 0.5, 0.8))
    assert (bar.score, bar.share, bar.quiet, bar.tick) == ("0.50", "80 %", False, None)
    assert bar.sure == pytest.approx(LENGTH * 0.4)
    assert bar.lucky == pytest.approx(LENGTH * 0.1)
    assert (bar.low, bar.high) == (pytest.approx(LENGTH * 0.44), pytest.approx(LENGTH * 0.56))
    assert bar.alt == "0.50, interval 0.44 to 0.56; 80 % of it understood"


def test_a_cell_whose_interval_reaches_the_floor_has_a_tick_and_no_bar() -> None:
    bar = cell_bar(cell("a", 0.05, 0.9))
    assert (bar.share, bar.quiet, bar.sure, bar.lucky) == ("floor", True, 0.0, 0.0)
    assert bar.tick == pytest.approx(LENGTH * 0.05)
    far = cell_bar(cell("a", -9.42, None))
    assert far.score == "−9.42"
    assert far.tick == pytest.approx(LENGTH * -0.08)


def test_a_cell_with_few_right_answers_claims_nothing_about_luck() -> None:
    bar = cell_bar(cell("a", 0.5, 0.8, right=4))
    assert (bar.share, bar.sure, bar.lucky) == ("too few", 0.0, 0.0)
    assert bar.plain == pytest.approx(LENGTH * 0.5)
    assert cell_bar(cell("a", 0.5, 0.8, right=5)).share == "80 %"


def test_families_that_were_not_run_have_no_track() -> None:
    assert not cell_bar(None).drawn
    assert cell_bar(None).score == "not run"
    bar = overall_bar(short_of(system("aster-large"), "recite"), 6)
    assert (bar.score, bar.drawn) == ("5 of 6", False)


def test_a_cell_without_an_interval_is_not_above_the_floor() -> None:
    bar = cell_bar(replace(cell("a", 0.9, 0.9), score=Estimate(0.9)))
    assert (bar.share, bar.low) == ("floor", None)


# The plane.


def test_the_plane_puts_systems_below_the_diagonal_by_their_luck() -> None:
    drawn = plane(standings().systems)
    places = {spot.system: spot for spot in drawn.spots}
    assert all(spot.y >= spot.diagonal for spot in drawn.spots)
    drops = {name: spot.y - spot.diagonal for name, spot in places.items()}
    assert max(drops, key=drops.get) == "birch-think"
    assert places["dune-135m"].y == pytest.approx(350)
    assert drawn.lucky[0] == "causalab"
    assert "birch-think: score 0.67, of it 0.29 understood." in drawn.alt
    assert len(drawn.families) == 18


def test_systems_of_which_nothing_is_known_are_not_drawn_but_named() -> None:
    one = replace(system("aster-large"), understood=Estimate())
    drawn = plane((one, short_of(system("birch-think"), "recite")))
    assert drawn.spots == ()
    assert drawn.missing == ("aster-large",)


@pytest.mark.parametrize("name", ["aster-large", "dune-135m"])
def test_names_in_the_plane_do_not_cover_one_another(name) -> None:
    several = [replace(system(name), name=f"a-name-{n}") for n in range(3)]
    places = [spot.label for spot in plane(several).spots]
    for one, two in combinations(places, 2):
        assert abs(one[1] - two[1]) >= 16 or one[2] != two[2]


# Cards.


def test_cards_take_one_episode_per_kind_from_different_systems_and_families() -> None:
    held = list(chapters())
    again = [replace(one, id=f"{one.id}-2", system="aster-large") for one in held]
    names = ["aster-large", "birch-think", "cedar-mini"]
    found = chosen([*again, *held], names)
    assert [one.kind for one in found] == ["understood", "lucky", "contradicted"]
    assert len({one.system for one in found}) == len({one.family for one in found}) == 3
    assert chosen(held, ["birch-think"]) == (held[1],)
    parts = [replace(one, system=f"{one.system} · template=prose") for one in held]
    assert [one.system for one in chosen(parts, names)] == names
    assert chosen([replace(one, kind="") for one in held], names) == ()


def test_truth_and_belief_share_a_layout_and_show_their_own_arrows() -> None:
    found = graphs(triangle("Done.").to_json())
    truth, belief = found.pair
    assert [node.name for node in truth.nodes] == ["square", "star", "circle"]
    assert truth.nodes == belief.nodes
    assert truth.alt == "The truth: square to star (correct), star to circle (reversed)"
    assert belief.alt == (
        "What it believed: square to star (correct), circle to star (reversed), "
        "square to circle (extra)"
    )
    assert found.count == "1 correct, 1 extra, 1 reversed"
    assert graphs(AnnotatedEpisode("No graph.").to_json()) is None


def test_a_large_graph_is_cut_to_the_part_around_its_mistakes() -> None:
    names = tuple(f"node {n}" for n in range(20))
    truth = tuple(Arrow(a, b) for a, b in pairwise(names))
    wrong = (*truth[:-1], Arrow(names[19], names[18]))
    told = AnnotatedEpisode("Done.", (Moment("", "", arrows=wrong),), names, truth)
    found = graphs(told.to_json())
    drawn = {node.name for node in found.pair[0].nodes}
    assert len(drawn) == MOST_NODES
    assert {"node 18", "node 19"} <= drawn
    assert found.count.endswith("6 of 20 nodes are drawn")


# Colours and shapes.


def test_colours_are_given_in_alphabetical_order_and_end_after_seven() -> None:
    names = [f"m{n}" for n in (9, 3, 1, 7, 2, 8, 5, 4, 6)]
    order = ranked(names)
    assert order == ("m1", "m2", "m3", "m5", "m7", "m8", "m9", "m4", "m6")
    assert [mark_of(place)[0] for place in range(9)] == [*SYSTEMS, "grey", "grey"]
    assert "vermillion" not in SYSTEMS
    assert len(set(SHAPES)) == len(SYSTEMS) == 7


def altair(names: list[str], title: str) -> Figure:
    import pandas as pd

    frame = pd.DataFrame({"system": names, "score": [0.5] * len(names), "row": ["a"] * len(names)})
    return Figure(title, title, "Scores.", dots(frame, x="score", y="row"), frame)


class Marks(HTMLParser):
    """System → the colours and shapes of all that is drawn with its name."""

    def __init__(self) -> None:
        super().__init__()
        self.hues: dict[str, set[str]] = {}
        self.shapes: dict[str, set[str]] = {}
        self.within: list[str] = []

    def handle_starttag(self, tag, attrs):
        told = dict(attrs)
        name = told.get("data-system") or (self.within[-1] if self.within else "")
        self.within.append(name)
        if not name:
            return
        hues = [one[2:] for one in (told.get("class") or "").split() if one.startswith("s-")]
        self.hues.setdefault(name, set()).update(hues)
        if tag == "use":
            self.shapes.setdefault(name, set()).add(told["href"].removeprefix("#page-mark-"))

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.within.pop()

    def handle_endtag(self, tag):
        self.within.pop()


def test_a_system_has_one_colour_one_shape_and_one_name_in_all_figures() -> None:
    base = fronted()
    names = [one.name for one in base.front.standings.systems]
    figures = (altair(names[::-1], "one"), altair(names[1:3], "two"))
    made = replace(base, sections=(*base.sections, Section("more", "More", "", figures)))
    text = render(made)
    front = Marks()
    front.feed(text.split("</header>")[1].split("<footer")[0])
    assert set(front.hues) == set(front.shapes) == set(names)
    for name in names:
        token, shape = mark(made, name)
        assert (front.hues[name], front.shapes[name]) == ({token}, {shape})
        for figure in figures:
            spec = json.loads(json.dumps(specification(figure.chart, made.systems)))
            told = {(channel, value) for channel, series, value in marks(spec) if series == name}
            if name in list(figure.frame["system"]):
                assert told == {("color", LIGHT[token]), ("shape", shape)}
    assert len({mark(made, name) for name in names}) == len(names)


def test_eight_systems_leave_the_last_one_grey_and_named() -> None:
    scores = [0.9 - n / 20 for n in range(9)]
    many = [
        replace(system("aster-large"), name=f"model-{n}", overall=Estimate(s, s - 0.03, s + 0.03))
        for n, s in enumerate(scores)
    ]
    made = fronted(standings(many))
    held = shown(made, made.front)
    assert held.first == FIRST
    assert [held.marks[one.name][0] for one in many] == [*SYSTEMS, "grey", "grey"]
    text = render(made)
    assert text.count("model-8") > 5
    assert "Verdicts on the other systems" in text


# The page.


def test_the_page_is_well_formed_and_loads_nothing(html) -> None:
    found = parsed(html)
    assert found.open == []
    ids = [attrs["id"] for _, attrs in found.found if "id" in attrs]
    assert len(ids) == len(set(ids))
    for _, attrs in found.found:
        assert "style" not in attrs
        for name in ("src", "href", "action"):
            told = attrs.get(name) or ""
            assert told == "" or told.startswith(("#", "data:")), told
            if told.startswith("#") and not told.startswith("#episode="):
                assert told == "#" or told[1:] in ids, told


def test_everything_long_is_folded(html) -> None:
    front, rest = html.split("The families in detail")
    assert "<details>" not in front.split("<body")[1].split('class="f-fine"')[0].split("f-more")[0]
    assert rest.count("<details><summary>") >= 8
    assert " open" not in "".join(re.findall(r"<details[^>]*>", html))
    assert html.count("<h1") == 1


def test_hostile_names_stay_words() -> None:
    one = replace(system("aster-large"), name=HOSTILE)
    text = render(fronted(standings((one, system("birch-think")), remarks=(HOSTILE,))))
    assert "<script>window" not in text
    assert "<img" not in text
    assert parsed(text).open == []


def test_a_report_without_standings_keeps_its_sections_open() -> None:
    text = render(Report("Bare", (Section("a", "A", "Intro."),)))
    assert "f-hero" not in text.split("<body")[1]
    assert '<h2 id="title-a">' in text


def test_cells_of_the_table_say_their_numbers_in_words(html) -> None:
    labels = [
        a["aria-label"] for t, a in parsed(html).found if a.get("class", "").startswith("f-bar")
    ]
    assert len(labels) == 28
    assert labels[0] == "0.74, interval 0.71 to 0.77; 86 % of it understood"
    assert labels[-1] == "0.04, interval −0.05 to 0.13; not shown to be above the floor"
