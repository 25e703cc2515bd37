"""Take pictures of a report page and refuse blank ones: `scripts/screenshots.py PAGE OUT`.

Shots: the front page and the overview's first figure (light and dark), one family's section, one
opened episode; each at 1,400 px and at phone width. A shot is cut into blocks of 24 by 24 pixels; a
block whose colours all lie close together is flat. A shot fails if

- a picture or graph in it is flat all over (nothing was drawn),
- almost all of it is flat, or
- an unbroken flat band takes more than half of its height (something is missing in the middle).

What this cannot see: marks in the wrong place, a picture with axes but without marks (so marks are
counted in the page itself), and text that is there but unreadable.
"""

import argparse
import base64
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Locator, Page, sync_playwright

WIDTHS = (1400, 390)
MOST_FLAT = 0.97
LONGEST_BAND = 0.5
TALLEST = 2400

MEASURE = """async ({png, boxes}) => {
  const image = new Image();
  image.src = "data:image/png;base64," + png;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [image.width, image.height];
  const pen = canvas.getContext("2d", {willReadFrequently: true});
  pen.drawImage(image, 0, 0);
  const side = 24;
  const flat = (x, y, w, h) => {
    const data = pen.getImageData(x, y, w, h).data;
    for (let c = 0; c < 3; c += 1) {
      let [low, high] = [255, 0];
      for (let i = c; i < data.length; i += 4) {
        low = Math.min(low, data[i]);
        high = Math.max(high, data[i]);
      }
      if (high - low > 8) return false;
    }
    return true;
  };
  const survey = ([x0, y0, w, h]) => {
    const [right, bottom] = [Math.min(x0 + w, image.width), Math.min(y0 + h, image.height)];
    let [blocks, plain, band, longest] = [0, 0, 0, 0];
    for (let y = Math.max(0, y0); y < bottom; y += side) {
      let row = true;
      for (let x = Math.max(0, x0); x < right; x += side) {
        const here = flat(x, y, Math.min(side, right - x), Math.min(side, bottom - y));
        blocks += 1;
        plain += here;
        row = row && here;
      }
      band = row ? band + Math.min(side, bottom - y) : 0;
      longest = Math.max(longest, band);
    }
    const tall = Math.max(1, bottom - Math.max(0, y0));
    return {flat: blocks ? plain / blocks : 1, band: longest / tall};
  };
  return {whole: survey([0, 0, image.width, image.height]), parts: boxes.map(survey)};
}"""

BOXES = """element => {
  const from = element.getBoundingClientRect();
  return [...element.querySelectorAll(".picture svg, svg.graph")].map(part => {
    const at = part.getBoundingClientRect();
    return [at.left - from.left, at.top - from.top, at.width, at.height].map(Math.round);
  });
}"""

UNSTUCK = """() => {
  for (const bar of document.querySelectorAll(".top, .controls")) bar.style.position = "static";
}"""
"""Bars that stay in view would stand in the middle of a long shot."""


@dataclass(frozen=True, slots=True)
class Shot:
    """One picture, and what is wrong with it."""

    name: str
    png: bytes
    faults: tuple[str, ...]


def faults(browser: Browser, png: bytes, boxes: list[list[int]]) -> tuple[str, ...]:
    """Say what is blank in a picture; `boxes` are the pictures and graphs inside it."""
    page = browser.new_page()
    try:
        told = page.evaluate(
            MEASURE,
            {"png": base64.b64encode(png).decode(), "boxes": [b for b in boxes if b[2] > 0]},
        )
    finally:
        page.close()
    found = []
    if told["whole"]["flat"] > MOST_FLAT:
        found.append(f"{told['whole']['flat']:.0%} of it is flat")
    if told["whole"]["band"] > LONGEST_BAND:
        found.append(f"a flat band takes {told['whole']['band']:.0%} of its height")
    empty = sum(part["flat"] >= 1 for part in told["parts"])
    if empty:
        found.append(f"{empty} of its {len(told['parts'])} pictures are blank")
    return tuple(found)


def shoot(page: Page, element: Locator, name: str) -> Shot:
    """Take one element, cut at a height that can still be looked at."""
    page.evaluate(UNSTUCK)
    element.scroll_into_view_if_needed()
    page.wait_for_timeout(300)
    boxes = element.evaluate(BOXES)
    box = element.bounding_box()
    if box is None or box["width"] < 1 or box["height"] < 1:
        return Shot(name, b"", ("it has no size",))
    top = page.evaluate("window.scrollY") + box["y"]
    clip = {"x": box["x"], "y": top, "width": box["width"], "height": min(box["height"], TALLEST)}
    png = page.screenshot(full_page=True, clip=clip)
    inside = [b for b in boxes if b[1] + b[3] <= clip["height"]]
    browser = page.context.browser
    if browser is None:
        raise RuntimeError("the page has no browser")
    found = faults(browser, png, inside)
    bare = element.locator(".picture").evaluate_all(
        "all => all.filter(one => !one.querySelector('.role-mark > *')).length"
    )
    return Shot(name, png, (*found, *([f"{bare} figures have no marks"] if bare else [])))


def open_episode(page: Page, wanted: str | None) -> None:
    """Open the episode asked for, else a family's longest one that shows both graphs."""
    rows = page.evaluate("JSON.parse(document.getElementById('page-index').textContent)")
    if not rows:
        raise SystemExit("the page holds no episode to open")
    ranked = sorted(rows, key=lambda row: row["steps"])
    longest = {row["family"]: row["id"] for row in ranked}
    tries = sorted(longest.values(), key=[row["id"] for row in ranked].index, reverse=True)
    for name in [wanted] if wanted else [*tries, tries[0]]:
        page.evaluate("name => { location.hash = 'episode=' + encodeURIComponent(name); }", name)
        page.wait_for_function(
            "name => document.getElementById('page-viewer').dataset.episode === name", arg=name
        )
        if page.locator(".pane").count() == 2:
            return


def shots(browser: Browser, report: Path, section: str | None, episode: str | None) -> list[Shot]:
    """Take every shot of the page."""
    taken = []
    for width in WIDTHS:
        for theme in ("light", "dark"):
            page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=theme)
            page.goto(report.resolve().as_uri())
            front = page.locator(".fronted main")
            if front.count():
                taken.append(shoot(page, front, f"front-{width}-{theme}"))
            page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = 1")
            figure = page.locator("#overview figure").first
            taken.append(shoot(page, figure, f"overview-{width}-{theme}"))
            if theme == "light":
                family = (
                    page.locator(f"section#{section}")
                    if section
                    else page.locator("section.level-2:not(#overview):has(figure)").first
                )
                taken.append(shoot(page, family, f"family-{width}"))
                open_episode(page, episode)
                taken.append(shoot(page, page.locator("article.episode"), f"episode-{width}"))
            page.close()
    return taken


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    asked.add_argument("page", type=Path)
    asked.add_argument("out", type=Path)
    asked.add_argument("--section", help="id of the family's section")
    asked.add_argument("--episode", help="id of the episode")
    given = asked.parse_args()
    chromium = shutil.which("chromium")
    if chromium is None:
        raise SystemExit("install Debian's package `chromium`, or put a chromium on the path")
    given.out.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        taken = shots(browser, given.page, given.section, given.episode)
        browser.close()
    for shot in taken:
        (given.out / f"{shot.name}.png").write_bytes(shot.png)
        print(f"{shot.name}: {'; '.join(shot.faults) or 'good'}")
    return 1 if any(shot.faults for shot in taken) else 0


if __name__ == "__main__":
    sys.exit(main())
