"""Themes: data files with the words for entities and their conditions."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any

from whybench.episode.prompts.own_files import FileError, check_fields, content, is_file, line_at

_FOLDER = files(__package__) / "themes"

THEMES: tuple[str, ...] = tuple(
    sorted(item.name.removesuffix(".toml") for item in _FOLDER.iterdir() if item.name[0] != "_")
)

WORDS = {
    **dict.fromkeys(("noun", "start", "stop"), True),
    **dict.fromkeys(("nouns", "on", "off", "question", "entities"), False),
}
"""Keys of a theme, and whether each is one word: a key or a name in replies."""

FEWEST = 12
"""Entities that a theme must have: as many as the largest system."""


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
    """Read a theme by name, or a user's file.

    Raises:
        ValueError: There is no such theme, or the file is no theme. The message says which line is
            wrong.

    """
    if is_file(name):
        data = _checked(name)
    elif name in THEMES:
        data = tomllib.loads((_FOLDER / f"{name}.toml").read_text("utf-8"))
    else:
        raise ValueError(f"no theme {name!r}: try {', '.join(THEMES)}, or your own file NAME.toml")
    entities = [e if isinstance(e, dict) else {"name": e} for e in data.pop("entities")]
    return Theme(
        name=name,
        entities=tuple(e["name"] for e in entities),
        changes=tuple((e.get("on", data["on"]), e.get("off", data["off"])) for e in entities),
        **data,
    )


def _checked(name: str) -> dict[str, Any]:
    """Read a user's theme, and check what templates and actions rely on."""
    text = content(name)
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"line (\d+)", str(error))
        place = int(line[1]) if line else len(text.splitlines())
        raise FileError(name, place, str(error)) from error

    def wrong(key: str, what: str) -> FileError:
        found = re.search(rf"^ *{re.escape(key)} *=", text, re.MULTILINE)
        return FileError(name, line_at(text, found.start()) if found else 1, what)

    for key in data:
        if key not in WORDS:
            raise wrong(key, f"there is no key `{key}`. Keys: {', '.join(WORDS)}")
    for key, is_word in WORDS.items():
        if key not in data:
            raise wrong(key, f"`{key}` is missing")
        if key != "entities" and not (isinstance(data[key], str) and data[key].strip()):
            raise wrong(key, f"`{key}` must be a text")
        if is_word and not re.fullmatch("[a-z][a-z_]*", data[key]):
            raise wrong(key, f"`{key}` must be one word of small letters")
    if len({data["start"], data["stop"], "answer", "malformed"}) < 4:
        raise wrong("stop", "`start` and `stop` must differ, and be neither answer nor malformed")
    place = text.index(data["question"]) if data["question"] in text else 0
    check_fields(name, text[: place + len(data["question"])], place, ("x", "y", "x_on", "y_on"))
    named = data["entities"] if isinstance(data["entities"], list) else []
    names = [one.get("name") if isinstance(one, dict) else one for one in named]
    if not all(isinstance(one, str) and one.strip() for one in names):
        raise wrong("entities", "an entity must be a text, or a table with `name`, `on` and `off`")
    if len({str(one).casefold() for one in names}) < max(FEWEST, len(names)):
        raise wrong("entities", f"there must be at least {FEWEST} entities, all different")
    return data
