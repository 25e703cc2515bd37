"""A template: one wording of a family's prompts, kept in a Markdown file."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from importlib.resources import files
from importlib.resources.abc import Traversable
from string import Template

from whybench.episode.prompts.own_files import check_template, is_file

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
        A function from the name of a template, or the path of a user's file, to the template.

    Raises:
        ValueError: The returned function was called with an unknown name, or with a file that is
            no template of the family. The message says which line is wrong.

    """

    @cache
    def template_named(name: str) -> PromptTemplate:
        if is_file(name):
            return _own_template(name, package)
        names = template_names(package)
        if name not in names:
            raise ValueError(f"no template {name!r}: try {', '.join(names)}")
        return read_template(name, partial(_text, package))

    return template_named


def template_names(package: str) -> tuple[str, ...]:
    """Return the names of the templates of a package."""
    return tuple(sorted(file.name.removesuffix(".md") for file in _folder(package).iterdir()))


def template_fields(package: str) -> dict[str, tuple[str, ...]]:
    """Return the placeholders that each passage of a family's templates can use.

    These are the ones that some template of the family uses in the passage, and those that
    `fields.json` beside the templates lists as filled everywhere.
    """
    everywhere = files(package) / "fields.json"
    usual = json.loads(everywhere.read_text("utf-8")) if everywhere.is_file() else []
    find = load_templates(package)
    fields: dict[str, set[str]] = {}
    for name in template_names(package):
        for passage, text in find(name).passages.items():
            used = {field for _, field in _taken_apart(text)[1]}
            fields.setdefault(passage, set(usual)).update(used)
    return {passage: tuple(sorted(found)) for passage, found in fields.items()}


def _own_template(name: str, package: str) -> PromptTemplate:
    """Read a user's template, on top of the template of the family that it extends."""
    find, names = load_templates(package), template_names(package)

    def needed(base: str) -> list[str]:
        whole = set.intersection(*(set(find(one).passages) for one in names))
        return sorted(whole - set(find(base).passages if base else ()))

    text = check_template(name, template_fields(package), needed, names)
    texts = {name: text}
    return read_template(name, lambda one: texts.get(one) or _text(package, one))


def _folder(package: str) -> Traversable:
    return files(package) / "templates"


def _text(package: str, name: str) -> str:
    return (_folder(package) / f"{name}.md").read_text("utf-8")


def paragraphs(*parts: str) -> str:
    """Join the parts that are not empty."""
    return "\n\n".join(part for part in parts if part)
