"""The front page in a real browser: the first screen, folds, widths, themes, print."""

from __future__ import annotations

import os
import re
from itertools import pairwise

import pytest
from tests.report.made_up_standings import fronted

if not os.environ.get("WHYBENCH_REQUIRE_BROWSER"):
    pytest.importorskip("playwright.sync_api")

from playwright.sync_api import expect

pytestmark = pytest.mark.browser

SCREEN = 900

COVERED = """() => {
  const box = query => [...document.querySelectorAll(query)].map(e => e.getBoundingClientRect());
  return Object.fromEntries([".f-answer", ".f-verdicts li", ".f-plane", ".f-table", ".f-fig small"]
    .map(query => [query, Math.max(...box(query).map(one => one.bottom))]));
}"""

CONTRAST = """() => {
  const light = colour => {
    const pen = Object.assign(document.createElement("canvas"), {width: 1, height: 1})
      .getContext("2d");
    pen.fillStyle = colour;
    pen.fillRect(0, 0, 1, 1);
    return [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3).map(v => v / 255)
      .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
      .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
  };
  const ground = light(getComputedStyle(document.body).backgroundColor);
  const ratio = colour => {
    const [a, b] = [light(colour), ground].sort((p, q) => q - p);
    return (a + 0.05) / (b + 0.05);
  };
  const least = (query, property) => Math.min(...[...document.querySelectorAll(query)]
    .map(e => ratio(getComputedStyle(e)[property])));
  return {
    text: Math.min(least("main p, main h2, main b, main small, main dt", "color"),
      least(".f-plane text", "fill")),
    edges: least(".f-mark use, .f-sure, .f-lucky, .f-tick", "stroke"),
    wrong: least(".f-arrow", "stroke"),
  };
}"""

SMALL = """() => Math.min(...[...document.querySelectorAll(".f-plane text")].map(e =>
  parseFloat(getComputedStyle(e).fontSize) * Math.hypot(e.getScreenCTM().a, e.getScreenCTM().b)))"""


@pytest.fixture(scope="module")
def address(tmp_path_factory) -> str:
    from whybench.report.page import write

    return write(fronted(), tmp_path_factory.mktemp("front") / "report.html").page.as_uri()


def test_the_first_screen_holds_answer_verdicts_figure_table_and_shares(visit):
    page = visit()
    found = page.evaluate(COVERED)
    assert all(0 < bottom <= SCREEN for bottom in found.values()), found
    assert found[".f-verdicts li"] <= 600
    assert found[".f-plane"] <= 600


def test_the_folded_page_has_at_most_five_screens_and_every_fold_is_closed(visit):
    page = visit()
    assert page.evaluate("document.documentElement.scrollHeight") <= 5 * SCREEN
    assert page.locator("details[open]").count() == 0
    assert page.locator(".f-folds > details").count() >= 8


@pytest.mark.parametrize("width", [320, 390, 700, 1119, 1120])
def test_no_width_scrolls_sideways_and_narrow_tables_become_blocks(visit, width):
    page = visit("", width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    display = page.evaluate("getComputedStyle(document.querySelector('.f-table tbody')).display")
    assert display == ("block" if width < 1120 else "table-row-group")
    if width == 390:
        assert page.evaluate(SMALL) >= 11


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_and_marks_have_contrast_in_both_themes(visit, scheme):
    found = visit("", 1400, scheme).evaluate(CONTRAST)
    assert found["text"] >= 4.5, found
    assert found["edges"] >= 3, found
    assert found["wrong"] >= 3, found


def test_a_column_head_opens_the_fold_of_its_family(visit):
    page = visit()
    expect(page.locator("section#causalab")).to_be_hidden()
    page.locator(".f-table thead a", has_text="causalab").click()
    expect(page.locator("section#causalab")).to_be_visible()
    expect(page.locator("section#causalab .f-raw")).to_be_visible()
    assert page.locator("details[open]").count() == 1


def test_a_card_opens_its_episode(visit):
    page = visit()
    page.get_by_role("link", name=re.compile("birch-think on causalab")).click()
    expect(page.locator("article.episode")).to_be_visible()
    assert page.locator("#page-viewer").get_attribute("data-episode") == "card-lucky"
    page = visit("#episode=card-understood")
    expect(page.locator("article.episode h3")).to_have_text("causallink-1")


def test_it_can_be_read_without_script(browser, address):
    context = browser.new_context(
        java_script_enabled=False, viewport={"width": 1400, "height": 900}
    )
    page = context.new_page()
    page.goto(address)
    expect(page.locator(".f-answer")).to_have_text("aster-large is best, and it mostly knew why.")
    assert page.locator(".f-bar").count() == 28
    page.locator("summary", has_text="causalab").click()
    expect(page.locator("section#causalab figure").first).to_be_visible()
    context.close()


def test_headings_are_in_order_and_the_table_keeps_its_roles_when_narrow(visit):
    page = visit("", 390)
    levels = page.locator("h1, h2, h3, h4, h5").evaluate_all("all => all.map(e => +e.tagName[1])")
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))
    assert page.get_by_role("table", name="Scores of systems").count() == 1
    assert page.get_by_role("row").count() >= 4
    assert page.get_by_role("rowheader", name="cedar-mini").count() == 1


def test_folded_it_prints_on_three_pages_in_light_colours(browser, address):
    page = browser.new_page(color_scheme="dark")
    page.goto(address)
    printed = page.pdf(prefer_css_page_size=True, print_background=True)
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b(?!s)", printed)) <= 3
    page.emulate_media(media="print")
    ground = page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--paper')")
    assert ground == "#fefefe"
    assert page.locator(".f-folds summary").first.is_visible()
    page.close()
