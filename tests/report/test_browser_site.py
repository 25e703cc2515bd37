"""The leaderboard in a real browser: it sorts, fits a phone, and runs no foreign code."""

import os

import pytest

if not os.environ.get("WHYBENCH_REQUIRE_BROWSER"):
    pytest.importorskip("playwright.sync_api")

from playwright.sync_api import expect
from tests.report.test_browser import UNNAMED
from tests.report.test_site import ROWS

from whybench.report.results.files import write_results
from whybench.report.results.site import build_site

pytestmark = pytest.mark.browser

FIRST = "#content section:first-of-type"


@pytest.fixture(scope="module")
def address(tmp_path_factory) -> str:
    folder = tmp_path_factory.mktemp("a folder with # and spaces")
    write_results(ROWS, folder / "results")
    return build_site(folder / "results", folder / "public")[0].as_uri()


def names(page):
    return page.locator(f"{FIRST} .board tbody th a").all_inner_texts()


def test_headings_sort_both_ways_and_unknown_figures_stay_last(visit):
    page = visit()
    assert names(page) == ["lab/high", "lab/hostile", "lab/low", "lab/some"]
    head = page.locator(f"{FIRST} thead").get_by_role("button", name="causalab")
    head.focus()
    page.keyboard.press("Enter")
    assert names(page) == ["lab/some", "lab/high", "lab/hostile", "lab/low"]
    assert page.locator(f"{FIRST} th[aria-sort=descending]").inner_text().startswith("causalab")
    page.keyboard.press("Enter")
    assert names(page) == ["lab/low", "lab/hostile", "lab/high", "lab/some"]
    page.locator(f"{FIRST} thead").get_by_role("button", name="recite").click()
    assert names(page)[-1] == "lab/some"
    page.locator(f"{FIRST} thead").get_by_role("button", name="System").click()
    assert names(page) == sorted(names(page))


def test_a_name_opens_the_details_of_its_system(visit):
    page = visit()
    inside = page.locator("#lab-hostile-1rc-standard")
    expect(inside).to_be_hidden()
    page.locator(f"{FIRST} .board").get_by_role("link", name="lab/hostile").click()
    expect(inside).to_be_visible()
    expect(inside).to_contain_text("<img src=x onerror=window.hacked=1>")
    assert page.evaluate(UNNAMED) == []


@pytest.mark.parametrize("width", [1400, 390, 320])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_and_is_legible(visit, width, scheme):
    page = visit("", width, scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for fold in page.locator("details.system").all():
        fold.evaluate("one => { one.open = true; }")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    board = page.locator(f"{FIRST} .board")
    if width == 1400:
        assert board.evaluate("one => one.scrollWidth <= one.clientWidth")
    board.evaluate("one => { one.scrollLeft = 500; }")
    first = page.locator(f"{FIRST} .board tbody th").first
    assert first.bounding_box()["x"] == pytest.approx(board.bounding_box()["x"], abs=2)


def test_without_script_the_table_and_the_details_are_there(browser, address):
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(address)
    assert names(page)[0] == "lab/high"
    page.locator("details.system summary").first.click()
    expect(page.locator("#lab-high-1rc-standard")).to_be_visible()
    page.context.close()
