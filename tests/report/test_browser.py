"""The page in a real browser, from disk: no error, no request, everything moves as it should."""

import importlib.util
import os
import shutil
from itertools import pairwise
from pathlib import Path
from urllib.parse import quote

import pytest
from tests.report.made_up import HOSTILE, large_graph, report

from whybench.report.page import write

CHROMIUM = shutil.which("chromium")
if not os.environ.get("WHYBENCH_REQUIRE_BROWSER"):
    if CHROMIUM is None:
        pytest.skip("needs Debian's package `chromium`", allow_module_level=True)
    pytest.importorskip("playwright.sync_api")

from playwright.sync_api import Page, expect, sync_playwright  # noqa: E402

UNNAMED = """() => {
  const named = e => e.getAttribute("aria-label") || e.getAttribute("aria-labelledby")
    || (e.labels && e.labels.length) || e.textContent.trim() || e.getAttribute("title");
  return [...document.querySelectorAll("button, a[href], input, select, summary, [tabindex='0']")]
    .filter(e => !named(e)).map(e => e.outerHTML.slice(0, 120));
}"""

CONTRAST = """() => {
  const channels = colour => {
    const pen = Object.assign(document.createElement("canvas"), {width: 1, height: 1})
      .getContext("2d");
    pen.fillStyle = colour;
    pen.fillRect(0, 0, 1, 1);
    return [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3).map(v => v / 255)
      .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  };
  const weights = [.2126, .7152, .0722];
  const light = colour => channels(colour).reduce((sum, v, i) => sum + v * weights[i], 0);
  const ground = light(getComputedStyle(document.body).backgroundColor);
  const ratio = colour => {
    const [a, b] = [light(colour), ground].sort((p, q) => q - p);
    return (a + 0.05) / (b + 0.05);
  };
  const of = (query, property) => [...document.querySelectorAll(query)]
    .map(e => getComputedStyle(e)[property]).filter(c => c !== "none").map(ratio);
  return {
    text: Math.min(...of(".picture text", "fill"), ...of("p, td, h2, nav a", "color")),
    marks: Math.min(...of(".picture .mark-symbol.role-mark path", "fill")),
  };
}"""

COLOURS = """() => ["body", ".picture text", ".mark-symbol.role-mark path"].map(query => {
  const style = getComputedStyle(document.querySelector(query));
  return style.color + style.fill + style.backgroundColor;
})"""


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory) -> str:
    return write(report(), tmp_path_factory.mktemp("page") / "report.html").page.as_uri()


@pytest.fixture
def visit(browser, address):
    """Open the page; at the end no error may have been told and nothing but files asked for."""
    told: list[str] = []
    asked: list[str] = []
    contexts = []

    def opened(anchor: str = "", width: int = 1400, scheme: str = "light") -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("console", lambda message: told.append(message.text))
        page.on("pageerror", lambda error: told.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(address + anchor)
        if anchor.startswith("#episode="):
            expect(page.locator("article.episode")).to_be_visible()
        return page

    yield opened
    hacked = [context.pages[0].evaluate("window.hacked ?? null") for context in contexts]
    for context in contexts:
        context.close()
    assert told == []
    assert asked
    assert all(url.startswith(("file:", "data:", "blob:")) for url in asked)
    assert hacked == [None] * len(contexts)


def kinds(page: Page, pane: int) -> dict[str, int]:
    links = page.locator(".pane").nth(pane).locator(".link")
    names = links.evaluate_all("all => all.map(one => one.classList[1])")
    return {name: names.count(name) for name in sorted(set(names))}


def test_the_page_shows_every_section_and_names_every_control(visit):
    page = visit()
    for name in ("profile", "causalab", "sizes", "gaps", "episodes"):
        expect(page.locator(f"section#{name}")).to_be_visible()
    assert page.locator(".picture svg[role=img][aria-label]").count() == 4
    assert page.evaluate(UNNAMED) == []
    page.goto(page.url.split("#")[0] + "#episode=small")
    expect(page.locator("article.episode")).to_be_visible()
    assert page.evaluate(UNNAMED) == []
    levels = page.locator("h1, h2, h3, h4, h5").evaluate_all("all => all.map(e => +e.tagName[1])")
    assert levels[0] == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))


def test_the_slider_moves_the_graphs(visit):
    page = visit("#episode=small")
    assert kinds(page, 0) == {"correct": 9, "missing": 1, "reversed": 1}
    assert kinds(page, 1) == {"correct": 9, "extra": 1, "reversed": 1}
    slider = page.get_by_label("Step of the episode")
    slider.fill("4")
    assert kinds(page, 0) == {"correct": 3, "missing": 8}
    assert kinds(page, 1) == {"correct": 3}
    slider.fill("6")  # this step states no graph: the one before stands
    assert kinds(page, 1) == {"correct": 4}
    slider.fill("0")
    assert kinds(page, 0) == {"missing": 11}
    expect(page.get_by_text("No graph believed yet.")).to_be_visible()
    looks = {}
    slider.fill("12")
    for kind in ("correct", "missing", "extra", "reversed"):
        way = page.locator(f".pane .link.{kind} .way").first
        looks[kind] = way.evaluate(
            "e => [getComputedStyle(e).stroke, getComputedStyle(e).strokeDasharray]"
        )
    assert len({colour for colour, _ in looks.values()}) == 4
    assert len({dash for _, dash in looks.values()}) == 4
    assert page.locator(".arrows .arrow.extra").text_content() == "X0 → X9extra"


def test_both_graphs_share_one_layout(visit):
    page = visit("#episode=small")
    places = [
        page.locator(".pane")
        .nth(pane)
        .locator(".node")
        .evaluate_all("all => all.map(one => one.getAttribute('transform'))")
        for pane in (0, 1)
    ]
    assert places[0] == places[1]
    assert len(set(places[0])) == 10
    page.get_by_label("Zoom in").click()
    boxes = page.locator("svg.graph").evaluate_all("all => all.map(e => e.getAttribute('viewBox'))")
    assert boxes[0] == boxes[1]


def test_keys_and_buttons_move_over_the_steps(visit):
    page = visit("#episode=small")
    where = page.locator(".where")
    expect(where).to_have_text("step 12 of 12")
    expect(page.get_by_label("Next step")).to_be_disabled()
    page.locator("svg.graph").first.focus()
    page.keyboard.press("ArrowLeft")
    expect(where).to_have_text("step 11 of 12")
    page.get_by_label("Previous step").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowLeft")
    expect(where).to_have_text("step 9 of 12")
    page.keyboard.press("ArrowRight")
    expect(where).to_have_text("step 10 of 12")
    page.locator(".step button").nth(4).click()
    expect(where).to_have_text("step 5 of 12")
    current = page.locator(".step [aria-current=step]")
    assert current.count() == 1
    expect(current).to_contain_text("refused")
    assert page.locator(".badge.given").count() == 2
    expect(page.locator(".step").nth(7)).to_contain_text("evidence sufficed")
    expect(page.locator(".track .sufficed")).to_have_count(1)


def test_marks_stand_by_their_nodes_and_labels_on_their_links(visit):
    page = visit("#episode=small")
    page.get_by_label("Step of the episode").fill("3")
    marks = page.locator(".pane").first.locator(".node .mark").all_text_contents()
    assert [mark for mark in marks if mark] == ["2", "on"]
    assert "-0.5" in page.locator(".pane").first.locator(".words").text_content()


def test_a_graph_of_140_nodes_can_be_searched_and_zoomed(visit):
    page = visit("#episode=large")
    assert page.locator(".pane").first.locator(".node").count() == 140
    assert sum(kinds(page, 0).values()) == 205
    assert kinds(page, 1)["correct"] == 120
    before = page.locator("svg.graph").first.get_attribute("viewBox")
    graph = page.locator("svg.graph").first
    graph.focus()
    page.keyboard.press("+")
    page.keyboard.press("+")
    after = graph.get_attribute("viewBox")
    assert float(after.split()[2]) < 0.7 * float(before.split()[2])
    name = large_graph().nodes[77]
    page.get_by_label("Find a node in the graphs").fill(name)
    near = page.locator(".pane").first.locator(".node.near title").all_text_contents()
    assert name in near
    neighbours = {a.cause for a in large_graph().truth if a.effect == name} | {
        a.effect for a in large_graph().truth if a.cause == name
    }
    assert neighbours <= set(near)
    assert page.locator(".arrows button").count() == 235 - kinds(page, 1).get("reversed", 0)


def test_arrows_and_passages_find_one_another(visit):
    page = visit("#episode=document")
    marks = page.locator(".document mark")
    assert marks.all_text_contents()[:3] == [
        "Rain makes the ground wet.",
        "Wet ground mak",
        "es roads slow.",
    ]
    styles = marks.evaluate_all("all => all.map(one => one.className)")
    assert styles == ["found", "missed", "missed", "missed", "partly"]
    page.get_by_text("The arrows as a list").click()
    page.locator(".arrows button", has_text="wet ground → slow").click()
    chosen = marks.evaluate_all("all => all.map(one => one.classList.contains('chosen'))")
    assert chosen == [False, True, True, False, True]
    marks.nth(3).click()
    near = [page.locator(".pane").nth(pane).locator(".link.near title") for pane in (0, 1)]
    assert near[0].all_text_contents() == ["slow → late: reversed"]
    assert near[1].all_text_contents() == ["late → slow: reversed"]
    pressed = page.locator(".arrows [aria-pressed=true]").text_content()
    assert pressed == "late → slowreversed"
    page.get_by_role("button", name="Passage →").click()
    body = page.locator(".document")
    assert body.evaluate("e => e.scrollTop") > 10_000
    page.get_by_label("Step of the episode").fill("0")
    assert set(marks.evaluate_all("all => all.map(one => one.classList[0])")) == {"missed"}


def test_a_clicked_link_shows_its_passage(visit):
    page = visit("#episode=document")
    link = page.locator(".pane").first.locator(".link.missing .reach").first
    link.dispatch_event("click")
    assert page.locator(".document mark.chosen").count() == 3


def test_tracks_show_numbers_with_their_target_and_words(visit):
    page = visit("#episode=designs")
    assert page.locator(".pane").count() == 0
    expect(page.locator(".track-box").first).to_contain_text("mass 4.100 best: 3.200")
    assert page.locator(".track .target line").count() == 1
    labels = page.locator(".word-row button").all_text_contents()
    assert labels == ["1–4 short", "5–8 long"]
    page.get_by_label("Step of the episode").fill("2")
    assert page.locator(".word-row [aria-current]").all_text_contents() == ["1–4 short"]
    assert "2.300" in page.locator(".track").get_attribute("aria-label")


def test_an_episode_without_steps_and_a_hostile_one_can_be_opened(visit):
    page = visit("#episode=bare")
    expect(page.locator(".verdict")).to_have_text("Nothing was done.")
    assert page.locator("input[type=range]").count() == 0
    page = visit("#episode=" + quote("hostile #1/?&=%", safe=""))
    expect(page.locator(".verdict")).to_have_text(HOSTILE)
    expect(page.locator(".document")).to_have_text(f"<b>{HOSTILE}</b>")
    assert page.locator("article img, article b + script").count() == 0
    page = visit("#profile")
    page.goto(page.url.split("#")[0] + "#episode=none")
    expect(page.get_by_text("This page holds no episode none.")).to_be_visible()


def test_the_list_can_be_filtered_and_opens_an_episode(visit):
    page = visit()
    rows = page.locator("#page-list tbody tr")
    assert rows.count() == 6
    page.locator(".filters [name=family]").select_option(label="recite")
    assert rows.count() == 2
    page.locator(".filters [name=words]").fill("DOCU recite")
    assert rows.count() == 1
    rows.first.locator("a").click()
    expect(page.locator("article.episode h3")).to_have_text("recite-document")
    assert page.url.endswith("#episode=document")
    page.get_by_role("link", name="Close").click()
    expect(page.locator("article.episode")).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_both_themes_are_legible_and_the_button_swaps_them(visit, scheme):
    page = visit("", 1400, scheme)
    before = page.evaluate(COLOURS)
    first = page.evaluate(CONTRAST)
    page.locator("#page-theme").click()
    after = page.evaluate(COLOURS)
    second = page.evaluate(CONTRAST)
    assert all(a != b for a, b in zip(before, after, strict=True))
    for told in (first, second):
        assert told["text"] >= 4.5
        assert told["marks"] >= 3
    page.reload()
    assert page.evaluate(COLOURS) == after


@pytest.mark.parametrize("anchor", ["", "#episode=small", "#episode=large", "#episode=document"])
def test_a_phone_never_scrolls_sideways(visit, anchor):
    page = visit(anchor, 390)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    if anchor == "#episode=small":
        tops = page.locator(".pane").evaluate_all(
            "all => all.map(e => e.getBoundingClientRect().top)"
        )
        assert tops[1] > tops[0] + 100
    if not anchor:
        menu = page.get_by_role("button", name="Contents")
        expect(page.locator("#page-nav")).to_be_hidden()
        menu.click()
        expect(page.locator("#page-nav")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.locator("#page-nav")).to_be_hidden()


def test_tables_sort_by_their_headings(visit):
    page = visit()
    table = page.locator("#table-scores table")
    column = "all => all.map(row => row.cells[1].textContent)"
    head = table.get_by_role("button", name="accuracy")
    head.focus()
    page.keyboard.press("Enter")
    assert table.locator("tbody tr").evaluate_all(column) == ["0.123", "0.900", "–"]
    page.keyboard.press("Enter")
    assert table.locator("tbody tr").evaluate_all(column) == ["0.900", "0.123", "–"]
    assert table.locator("th[aria-sort=descending]").count() == 1


def test_marks_tell_their_values_on_hover_and_by_keys(visit):
    page = visit()
    tip = page.locator("#page-tip")
    page.locator("#figure-gap .mark-symbol.role-mark path").first.hover()
    expect(tip).to_contain_text("family: family 0")
    page.mouse.move(0, 0)
    page.locator("#figure-gap .picture").focus()
    page.keyboard.press("ArrowRight")
    expect(tip).to_be_visible()
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()


def test_the_first_stop_of_the_tab_key_skips_to_the_content_and_focus_is_seen(visit):
    page = visit()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Tab")
    style = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert style == "solid"


def screenshots():
    path = Path(__file__).parents[2] / "scripts" / "screenshots.py"
    spec = importlib.util.spec_from_file_location("screenshots", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_blank_shot_is_refused_and_a_drawn_one_is_not(browser):
    check = screenshots()
    page = browser.new_page(viewport={"width": 600, "height": 600})
    page.set_content("<body style='background:#eee'>")
    assert check.faults(browser, page.screenshot(), [])
    lines = "".join(f"<p>line {n} of some words to read here</p>" for n in range(30))
    page.set_content(f"<body>{lines}")
    whole = page.screenshot()
    assert check.faults(browser, whole, []) == ()
    page.set_content(f"<body>{lines[:200]}<div style='height:500px'></div>")
    assert "flat band" in check.faults(browser, page.screenshot(), [])[0]
    page.set_content(f"<body><svg width=300 height=200></svg>{lines}")
    assert check.faults(browser, page.screenshot(), [[8, 8, 300, 200]]) == (
        "1 of its 1 pictures are blank",
    )
    page.close()
