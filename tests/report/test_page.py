"""The page as text: what is escaped, what is named, what is written."""

import base64
import gzip
import hashlib
import json
import re
from html.parser import HTMLParser
from importlib.resources import files

import pandas as pd
import pyarrow.parquet as pq
import pytest
from tests.report.made_up import HOSTILE, document, figure, report, table

from whybench.report.page import render, write
from whybench.report.page.cells import grid, words
from whybench.report.page.chapters import pack_episodes, packed
from whybench.report.page.files import plain
from whybench.report.page.pictures import ENLARGED, placed, png_of, svg_of
from whybench.report.palette import DARK, LIGHT
from whybench.report.section import Chapter, Remark, Report, Section, Table

VOID = {"meta", "link", "img", "input", "br", "hr"}


class Elements(HTMLParser):
    """Every element with its attributes, and the text of scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
        if tag in ("script", "style"):
            self.scripts.append("")

    def handle_startendtag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("script", "style"):
            self.scripts[-1] += data


@pytest.fixture(scope="module")
def html() -> str:
    return render(report())


@pytest.fixture(scope="module")
def elements(html) -> Elements:
    parsed = Elements()
    parsed.feed(html)
    parsed.close()
    return parsed


def test_every_element_is_closed_and_no_id_occurs_twice(elements):
    assert elements.open == []
    ids = [attrs["id"] for _, attrs in elements.found if "id" in attrs]
    assert len(ids) > 40
    assert len(ids) == len(set(ids))


def test_hostile_words_stay_words(html, elements):
    assert "<script>window" not in html
    assert "<img" not in html
    assert "49" not in html.split("<title>")[1].split("</title>")[0]
    kinds = [attrs.get("type") for tag, attrs in elements.found if tag == "script"]
    assert [kind for kind in kinds if kind not in ("application/json", "text/plain")] == [
        None,
        None,
        "module",
    ]
    assert not any(name.startswith("on") for _, attrs in elements.found for name in attrs)
    assert html.count("&lt;/script&gt;") > 10


def test_nothing_points_to_a_network(elements):
    for _, attrs in elements.found:
        for name in ("src", "href", "xlink:href", "action", "data"):
            told = attrs.get(name) or ""
            assert told == "" or told.startswith(("#", "data:")), told
        assert "style" not in attrs


def test_the_policy_names_exactly_the_code_of_the_page(html, elements):
    policy = next(a["content"] for t, a in elements.found if a.get("http-equiv"))
    assert policy is not None
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    kinds = [attrs.get("type") for tag, attrs in elements.found if tag in ("script", "style")]
    code = [t for t, k in zip(elements.scripts, kinds, strict=True) if k in (None, "module")]
    for text in code:
        told = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{told}'" in policy
    assert policy.count("sha256-") == len(code)


def test_every_figure_has_words_and_rows(elements, html):
    figures = [attrs for tag, attrs in elements.found if tag == "figure"]
    assert len(figures) == 4
    assert all(attrs["role"] == "group" for attrs in figures)
    pictures = [a for t, a in elements.found if t == "svg" and a.get("role") == "img"]
    assert next(a["aria-label"] for a in pictures) == "Scores of 6 families."
    assert html.count("Data table and text alternative") == 4


def test_episodes_can_be_read_back(elements):
    kinds = [attrs for tag, attrs in elements.found if tag in ("script", "style")]
    held = {a["id"]: t for a, t in zip(kinds, elements.scripts, strict=True) if "id" in a}
    index = json.loads(held["page-index"])
    assert [row["id"] for row in index] == [chapter.id for chapter in report().chapters]
    for place, chapter in enumerate(report().chapters):
        told = json.loads(gzip.decompress(base64.b64decode(held[f"packed-e{place}"])))
        text = told.pop("textAt", None)
        if text is not None:
            raw = gzip.decompress(base64.b64decode(held[f"packed-t{text}"]))
            assert json.loads(raw) == chapter.annotated["text"]
        assert told == {k: v for k, v in chapter.annotated.items() if k != "text"}


def many(count: int, text: str | None = None) -> list[Chapter]:
    told = document(3000).to_json() | {"text": text}
    return [
        Chapter(str(i), f"family {i % 2}", "s", "alpha", f"i{i}", 1, "right", 0.5, told)
        for i in range(count)
    ]


def test_a_document_read_by_many_is_kept_once():
    text = "".join(str(i * i) for i in range(4000))
    kept = pack_episodes(many(50, text), 10**9)
    assert len(kept.texts) == 1
    assert len(kept.episodes) == 50
    assert sum(map(len, kept.episodes)) < len(packed(text)) * 2


def test_episodes_beyond_the_room_are_left_out_family_by_family():
    one = pack_episodes(many(1), 10**9)
    size = len(one.episodes[0]) + len(json.dumps(one.index[0])) + 200
    kept = pack_episodes(many(20), size * 6)
    assert 4 <= len(kept.index) < 20
    assert kept.left == 20 - len(kept.index)
    counts = [sum(row["family"] == f"family {f}" for row in kept.index) for f in range(2)]
    assert abs(counts[0] - counts[1]) <= 1


def test_a_page_of_five_thousand_episodes_stays_small_and_says_what_it_left_out():
    held = many(5000, "x" * 1000)
    bare = Report("Many", (Section("a", "A", "", (Remark("b"),)),), tuple(held))
    assert len(render(bare).encode()) < 5_000_000
    cut = render(bare, limit=600_000)
    assert len(cut.encode()) < 600_000
    assert "episodes were left out to limit the size of the page" in cut


def test_rendering_twice_gives_the_same_page(html):
    assert render(report()) == html


def test_cells_show_three_decimals_yes_and_no_and_a_dash():
    shown = grid(table().frame, 10)
    assert shown.numeric == (False, True, True, False, False)
    assert [[cell.text for cell in row][1:] for row in shown.rows] == [
        ["0.123", "120", "yes", "1"],
        ["–", "12,000", "no", "two"],
        ["0.900", "–", "yes", "–"],
    ]
    assert [row[1].key for row in shown.rows] == ["0.12345", "", "0.9"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1.000"),
        (-0.25, "−0.250"),
        (float("nan"), "–"),
        (float("inf"), "∞"),
        (-1e-9, ">−0.001"),
        (0.0, "0.000"),
        (2024, "2024"),
        ({"a": [1]}, '{"a": [1]}'),
        (pd.NA, "–"),
        (pd.Timestamp("2026-01-02"), "2026-01-02 00:00:00"),
    ],
)
def test_a_value_in_words(value, text):
    assert words(value) == text


def test_long_tables_are_cut_and_say_so():
    frame = pd.DataFrame({"n": range(3000)})
    html = render(Report("Long", (Section("a", "A", "", (Table("t", "T", frame),)),)))
    assert "The first 2000 of 3000 rows" in html
    assert html.count("<tr>") == 2001


def test_a_picture_takes_the_colours_of_the_page_and_names_of_its_own():
    drawn = figure("one", "One")
    svg = placed(svg_of(drawn), drawn).svg
    held = re.findall(r'(?:fill|stroke)="(#[^"]+|white|black)"', svg)
    assert held == []
    assert 'fill="var(--blue)"' in svg
    assert "clip" in svg
    assert all(name.startswith("picture-one") for name in re.findall(r'\bid="([^"]+)"', svg))
    links = set(re.findall(r"url\(#([^)]+)\)", svg))
    assert links
    assert all(f'id="{name}"' in svg for name in links)
    assert "style=" not in svg


def test_both_themes_name_the_same_colours():
    assert LIGHT.keys() == DARK.keys()
    assert len({c.lower() for c in LIGHT.values()}) == len(LIGHT)


def test_a_png_is_larger_than_the_svg():
    drawn = figure("one", "One")
    svg, png = svg_of(drawn), png_of(drawn)
    width = float(re.search(r'width="([\d.]+)"', svg)[1])
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    assert abs(int.from_bytes(png[16:20], "big") - ENLARGED * width) <= 1


@pytest.mark.parametrize(
    ("sections", "word"),
    [
        ((Section("a", "A"), Section("a", "B")), "Duplicate"),
        ((Section("page-nav", "A"),), "Rename it"),
        ((Section("a b", "A"),), "hyphens"),
        ((Section("a", "A", "", (table("t"), table("t"))),), "Duplicate"),
        ((Section("a", "A", "", (table("../t"),)),), "hyphens"),
    ],
)
def test_names_that_cannot_be_anchors_or_files_are_refused(sections, word):
    with pytest.raises(ValueError, match=word):
        render(Report("x", sections))


def test_files_hold_what_the_page_shows(tmp_path):
    frame = table().frame
    held = Report("x", (Section("a", "A", "", (table(), figure("one", "One"))),))
    written = write(held, tmp_path / "my report.html")
    folder = tmp_path / "my report_files"
    assert {p.relative_to(folder).as_posix() for p in written.tables + written.figures} == {
        "tables/scores.csv",
        "tables/scores.parquet",
        "figures/one.svg",
        "figures/one.png",
        "figures/one.csv",
    }
    assert all(path.stat().st_size > 50 for path in written.tables + written.figures)
    back = pq.read_table(folder / "tables/scores.parquet").to_pandas()
    assert list(back.columns) == list(frame.columns)
    assert back["accuracy"].round(5).tolist()[0::2] == [0.12345, 0.9]
    assert back["valid"].tolist() == [True, False, True]
    assert [None if pd.isna(v) else v for v in back["mixed"]] == ["1", "two", None]
    assert pd.read_csv(folder / "tables/scores.csv")["system"][1] == HOSTILE
    page = written.page.read_text("utf-8")
    assert written.size == len(page.encode())
    assert 'href="my report_files/tables/scores.csv"' in page


def test_odd_columns_become_text_in_parquet():
    frame = pd.DataFrame({"a": [{"x": 1}, [1], None], "b": [1, 2.5, "c"], "c": [b"x", "y", 3]})
    frame.columns = ["a", "b", 3]
    held = plain(frame)
    assert held.column_names == ["a", "b", "3"]
    assert held.column("a").to_pylist() == ['{"x": 1}', "[1]", None]
    assert held.column("b").to_pylist() == ["1", "2.500", "c"]


def test_the_vendored_library_is_the_one_its_readme_names():
    folder = files("whybench.report.page").joinpath("vendor")
    told = hashlib.sha256(folder.joinpath("dagre.min.js").read_bytes()).hexdigest()
    assert told in folder.joinpath("README.md").read_text("utf-8")


def test_what_is_left_untold_is_said_even_if_no_episode_can_be_opened():
    page = render(
        Report("R", (Section("a", "A"),), (), "12 episodes of private splits are left out.")
    )
    assert "12 episodes of private splits are left out." in page
    assert 'id="page-viewer"' not in page
