"""The page in a real browser, from disk: no error, no request, everything moves as it should."""

import importlib.util
import os
from itertools import pairwise
from pathlib import Path

import pytest

if not os.environ.get("WHYBENCH_REQUIRE_BROWSER"):
    pytest.importorskip("playwright.sync_api")

from playwright.sync_api import expect

pytestmark = pytest.mark.browser

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
    assert page.evaluate("document.activeElement.textContent") == "Skip to content"
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
