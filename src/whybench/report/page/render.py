"""Render a report as one HTML page that loads no other file."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from itertools import groupby

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup, escape

from whybench.report.front.cards import RULE
from whybench.report.front.shown import ends, hidden, metric, raw, shown
from whybench.report.page.cells import Grid, grid
from whybench.report.page.chapters import pack_episodes
from whybench.report.page.pictures import Picture, placed, svg_of
from whybench.report.palette import DARK, LIGHT, SYSTEMS
from whybench.report.section import TITLE, Figure, Part, Remark, Report, Section, Table

LIMIT = 25_000_000
"""Largest size of a page in bytes; episodes that do not fit are left out."""

FRAME = 50_000
"""Bytes reserved for the head, the contents and the foot of a page."""

MOST_ROWS = {"table": 2000, "figure": 500}
"""Most rows shown in a table and below a figure; the files have all rows."""

STYLES = ("style.css", "parts.css", "episodes.css", "front.css", "narrow.css", "print.css")
HEAD = ("theme.js",)
SCRIPTS = (
    "dom.js",
    "menu.js",
    "tables.js",
    "tips.js",
    "inflate.js",
    "arrows.js",
    "layout.js",
    "panes.js",
    "graph.js",
    "tracks.js",
    "steps.js",
    "passages.js",
    "episode.js",
    "folds.js",
    "list.js",
)
"""Joined in this order into one module, so they share names and define no globals."""

RESERVED = (
    "caption",
    "episode",
    "episodes",
    "figure",
    "page",
    "picture",
    "packed",
    "table",
    "title",
)
"""First words of ids that the page uses itself."""

TOKENS = (*SYSTEMS, "grey", "soft")
"""Colours of marks and bars on the front page; `soft` is that of keys."""

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9-]*")


def render(
    report: Report,
    drawn: Mapping[str, str] | None = None,
    beside: str = "",
    limit: int = LIMIT,
) -> str:
    """Return the page.

    `drawn` has SVGs by figure id, if they were already drawn. `beside` is the folder with the files
    of tables and figures, relative to the page. `limit` is in bytes.
    """
    check_names(report)
    figures = [part for part in _walk(report.sections) if isinstance(part, Figure)]
    pictures = {
        f.id: placed((drawn or {}).get(f.id) or svg_of(f, report.systems), f) for f in figures
    }
    style = themes() + "".join(asset(f"web/{name}") for name in STYLES) + _least(pictures)
    head = "\n".join(asset(f"web/{name}") for name in HEAD)
    layout = re.sub(r"//# sourceMappingURL.*", "", asset("vendor/dagre.min.js"))
    script = "\n".join(asset(f"web/{name}") for name in SCRIPTS)
    front = shown(report, report.front) if report.front else None
    opening = _filled("front.html", front=front, tokens=TOKENS, rule=RULE) if front else ""
    rooms = _filled(
        "rooms.html",
        report=report,
        front=front,
        pictures={name: Markup(p.svg) for name, p in pictures.items()},  # noqa: S704  by Vega
        beside=beside,
    )
    rest = sum(len(text.encode()) for text in (opening, rooms, style, head, layout, script))
    packed = pack_episodes(report.chapters, limit - rest - FRAME)
    return _filled(
        "page.html",
        report=report,
        front=front,
        default_title=TITLE,
        opening=Markup(opening),  # noqa: S704  filled above
        rooms=Markup(rooms),  # noqa: S704  filled above
        packed=packed,
        index=_inert(packed.index),
        policy=policy([style], [head, layout, script]),
        style=Markup(style),  # noqa: S704  our own files
        head=Markup(head),  # noqa: S704
        layout=Markup(layout),  # noqa: S704
        script=Markup(script),  # noqa: S704
    )


def check_names(report: Report) -> None:
    """Reject ids that cannot be anchors or file names, and ids that occur twice."""
    rooms = [room.id for room in _rooms(report.sections)]
    taken = [name for name in rooms if name.split("-")[0] in RESERVED]
    if taken:
        raise ValueError(f"Section id {taken[0]!r} starts with a reserved word. Rename it.")
    parts = list(_walk(report.sections))
    groups = {
        "section": rooms,
        "table": [part.id for part in parts if isinstance(part, Table)],
        "figure": [part.id for part in parts if isinstance(part, Figure)],
        "chapter": [chapter.id for chapter in report.chapters],
    }
    for what, names in groups.items():
        twice = [name for name, times in Counter(names).items() if times > 1]
        if twice:
            raise ValueError(f"Duplicate {what} ids: {', '.join(twice[:5])}. Make them unique.")
        odd = [name for name in names if what != "chapter" and not _NAME.fullmatch(name)]
        if odd:
            raise ValueError(f"Invalid {what} id {odd[0]!r}. Use letters, digits and hyphens.")


def _walk(sections: Iterable[Section]) -> Iterable[Part]:
    for section in sections:
        yield from section.walk()


def _rooms(sections: Iterable[Section]) -> Iterable[Section]:
    for section in sections:
        yield section
        yield from _rooms(section.children)


def policy(styles: Iterable[str], scripts: Iterable[str]) -> str:
    """Return a content security policy that allows only the page's own code and no network."""

    def sums(texts: Iterable[str]) -> str:
        return " ".join(
            f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
            for text in texts
        )

    return (
        f"default-src 'none'; script-src {sums(scripts)}; style-src {sums(styles)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def themes() -> str:
    """Return both palettes as CSS variables; the reader's choice overrides the system's."""
    light, dark = (
        "".join(f"--{token}:{colour};" for token, colour in palette.items())
        for palette in (LIGHT, DARK)
    )
    return (
        f":root{{color-scheme:light;{light}}}\n"
        "@media screen and (prefers-color-scheme:dark){:root:not([data-theme=light])"
        f"{{color-scheme:dark;{dark}}}}}\n"
        f"@media screen{{:root[data-theme=dark]{{color-scheme:dark;{dark}}}}}\n" + _hues()
    )


def _hues() -> str:
    """Return a class for each colour of a system, and the edges of its marks in pictures."""
    edges = {token: f"var(--{token}-edge)" for token in TOKENS} | {"soft": "var(--ink)"}
    return "".join(
        f".s-{token}{{--c:var(--{token});--e:{edge};--hatch:url(#page-hatch-{token})}}\n"
        f'.picture .mark-symbol [fill="var(--{token})"]:not([fill-opacity="0"])'
        f"{{stroke:{edge};stroke-width:1}}\n"
        for token, edge in edges.items()
    )


def _least(pictures: Mapping[str, Picture]) -> str:
    return "".join(f"#picture-{n}{{min-width:{p.least}px}}\n" for n, p in pictures.items())


def _inert(data: object) -> str:
    """Return JSON that cannot end its script element."""
    told = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return Markup(told.replace("<", "\\u003c").replace("&", "\\u0026"))  # noqa: S704  escaped here


def _rows(part: Table | Figure) -> Grid:
    return grid(part.frame, MOST_ROWS["table" if isinstance(part, Table) else "figure"])


def _gathered(parts: Iterable[Part]) -> Iterable[Part | list[Part]]:
    """Yield parts in order; consecutive plain remarks become one list."""
    for together, group in groupby(parts, lambda p: isinstance(p, Remark) and p.tone == "plain"):
        found = list(group)
        if together and len(found) > 1:
            yield found
        else:
            yield from found


def _coded(text: str) -> Markup:
    """Escape a text and mark text between backticks as code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))  # noqa: S704


def _first_sentence(text: str) -> str:
    return re.split(r"(?<=[.!?]) ", text, maxsplit=1)[0]


def _kind(part: Part) -> str:
    return type(part).__name__.lower()


@cache
def asset(name: str) -> str:
    """Return a file of the page."""
    return files(__package__).joinpath(name).read_text("utf-8")


def _filled(template: str, **values: object) -> str:
    return _environment().get_template(template).render(values)


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FunctionLoader(lambda name: asset(f"web/{name}")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals.update(rows=_rows, kind=_kind, gathered=_gathered)
    made.globals.update(raw_of=raw, ends_of=ends, hidden_of=hidden, metric_of=metric)
    made.filters.update(coded=_coded, px="{:.1f}".format, first_sentence=_first_sentence)
    return made
