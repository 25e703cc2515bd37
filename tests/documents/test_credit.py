"""The papers are credited: README, cards and CITATION.cff name the same authors."""

import re
from typing import Any

import pytest
import yaml

from tests.documents.pages import ROOT

CITED: list[dict[str, Any]] = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))[
    "references"
]
FAMILIES = ("causallink", "causalab", "causalgame", "recite", "replayscm")
"""In the order of CITATION.cff."""


def flat(path: str) -> str:
    return " ".join((ROOT / path).read_text("utf-8").split())


@pytest.mark.parametrize(("family", "paper"), zip(FAMILIES, CITED, strict=True))
def test_readme_and_card_name_title_and_authors(family: str, paper: dict[str, Any]) -> None:
    names = [f"{one['given-names']} {one['family-names']}" for one in paper["authors"]]
    card = flat(f"src/whybench/families/{family}/card.md").split("## Citation")[1]
    for text in (flat("README.md").split("## Cite the papers")[1], card):
        assert [name for name in (*names, paper["title"]) if name not in text] == []


def test_no_paper_is_called_anonymous() -> None:
    pages = ["README.md", *(f"src/whybench/families/{family}/card.md" for family in FAMILIES)]
    pages.append("src/whybench/report/published/figures_of_papers/README.md")
    assert [page for page in pages if re.search("anonymous", flat(page), re.IGNORECASE)] == []
