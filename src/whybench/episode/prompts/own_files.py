"""A user's own file of words: a prompt template or a theme, named by its path and its hash.

The name `mine.md@0123456789ab` stands for the file `mine.md` with this content. It goes into logs
and reports, so that they say which words were used.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from string import Template

_NAME = re.compile(r"(.+\.(?:md|toml))(?:@([0-9a-f]{12}))?")
_HEADING = re.compile(r"^## +(.*?) *$", re.MULTILINE)
_EXTENDS = re.compile(r"^extends: *(.*?) *$", re.MULTILINE)


class FileError(ValueError):
    """A file cannot be used; the message says which line is wrong."""

    def __init__(self, name: str, line: int, what: str) -> None:
        super().__init__(f"{Path(path_of(name)).name}, line {line}: {what}")


def is_file(name: str) -> bool:
    """Return whether a name is that of a file.

    >>> is_file("plain"), is_file("mine.md"), is_file("words/mine.md@0123456789ab")
    (False, True, True)
    """
    return _NAME.fullmatch(name) is not None


def path_of(name: str) -> str:
    """Return the path of a file, without the hash."""
    found = _NAME.fullmatch(name)
    return found[1] if found else name


def with_hash(name: str) -> str:
    """Return the name of a file with the hash of its content."""
    return f"{path_of(name)}@{sha256(content(name).encode()).hexdigest()[:12]}"


def content(name: str) -> str:
    """Return the text of a file.

    Raises:
        ValueError: The file cannot be read, or its content has another hash than its name.

    """
    path = path_of(name)
    try:
        text = Path(path).read_text("utf-8")
    except (OSError, ValueError) as error:
        raise ValueError(f"cannot read {path}: {getattr(error, 'strerror', error)}") from error
    found = sha256(text.encode()).hexdigest()[:12]
    if name not in (path, f"{path}@{found}"):
        raise ValueError(f"{path} has changed: its hash is {found}, not {name[-12:]}")
    return text


def line_at(text: str, place: int) -> int:
    """Return the number of the line of a place in a text."""
    return text.count("\n", 0, place) + 1


def check_fields(name: str, text: str, start: int, fields: Iterable[str]) -> None:
    """Check that a part of a file, which starts at a place, uses only these placeholders."""
    known = sorted(set(fields))
    for found in Template.pattern.finditer(text, start):
        line = line_at(text, found.start())
        if found["invalid"] is not None:
            raise FileError(name, line, "a `$` without a name: write $$")
        field = found["named"] or found["braced"]
        if field and field not in known:
            use = ", ".join(f"${one}" for one in known) or "none here"
            raise FileError(name, line, f"there is no field ${field}. Fields: {use}")


def check_template(
    name: str,
    known: Mapping[str, Iterable[str]],
    needed: Callable[[str], Sequence[str]],
    bases: Sequence[str],
) -> str:
    """Check a template file, and return its text.

    Args:
        name: The file.
        known: Passage → the placeholders that it can use.
        needed: The passages that a file on top of another template must have; "" is none.
        bases: The templates that it can extend.

    Raises:
        FileError: A passage, a placeholder or the template to extend does not exist.

    """
    text = content(name)
    headings = list(_HEADING.finditer(text))
    ends = [*(heading.start() for heading in headings[1:]), len(text)]
    seen: set[str] = set()
    for heading, end in zip(headings, ends, strict=False):
        passage, line = heading[1], line_at(text, heading.start())
        if passage not in known:
            raise FileError(name, line, f"no passage {passage!r}. Passages: {', '.join(known)}")
        if passage in seen:
            raise FileError(name, line, f"passage {passage!r} is there twice")
        seen.add(passage)
        check_fields(name, text[:end], heading.end(), known[passage])
    base = _EXTENDS.search(text, 0, headings[0].start() if headings else len(text))
    if base and base[1] not in bases:
        line = line_at(text, base.start())
        raise FileError(name, line, f"no template {base[1]!r} to extend: try {', '.join(bases)}")
    missing = [one for one in needed(base[1] if base else "") if one not in seen]
    if missing:
        begin = f"begin with `extends: NAME`, with one of {', '.join(bases)}"
        raise FileError(name, 1, f"passage {missing[0]!r} is missing: write it, or {begin}")
    return text
