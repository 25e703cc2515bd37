"""How pages are written: short lines and sentences, plain words, links that lead somewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.documents.pages import FENCE, PAGES, ROOT
from tests.tables import together

WIDEST = 120
"""We wrap at 100; a line may be longer where a link or a name does not fit."""

OLD = {
    r"skins?": "prompt template",
    r"knobs?": "parameter",
    r"salts?": "seed",
    r"doors?": "interface",
    r"shel(f|ves)": "folder, cache",
    r"retell(s|ings?)?|retold": "annotated episode",
    r"latent worlds?": "cluster",
    r"rivals?": "indistinguishable systems",
    r"hollow": "lucky",
    r"borne out": "supported",
    r"twins?": "independent implementation",
    r"made documents?": "generated document",
    r"hang(s|ing)? on|hung on": "depends on",
    r"mend(s|ed|ing)?": "fix",
    r"anew": "again, regenerate",
    r"by other means": "independently",
    r"lest": "to avoid",
    r"for want of": "for lack of",
    r"at (its|their) word": "as exact",
    r"as may be": "",
    r"hindsight": "failure attribution",
    r"glimpse": "",
    r"successes that tell": "successes that can be classified",
}
"""Old word or phrase → what to write."""

LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ +(.+?)(?: *\{#([\w-]+)\})?$")
SNIPPET = re.compile(r'--8<-- "([^"]+)"')


def prose(page: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a page that are neither in a fenced block nor in a table."""
    fenced = False
    for number, line in enumerate(PAGES[page].splitlines(), 1):
        if FENCE.match(line):
            fenced = not fenced
        elif not fenced and not line.lstrip().startswith("|"):
            yield number, line


every_page = together("page", PAGES)


@every_page
def test_no_line_of_prose_is_too_long(page: str) -> None:
    wide = [(n, len(line)) for n, line in prose(page) if len(line) > WIDEST]
    assert wide == []


@pytest.mark.parametrize(("old", "now"), OLD.items())
def test_no_old_word_is_on_a_page(old: str, now: str) -> None:
    word = re.compile(rf"\b(?:{old})\b", re.IGNORECASE)
    left = [
        f"{page}:{number}: {line.strip()}"
        for page in PAGES
        for number, line in prose(page)
        if word.search(re.sub(r"`[^`]*`|\]\([^)]*\)", "", line))
    ]
    assert not left, f"write {now!r}\n" + "\n".join(left)


def anchors(text: str) -> set[str]:
    """Return the anchors of a page's headings, as GitHub and the site make them."""
    found = set(re.findall(r'<a id="([^"]+)"', text))
    for line in text.splitlines():
        heading = HEADING.match(line)
        if heading:
            plain = re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", heading[1]).strip().lower()
            found.add(heading[2] or re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", plain)))
    return found


def whole(path: Path) -> str:
    """Return a page with the files that it includes."""
    text = path.read_text("utf-8")
    for name in SNIPPET.findall(text):
        places = (ROOT / "src/whybench/families" / name, ROOT / "docs/cluster" / name)
        text += next((place.read_text("utf-8") for place in places if place.exists()), "")
    return text


@every_page
def test_every_link_leads_somewhere(page: str) -> None:
    here = ROOT / page
    for link in LINK.finditer(re.sub(r"`[^`\n]*`", "", PAGES[page])):
        target = link[1] or link[2]
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        path = (here.parent / name).resolve() if name else here
        assert path.exists(), f"{page}: {target}"
        if anchor and path.suffix == ".md":
            assert anchor in anchors(whole(path)), f"{page}: {target}"


def test_sentences_are_short() -> None:
    run = subprocess.run(
        [sys.executable, "scripts/readability.py", "--bar", "14", "0.08"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout
