"""What an audit found is recorded with each family, and everything that shows it reads this."""

import json
from pathlib import Path
from typing import Any

import pytest

from whybench.audit.summary import carded, documented, record, recorded, row_of, worsened
from whybench.cli.list_show import _all_of
from whybench.episode import declaration
from whybench.episode.registry import families

ROOT = Path(__file__).parents[2]
FULL = {
    "suite": "causallink/core",
    "profile": "certified",
    "version": families()["causallink"].version,
    "status": "proven",
    "verdict": "WEAK",
    "label": "enumerated",
    "by_size": True,
    "reasons": ["a", "b", "c", "d", "e"],
    "best_guesser": "best_1",
    "guesser": 0.952,
    "guesser_interval": [0.9, 0.98],
    "exact": 1.0,
    "exact_interval": [0.96, 1.0],
    "instances": {"guesser": 84, "exact": 40},
    "seeds": ["one", "two"],
    "guessers": [],
}


@pytest.fixture
def audits(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The record of CausalLink; the other families have none."""
    kept: list[dict[str, Any]] = []
    real = declaration._beside

    def beside(package: str, name: str) -> str:
        if name != "audit.json":
            return real(package, name)
        return json.dumps(kept) if package.endswith("causallink") else ""

    monkeypatch.setattr(declaration, "_beside", beside)
    return kept


@pytest.mark.parametrize("name", families())
def test_each_card_shows_what_is_recorded(name: str) -> None:
    card = families()[name].card()
    assert card.count("<!-- audit -->") == 1
    assert carded(name, card) == card, "run scripts/audit_all --write"


def test_the_page_of_the_docs_shows_what_is_recorded() -> None:
    page = (ROOT / "docs/audit.md").read_text("utf-8")
    assert page == documented(), "run scripts/audit_all --write"


def test_a_record_keeps_other_suites_and_few_reasons() -> None:
    before = record([FULL, {**FULL, "suite": "causallink/large"}])
    after = json.loads(record([{**FULL, "verdict": "PASS", "reasons": []}], before))
    assert [(one["suite"], one["verdict"]) for one in after] == [
        ("causallink/core", "PASS"),
        ("causallink/large", "WEAK"),
    ]
    assert after[1]["reasons"] == ["a", "b", "c", "and 2 more"]
    assert "guessers" not in after[0]


def test_all_places_show_the_verdict_and_the_floor_by_name(audits: list[dict[str, Any]]) -> None:
    audits.append(FULL)
    assert row_of(FULL)[-1] == "WEAK (enumerated, by size)"
    for text in (documented(), carded("causallink", families()["causallink"].card())):
        assert "best_1 | 0.952 [0.900, 0.980]" in text
        assert "WEAK (enumerated, by size)" in text
        assert "84, 40" in text
    assert _all_of("causallink")["suites"]["core"]["audit"] == "WEAK"
    assert families()["causallink"].audited("core") == FULL


def test_a_record_of_another_version_is_not_shown(audits: list[dict[str, Any]]) -> None:
    audits.append({**FULL, "version": "0"})
    assert families()["causallink"].audited("core") is None
    assert recorded(documented()) == {}
    assert "has no audit yet" in carded("causallink", families()["causallink"].card())


def test_a_worse_verdict_is_found(audits: list[dict[str, Any]]) -> None:
    audits.append(FULL)
    before = recorded(documented())
    assert before == {"causallink/core": "WEAK"}
    assert worsened([FULL], before) == []
    assert worsened([FULL], {"causallink/core": "FAIL"}) == []
    assert worsened([{**FULL, "verdict": "FAIL"}], before)
    assert worsened([FULL], {}), "a suite without a record must pass"
