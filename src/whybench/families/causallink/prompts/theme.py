"""Themes: data files with the words for entities and their conditions."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from string import Template

_FOLDER = files(__package__) / "themes"

THEMES: tuple[str, ...] = tuple(
    sorted(item.name.removesuffix(".toml") for item in _FOLDER.iterdir() if item.name[0] != "_")
)


@dataclass(frozen=True, slots=True)
class Theme:
    """The words of one theme; all themes have the same hidden systems."""

    name: str
    noun: str
    nouns: str
    start: str
    """The verb that makes an entity `on`; also the name of that action."""
    stop: str
    """The verb that tries to make an entity `off`; also the name of that action."""
    on: str
    off: str
    question: str
    entities: tuple[str, ...]
    changes: tuple[tuple[str, str], ...]
    """Each entity's own words for on and off; without them, the theme's words apply."""

    def condition(self, entity: str, is_on: bool) -> str:
        """Return the word for an entity's condition."""
        on, off = self.changes[self.entities.index(entity)]
        return on if is_on else off

    def ask(self, x: str, y: str) -> str:
        """Return the question whether x drives y."""
        words = {"x": x, "y": y, "x_on": self.condition(x, True), "y_on": self.condition(y, True)}
        return Template(self.question).substitute(words)

    def conditions(self, entities: tuple[str, ...]) -> str:
        """Return what on and off look like, if each entity has its own words."""
        own = [(entity, self.changes[self.entities.index(entity)]) for entity in entities]
        if all(change == (self.on, self.off) for _, change in own):
            return ""
        seen = "; ".join(f"{entity}: {on} or {off}" for entity, (on, off) in own)
        return f" What {self.on} or {self.off} looks like depends on the {self.noun} ({seen})."


@cache
def read_theme(name: str) -> Theme:
    """Read a theme by name."""
    if name not in THEMES:
        raise ValueError(f"no theme {name!r}: try {', '.join(THEMES)}")
    data = tomllib.loads((_FOLDER / f"{name}.toml").read_text("utf-8"))
    entities = [e if isinstance(e, dict) else {"name": e} for e in data.pop("entities")]
    return Theme(
        name=name,
        entities=tuple(e["name"] for e in entities),
        changes=tuple((e.get("on", data["on"]), e.get("off", data["off"])) for e in entities),
        **data,
    )
