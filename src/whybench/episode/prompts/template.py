"""A template: one wording of a family's prompts, kept in a Markdown file."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from string import Template

_HEADING = re.compile(r"^## +([a-z_]+) *$", re.MULTILINE)
_EXTENDS = re.compile(r"^extends: *([a-z_]+) *$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class PromptTemplate:
    """Named passages of text with `$placeholders`.

    Examples:
        >>> PromptTemplate("tiny", {"greeting": "Hello $who."}).say("greeting", who="world")
        'Hello world.'

    """

    name: str
    """The name."""
    passages: Mapping[str, str]
    """Name of a passage → its text."""

    def say(self, passage: str, /, **words: object) -> str:
        """Return a passage with its placeholders filled.

        Args:
            passage: The name of the passage.
            **words: Placeholder → value.

        Returns:
            The text.

        Raises:
            KeyError: There is no such passage, or a placeholder has no value.

        """
        try:
            parts, places = _taken_apart(self.passages[passage])
            filled = list(parts)
            for place, name in places:
                filled[place] = str(words[name])
        except KeyError as error:
            known = ", ".join(f"${word}" for word in words) or "none"
            raise KeyError(
                f"template {self.name!r}, passage {passage!r}: {error} is missing. Placeholders "
                f"that can be used: {known}. Passages: {', '.join(self.passages)}."
            ) from error
        return "".join(filled)


class Words:
    """The texts of an episode in one template: passages, filled with the words of the instance."""

    def __init__(self, template: PromptTemplate) -> None:
        self._template = template
        self._named = self._words()

    def _words(self) -> Mapping[str, object]:
        """Return placeholder → value for all passages; a family writes this."""
        return {}

    def say(self, passage: str, **more: object) -> str:
        """Return a passage with everything filled in."""
        return self._template.say(passage, **{**self._named, **more})


@lru_cache(maxsize=1024)
def _taken_apart(text: str) -> tuple[tuple[str, ...], tuple[tuple[int, str], ...]]:
    """Return a template's pieces, with the names that belong at some places (see `Template`)."""
    parts: list[str] = []
    places: list[tuple[int, str]] = []
    end = 0
    for found in Template.pattern.finditer(text):
        if found["invalid"] is not None:
            raise ValueError(f"a `$` without a name in {text[found.start() :][:40]!r}: write $$")
        name = found["named"] or found["braced"]
        if name:
            places.append((len(parts) + 1, name))
        parts += [text[end : found.start()], "" if name else "$"]
        end = found.end()
    return (*parts, text[end:]), tuple(places)


def read_template(name: str, load: Callable[[str], str]) -> PromptTemplate:
    """Parse a template file: `## passage` headings, and `extends: other` to start from another.

    `load` returns the text of a template file by name. Text before the first heading is a note to
    readers and never shown.
    """
    text = load(name)
    parts = _HEADING.split(text)
    base = _EXTENDS.search(parts[0])
    passages = dict(read_template(base[1], load).passages) if base else {}
    passages |= {key: body.strip() for key, body in zip(parts[1::2], parts[2::2], strict=True)}
    return PromptTemplate(name, passages)


def load_templates(package: str) -> Callable[[str], PromptTemplate]:
    """Return a function that loads the templates of a package.

    Examples:
        >>> find = load_templates("whybench.families.causallink.prompts")
        >>> find("plain").name
        'plain'

    Args:
        package: The package that has the folder `templates`.

    Returns:
        A function from the name of a template to the template.

    Raises:
        ValueError: The returned function was called with an unknown name.

    """
    folder = files(package) / "templates"

    @cache
    def template_named(name: str) -> PromptTemplate:
        names = sorted(file.name.removesuffix(".md") for file in folder.iterdir())
        if name not in names:
            raise ValueError(f"no template {name!r}: try {', '.join(names)}")
        return read_template(name, lambda file: (folder / f"{file}.md").read_text("utf-8"))

    return template_named


def paragraphs(*parts: str) -> str:
    """Join the parts that are not empty."""
    return "\n\n".join(part for part in parts if part)
