"""From a PDF file to its text, page by page, through PyMuPDF."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from whybench.families.recite.extras.preparing.limits import PdfLimits
from whybench.families.recite.extras.preparing.limits import limits as usual_limits

TOO_LONG = "prepare the paper alone, without what is bound with it, or give other `limits`"


def text_of(path: Path, limits: PdfLimits | None = None) -> str:
    """Return a paper's text in reading order; pages are parted by an empty line.

    A file that is too long is refused before models are asked, and before all of it is read.
    """
    bounds = limits or usual_limits().pdf
    try:
        import pymupdf
    except ImportError as missing:
        raise RuntimeError(
            "Papers are read with PyMuPDF. Install it with `pip install 'whybench[papers]'`."
        ) from missing
    open_pdf: Any = pymupdf.open  # it has no types of its own
    try:
        with open_pdf(stream=path.read_bytes(), filetype="pdf") as document:
            if document.needs_pass:
                raise ValueError(f"{path.name} is locked by a password. Save it without one.")
            if document.page_count > bounds.pages:
                raise ValueError(
                    f"{path.name} has {document.page_count} pages, more than {bounds.pages}: "
                    f"{TOO_LONG}"
                )
            pages = _pages(document, path.name, bounds.characters)
    except (pymupdf.FileDataError, pymupdf.EmptyFileError) as error:
        raise ValueError(f"{path.name} cannot be read as PDF ({error}). Save it again.") from error
    text = "\n\n".join(page.strip() for page in pages)
    if len(text.strip()) < bounds.fewest:
        raise ValueError(
            f"{path.name} has {len(text.strip())} characters of text on {len(pages)} pages. The "
            "pages are probably images: run text recognition first."
        )
    return text


def _pages(document: Iterable[Any], name: str, most: int) -> list[str]:
    """Return the text of each page, as long as there is not too much of it."""
    pages: list[str] = []
    size = 0
    for page in document:
        pages.append(page.get_text("text"))
        size += len(pages[-1])
        if size > most:
            raise ValueError(f"{name} has more than {most} characters of text: {TOO_LONG}")
    return pages
