"""What holds of every family's section: ids, words, rows, and charts that can be drawn."""

from __future__ import annotations

import re

from whybench.report.charts import specification
from whybench.report.section import Figure, Remark, Section


def ids(found: Section) -> list[str]:
    """Return the ids of a section's parts and of its children's."""
    own = [part.id for part in found.parts if not isinstance(part, Remark)]
    return [*own, *(name for child in found.children for name in ids(child))]


def sections(found: Section) -> list[str]:
    """Return the ids of a section and of the sections in it."""
    return [found.id, *(name for child in found.children for name in sections(child))]


def child(found: Section, name: str) -> Section:
    """Return the section of this id among those in a section."""
    (one,) = (child for child in found.children if child.id == name)
    return one


def sound(found: Section) -> None:
    """Check every part of a section."""
    for names in (ids(found), sections(found)):
        assert len(set(names)) == len(names)
        assert all(re.fullmatch(r"[a-z0-9-]+", name) for name in names)
    for part in found.walk():
        if isinstance(part, Remark):
            assert part.text
            continue
        assert part.title
        assert len(part.frame)
        if isinstance(part, Figure):
            assert re.search(r"\d", part.alt)
            assert not re.search(r"\bnan\b", part.alt)
            assert specification(part.chart)["layer"]
