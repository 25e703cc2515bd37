"""The leaderboard: what it shows, in which order, and that no file can put markup into it."""

import json
import re
from dataclasses import replace

import pytest
from tests.report.made_up import HOSTILE
from tests.report.made_up_results import FAMILIES, result

from whybench.report.results.files import write_results
from whybench.report.results.site import build_site, rows_of


def hostile(name: str = "lab/hostile", score: float = 0.5):
    """Return a result with markup in every field that may hold any printable text."""
    words = HOSTILE
    made = result(name, score)
    cells = {
        family: replace(cell, floor_name=words, ceiling_name=words)
        for family, cell in made.system.cells.items()
    }
    return replace(
        made,
        system=replace(made.system, cells=cells),
        versions={"inspect_ai": words},
        settings={"prism": {"protocol": words}},
    )


ROWS = [
    result("lab/low", 0.0),
    result("lab/high", 0.9),
    result("lab/some", 0.95, FAMILIES[:4]),
    hostile(),
    result("lab/high", 0.8, set="lite"),
    result("lab/older", 0.7, release="0"),
    result("by hand", 0.7, release="", set=""),
]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    write_results(ROWS, folder / "results")
    page, count = build_site(folder / "results", folder / "public", ["lab-high-1rc-standard.json"])
    assert count == len(ROWS)
    return page


def test_each_release_and_set_has_a_table_and_no_release_comes_last(site):
    text = site.read_text("utf-8")
    heads = re.findall(r"<h2 [^>]*>([^<]+)</h2>", text)
    assert heads == [
        "Release 1rc, set standard", "Release 1rc, set lite", "Release 0, set standard",
        "Suites chosen by hand",
    ]  # fmt: skip
    rows = re.findall(r'<th scope="row" class="name" data-key="([^"]+)"', text)
    assert rows[:4] == ["lab/high", "lab/hostile", "lab/low", "lab/some"]
    assert text.count("<caption") == 4
    assert text.count('aria-sort="descending" data-first') == 4


def test_a_row_shows_score_interval_cost_date_and_who_vouches_for_it(site):
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", site.read_text("utf-8")))
    high = text.partition(" Date ")[2].partition("lab/hostile")[0]
    for told in ("checked", "0.90", "0.85 to 0.95", "75 %", "$7.50", "2 %", "2026-11-02"):
        assert told in high, told
    assert "self-reported" not in high
    assert "self-reported" in text.partition("lab/hostile")[2].partition("lab/low")[0]
    low = text.partition("lab/low")[2].partition("lab/some")[0]
    assert "floor" in low
    assert "−0.05" in low
    some = text.partition("lab/some")[2].partition("Details")[0]
    assert "4 of 6 families" in some
    assert some.count("not run") == 2
    assert "0.50 (first_listed)" in text
    assert "1.00 (exact)" in text


def test_a_result_that_lacks_rows_of_its_release_is_marked_and_comes_later(monkeypatch, tmp_path):
    due = dict.fromkeys(FAMILIES, 50)
    monkeypatch.setattr("whybench.report.results.site.rows_of", lambda *_: due)
    few = result("lab/few", 0.95)
    cells = few.system.cells | {"prism": replace(few.system.cells["prism"], instances=45)}
    one = result("lab/one-family", 0.99, FAMILIES[:1])
    score = one.system.cells["causalab"].score
    made = [
        replace(few, system=replace(few.system, cells=cells)),
        replace(one, system=replace(one.system, missing=(), overall=score)),
        result("lab/whole", 0.2),
    ]  # fmt: skip
    write_results(made, tmp_path)
    text = build_site(tmp_path, tmp_path / "public")[0].read_text("utf-8")
    rows = re.findall(r'<th scope="row" class="name" data-key="([^"]+)".*?<small[^>]*>(.*?)<', text)
    assert rows == [
        ("lab/whole", "self-reported"),
        ("lab/few", "self-reported, incomplete"),
        ("lab/one-family", "self-reported, incomplete"),
    ]
    assert "Incomplete: 45 of 50 rows of prism." in text
    assert "0 of 50 rows of replayscm" in text


def test_rows_of_a_release_are_counted_and_an_unknown_one_has_none():
    assert set(rows_of("1rc", "lite")) == {*FAMILIES}
    assert all(rows_of("1rc", "lite")[f] < rows_of("1rc", "standard")[f] for f in FAMILIES)
    assert rows_of("none", "lite") == rows_of("1rc", "tiny") == {}


def test_nothing_of_a_file_becomes_markup(site):
    text = site.read_text("utf-8")
    assert text.count("<script") == 2
    assert "<img" not in text
    assert "onerror=window.hacked=1&gt;" in text
    assert "{{" not in text.partition("</style>")[2].replace("{{7*7}}", "")


def test_the_page_loads_nothing_and_links_only_beside_itself(site):
    text = site.read_text("utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', text)
    assert policy is not None
    assert policy[1].startswith("default-src &#39;none&#39;")
    assert "unsafe" not in policy[1]
    links = re.findall(r'(?:href|src)="([^"]*)"', text)
    files = [link for link in links if not link.startswith("#") and link != "data:,"]
    assert len(files) == len(ROWS)
    for link in files:
        assert re.fullmatch(r"results/[a-z0-9-]+\.json", link)
        assert json.loads((site.parent / link).read_text("utf-8"))["schema"] == "whybench-result/1"
    for link in links:
        if link.startswith("#"):
            assert f'id="{link[1:]}"' in text
    assert " style=" not in text.partition("</style>")[2]


def test_one_bad_file_stops_the_whole_site(tmp_path):
    write_results(ROWS[:2], tmp_path)
    (tmp_path / "bad.json").write_text("[]")
    with pytest.raises(ValueError, match=r"^bad\.json: file: is not of type object\.$"):
        build_site(tmp_path, tmp_path / "public")
    assert not (tmp_path / "public").exists()


def test_only_files_of_the_folder_can_be_checked(tmp_path):
    write_results(ROWS[:1], tmp_path)
    with pytest.raises(ValueError, match=r"no result file other\.json"):
        build_site(tmp_path, tmp_path / "public", ["other.json"])
