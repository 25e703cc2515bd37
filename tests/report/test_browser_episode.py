"""Episodes in a real browser: the graphs, the steps and the document move together."""

import os
from urllib.parse import quote

import pytest
from tests.report.made_up import HOSTILE, large_graph

if not os.environ.get("WHYBENCH_REQUIRE_BROWSER"):
    pytest.importorskip("playwright.sync_api")

from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser


def kinds(page: Page, pane: int) -> dict[str, int]:
    links = page.locator(".pane").nth(pane).locator(".link")
    names = links.evaluate_all("all => all.map(one => one.classList[1])")
    return {name: names.count(name) for name in sorted(set(names))}


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
    expect(current).to_contain_text("rejected")
    assert page.locator(".badge.given").count() == 2
    expect(page.locator(".step").nth(7)).to_contain_text("evidence sufficed")
    expect(page.locator(".track .sufficed")).to_have_count(1)


def test_marks_stand_by_their_nodes_and_labels_on_their_links(visit):
    page = visit("#episode=small")
    page.get_by_label("Step of the episode").fill("3")
    marks = page.locator(".pane").first.locator(".node .mark").all_text_contents()
    assert [mark for mark in marks if mark] == ["2", "on"]
    believed = page.locator(".pane").nth(1).locator(".node .mark").all_text_contents()
    assert [mark for mark in believed if mark] == ["2", "claimed"]
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
    page.get_by_text("List of arrows").click()
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
    expect(page.get_by_text("This page has no episode none.")).to_be_visible()
