"""From PDF to Markdown: what a model may change in a paper's text, and what it may not."""

import asyncio
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from whybench.families.recite.extras.preparing.limits import MarkdownLimits, limits
from whybench.families.recite.extras.preparing.model_client import Asker, RefusedError, StepError
from whybench.families.recite.extras.preparing.text.markdown import NOTHING, accept, chunks, convert
from whybench.families.recite.extras.preparing.text.pdf import text_of
from whybench.families.recite.extras.preparing.text.sections import Matter, matter

pymupdf = pytest.importorskip("pymupdf")

USUAL = limits().markdown

RAW = """Journal of Made Things 3
A study of ponds
Ann Author and Bo Writer, Somewhere
Abstract
Ponds lose water when sum-
mers are hot [1, 2]. The loss does not stop at night12.
1. Introduction
Hot summers dry the soil (Author, 2019), and dry soil takes more
Journal of Made Things 4
water from a pond than a wet soil would ever take. Farmers then pump,
and pumping lowers the pond by 5.3 centimetres a day in long-
term studies of ten ponds.
Figure 1. What we drew.
pump
pond
References
[1] Author A. On ponds. 2019.
[2] Writer B. On soils. 2020.
"""

GOOD = """# A study of ponds

## Abstract

Ponds lose water when summers are hot. The loss does not stop at night.

## 1. Introduction

Hot summers dry the soil, and dry soil takes more water from a pond than a wet soil would ever \
take. Farmers then pump, and pumping lowers the pond by 5.3 centimetres a day in long-term \
studies of ten ponds."""


def taken(reply: str, bounds: MarkdownLimits = USUAL, raw: str = RAW) -> str:
    return accept(raw, reply, matter(raw), bounds)[0]


def test_a_faithful_copy_passes_and_all_that_went_is_listed() -> None:
    output, changes = accept(RAW, GOOD, matter(RAW), USUAL)
    assert output == GOOD
    gone = {(change.note, " ".join(change.before.split())) for change in changes}
    assert ("citation", "1, 2") in gone
    assert ("citation", "12") in gone
    assert ("citation", "Author, 2019") in gone
    assert ("lines", "Journal of Made Things 4") in gone
    assert ("caption", "Figure 1. What we drew. pump pond") in gone
    assert any(note == "front" and "Ann Author" in text for note, text in gone)
    assert any(note == "back" and "Writer B. On soils" in text for note, text in gone)
    assert all(change.kind == "removed" for change in changes)


def test_a_fence_around_the_reply_and_tags_of_raised_signs_are_taken_off() -> None:
    assert taken(f"```markdown\n{GOOD}\n```") == GOOD
    assert taken(GOOD.replace("night.", "<sup>night</sup>.")) == GOOD


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("# A study", "Here is the text.\n\n# A study", "not in the paper"),
        ("Farmers then", "Heat is the reason for all of this. Farmers then", "not in the paper"),
        ("## Abstract", "## Overview", "heading"),
        ("# A study of ponds", "# A new study of ponds", "heading"),
        ("## Abstract\n", "## Abstract\n\n### Findings\n", "heading"),
        ("does not stop", "does stop", "gained or lost"),
        ("loss does stop", "loss does not stop", "gained or lost"),
        ("a wet soil would ever take", "a wet soil", "cut out"),
        ("5.3 centimetres", "5 centimetres", "cut out"),
        ("Hot summers dry the soil, and dry soil", "Soil", "cut out"),
    ],
)
def test_changes_of_wording_are_refused(old: str, new: str, why: str) -> None:
    raw, good = RAW, GOOD
    if old == "loss does stop":
        raw, good = RAW.replace("does not", "does"), GOOD.replace("does not", "does")
    assert old in good
    bounds = replace(USUAL, cut_per_thousand=0) if "5.3" in old else USUAL
    with pytest.raises(RefusedError, match=why):
        taken(good.replace(old, new), bounds, raw)


def test_words_that_are_not_the_papers_are_counted() -> None:
    changed = GOOD.replace("Farmers then pump", "Growers often pump")
    with pytest.raises(RefusedError, match=r"only 9\d\.\d% of your words"):
        taken(changed, replace(USUAL, cut_per_thousand=100))
    assert taken(changed, replace(USUAL, cut_per_thousand=100, found=0.9)) == changed


def test_an_invented_sentence_cannot_hide_behind_stray_words() -> None:
    """Its words occur somewhere in what was left out, but not in a row."""
    listed = "\n".join(f"[{n}] The water of a pond was pumped by farmers." for n in range(9))
    raw = RAW + listed
    invented = GOOD + " Water kills frogs pumped here farmers."
    loose = replace(USUAL, found=0.9)
    with pytest.raises(RefusedError, match="not in the paper"):
        taken(invented, loose, raw)
    assert taken(invented, replace(loose, stretch=1), raw)


def test_a_reply_far_longer_than_the_piece_is_not_even_compared() -> None:
    with pytest.raises(RefusedError, match="far longer"):
        taken(GOOD * 9)
    with pytest.raises(RefusedError, match="not in the paper"):
        taken(GOOD * 9, replace(USUAL, longest=20))


def test_moving_a_sentence_is_no_copy() -> None:
    first = "Ponds lose water when summers are hot."
    moved = GOOD.replace(first + " ", "") + " " + first
    with pytest.raises(RefusedError):
        taken(moved)


def test_leaving_out_large_parts_is_refused() -> None:
    lines = [f"Line {n} says that pond number {n} lost some of its water." for n in range(60)]
    raw = "\n".join(lines)
    half = "\n".join(lines[:30])
    with pytest.raises(RefusedError, match="left out"):
        accept(raw, half, Matter(0, len(raw)), USUAL)
    loose = replace(USUAL, left_out=0.6)
    assert accept(raw, half, Matter(0, len(raw)), loose)[0] == half
    behind = Matter(0, raw.index(lines[30]))
    assert accept(raw, half, behind, USUAL)[0] == half


def test_a_heading_of_back_matter_is_refused() -> None:
    kept = GOOD + "\n\n## References\n\n[1] Author A. On ponds. 2019."
    with pytest.raises(RefusedError, match="has to go"):
        taken(kept)


def test_a_citation_that_stayed_is_a_doubt() -> None:
    _, changes = accept(RAW, GOOD.replace("hot.", "hot [1, 2]."), matter(RAW), USUAL)
    assert [c.before for c in changes if c.kind == "doubt"] == ["[1, 2]"]


def test_one_word_misread_by_the_extraction_may_be_mended_and_is_listed() -> None:
    raw = RAW.replace("Farmers", "Far mers")
    padded = raw.replace("References", f"{'Wet soil holds some water. ' * 40}\nReferences")
    output = GOOD + " " + "Wet soil holds some water. " * 40
    _, changes = accept(padded, output, matter(padded), USUAL)
    assert [c.after for c in changes if c.kind == "added"] == ["Farmers"]
    with pytest.raises(RefusedError, match="cut out"):
        accept(padded, output, matter(padded), replace(USUAL, cut_per_thousand=0.5))


def test_nothing_may_be_left_of_back_matter_only() -> None:
    listed = "[1] Author A. On ponds. 2019.\n" * 20
    assert accept(listed, NOTHING, Matter(0, 0), USUAL)[0] == ""
    with pytest.raises(RefusedError, match="left out"):
        accept(listed, NOTHING, Matter(0, len(listed)), USUAL)


def test_the_body_lies_between_front_and_back_matter() -> None:
    found = matter(RAW)
    assert RAW[found.front :].startswith("Abstract")
    assert RAW[found.back :].startswith("References")
    assert matter("No headings at all.") == Matter(0, 19)
    running = RAW.replace("References", "It is in the\nappendix A. There it is\nFunding: none.")
    assert (
        RAW[: found.back] + "It is in the\nappendix A. There it is\n"
        == (running[: matter(running).back])
    )
    late = "Text. " * 50 + "\nBackground\n" + "Text. " * 50
    assert matter(late).front == 0
    early = "References to ponds\nReferences\n" + "Text. " * 50
    assert matter(early).back == len(early)


@pytest.mark.parametrize("size", [1, 7, 50, 10_000])
def test_pieces_hold_the_whole_text_and_keep_to_their_size(size: int) -> None:
    pieces = chunks(RAW, size)
    assert "".join(pieces) == RAW
    assert max(map(len, pieces)) <= size


def test_pieces_end_with_sentences_if_they_can() -> None:
    text = "A line\nthat runs on\nand ends here.\nNew line\nthat runs\n"
    assert chunks(text, 50)[0].endswith("here.\n")


def test_long_papers_are_converted_piece_by_piece_with_the_headings_so_far() -> None:
    lines = [f"In year {n} the pond had {n} frogs and the farm had {n} cows." for n in range(40)]
    raw = "Introduction\n" + "\n".join(lines)
    prompts: list[str] = []

    async def copyist(prompt: str) -> str:
        prompts.append(prompt)
        piece = prompt.split(">>>\n")[1].split("\n<<<END")[0]
        return piece.replace("Introduction", "# Introduction")

    asker = Asker(copyist, "copyist", 2)
    text, changes = asyncio.run(convert(raw, asker, replace(USUAL, chunk=500)))
    assert len(prompts) > 4
    assert "levels:\n(none)" in prompts[0]
    assert "levels:\n# Introduction" in prompts[1]
    assert text.startswith("# Introduction")
    assert all(line in text for line in lines)
    assert not changes


def test_a_model_that_comments_is_told_why_and_asked_again() -> None:
    raw = "\n".join(f"In year {n} the pond had {n} frogs." for n in range(30))
    prompts: list[str] = []

    async def chatty(prompt: str) -> str:
        prompts.append(prompt)
        return raw if len(prompts) == 3 else f"Sure, here is what you asked for!\n\n{raw}"

    text, changes = asyncio.run(convert(raw, Asker(chatty, "chatty", 3), USUAL))
    assert text == raw
    assert [c.kind for c in changes] == ["refused", "refused"]
    assert "Sure, here is" in prompts[1].rsplit("refused:", 1)[1]
    assert len(set(prompts)) == 3  # a model without chance must not be asked the same again
    prompts.clear()
    with pytest.raises(StepError, match="chatty gave 2 replies"):
        asyncio.run(convert(raw, Asker(chatty, "chatty", 2), USUAL))


def pdf(path: Path, *pages: str) -> Path:
    document = pymupdf.open()
    for text in pages:
        document.new_page().insert_textbox((50, 50, 550, 800), text, fontsize=9)
    document.save(path)
    return path


def test_the_text_of_a_pdf_comes_page_by_page(tmp_path: Path) -> None:
    path = pdf(tmp_path / "a.pdf", "Ponds lose water.\n" * 10, "Farmers pump.\n" * 10)
    text = text_of(path)
    assert text.count("Ponds lose water.") == 10
    assert text.index("Ponds") < text.index("\n\n") < text.index("Farmers")


def test_files_without_text_or_sense_are_refused_with_advice(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="probably images"):
        text_of(pdf(tmp_path / "scan.pdf", " "))
    broken = tmp_path / "broken.pdf"
    broken.write_text("no PDF")
    with pytest.raises(ValueError, match="cannot be read as PDF"):
        text_of(broken)
    broken.write_bytes(b"")
    with pytest.raises(ValueError, match="cannot be read as PDF"):
        text_of(broken)
    locked = tmp_path / "locked.pdf"
    document = pymupdf.open()
    document.new_page().insert_text((50, 50), "secret")
    document.save(locked, encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="x", owner_pw="y")
    with pytest.raises(ValueError, match="password"):
        text_of(locked)


def test_a_pdf_that_is_too_long_is_refused_with_its_bound(tmp_path: Path) -> None:
    path = pdf(tmp_path / "a.pdf", *["Ponds lose water.\n" * 10] * 3)
    size, usual = len(text_of(path)), limits().pdf
    with pytest.raises(ValueError, match="has 3 pages, more than 2: prepare the paper alone"):
        text_of(path, replace(usual, pages=2))
    with pytest.raises(ValueError, match="more than 300 characters of text: prepare the paper"):
        text_of(path, replace(usual, characters=300))
    assert len(text_of(path, replace(usual, pages=3, characters=size))) == size


def test_without_pymupdf_the_error_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pymupdf", None)
    with pytest.raises(RuntimeError, match=r"whybench\[papers\]"):
        text_of(tmp_path / "a.pdf")
