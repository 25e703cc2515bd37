"""From a PDF file to its text, page by page, through PyMuPDF."""

from __future__ import annotations

from pathlib import Path
from typing import Any

FEWEST = 200
"""Characters below which a file is taken for pictures of pages."""


def text_of(path: Path, fewest: int = FEWEST) -> str:
    """Return a paper's text in reading order; pages are parted by an empty line."""
    try:
        import pymupdf
    except ImportError as missing:
        raise RuntimeError(
            "papers are read through PyMuPDF: pip install 'whybench[papers]'"
        ) from missing
    open_pdf: Any = pymupdf.open  # it has no types of its own
    try:
        with open_pdf(stream=path.read_bytes(), filetype="pdf") as document:
            if document.needs_pass:
                raise ValueError(f"{path.name} is locked by a password: save it without one")
            pages: list[str] = [page.get_text("text") for page in document]
    except (pymupdf.FileDataError, pymupdf.EmptyFileError) as error:
        raise ValueError(f"{path.name} cannot be read as PDF ({error}): save it anew") from error
    text = "\n\n".join(page.strip() for page in pages)
    if len(text.strip()) < fewest:
        raise ValueError(
            f"{path.name} has {len(text.strip())} characters of text on {len(pages)} pages: these "
            "are probably pictures of pages, so run text recognition over it first"
        )
    return text
