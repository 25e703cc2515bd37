"""Write and read result files. A file may come from anyone, so reading trusts nothing in it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator, ValidationError

from whybench.causal.whole_files import write_whole
from whybench.report.results.model import Result, contradictions, schema

LIMIT = 1_000_000
"""Largest file that is read, in bytes."""

LONGEST = 80
"""Characters of a foreign text that a message shows."""


def dumped(data: object) -> str:
    """Return data as the text of a file: the same text for the same data."""
    return json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def slug(name: str) -> str:
    """Return a name for a file or an anchor.

    >>> slug("lab/One 2 · protocol=json"), slug("../..")
    ('lab-one-2-protocol-json', 'system')
    """
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:80].strip("-") or "system"


def slugs(results: Sequence[Result]) -> list[str]:
    """Return a different name for each result, in order."""
    found: list[str] = []
    for result in results:
        stem = slug("-".join([result.system.name, result.release, result.set]))
        again = sum(one == stem or re.fullmatch(rf"{stem}-\d+", one) is not None for one in found)
        found.append(f"{stem}-{again + 1}" if again else stem)
    return found


def write_results(results: Sequence[Result], folder: Path) -> list[Path]:
    """Write a file for each result. A result that does not fit the schema is an error."""
    folder.mkdir(parents=True, exist_ok=True)
    made = [folder / f"{stem}.json" for stem in slugs(results)]
    for path, result in zip(made, results, strict=True):
        data = result.to_json()
        _check(data, path.name)
        write_whole(path, dumped(data))
    return made


def read_results(folder: Path) -> dict[str, Result]:
    """Read all `.json` files of a folder, by file name.

    Raises:
        ValueError: If a file is not a valid result, or if two files hold the same system. The
            message has a line for each such file.

    """
    if not folder.is_dir():
        raise ValueError(f"There is no folder {folder}.")
    found: dict[str, Result] = {}
    wrong: list[str] = []
    for path in sorted(folder.glob("*.json")):
        try:
            found[path.name] = read_result(path)
        except ValueError as error:
            wrong.append(str(error))
    wrong += _twice(found)
    if wrong:
        raise ValueError("\n".join(wrong))
    if not found:
        raise ValueError(f"Found no result files in {folder}. Write some with `whybench results`.")
    return found


def read_result(path: Path) -> Result:
    """Read one file, or raise ValueError with one line that names the file and the field."""
    with path.open("rb") as file:
        raw = file.read(LIMIT + 1)
    if len(raw) > LIMIT:
        raise _refused(path.name, "file", f"is larger than {LIMIT:,} bytes")
    try:
        return _check(_parsed(raw, path.name), path.name)
    except RecursionError:
        raise _refused(path.name, "file", "is nested too deeply") from None


def _parsed(raw: bytes, file: str) -> Any:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            raise _refused(file, twice, "is given twice")
        return found

    def constant(name: str) -> Any:
        raise _refused(file, "file", f"contains {name}, which is not a number")

    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise _refused(file, "file", "is not UTF-8 text") from None
    try:
        return json.loads(text, object_pairs_hook=unique, parse_constant=constant)
    except json.JSONDecodeError as error:
        raise _refused(file, f"line {error.lineno}", "is not JSON") from None
    except ValueError as error:
        if type(error) is InvalidResultError:
            raise
        raise _refused(file, "file", "has a number with too many digits") from None


def _check(data: Any, file: str) -> Result:
    """Return the result, if the data fit the schema and do not contradict themselves."""
    for field, what in _flaws(data):
        raise _refused(file, field, what)
    return Result.from_json(data)


def _flaws(data: Any) -> Iterator[tuple[str, str]]:
    """Yield fields that are wrong, with the reason. Later checks rely on earlier ones."""
    error = next(_validator().iter_errors(data), None)
    if error is not None:
        yield _field(error), _reason(error)
        return
    for place, text in _texts(data):
        if not text.isprintable():
            yield place, "has characters that are not allowed"
            return
    yield from contradictions(Result.from_json(data))


@cache
def _validator() -> Draft202012Validator:
    return Draft202012Validator(schema())


def _field(error: ValidationError) -> str:
    return ".".join(str(part) for part in error.absolute_path) or "file"


def _reason(error: ValidationError) -> str:
    """Return what is wrong, without quoting more of the file than a name."""
    kind, wanted, given = str(error.validator), error.validator_value, error.instance
    if kind == "required":
        return f"has no field {next(name for name in wanted if name not in given)}"
    if kind == "additionalProperties":
        known = error.schema.get("properties", {})
        return f"has an unknown field {_short(next(name for name in given if name not in known))}"
    if kind == "type":
        names = [wanted] if isinstance(wanted, str) else wanted
        return f"is not of type {' or '.join(names)}"
    if kind == "const":
        return f"is not {json.dumps(wanted)}"
    if "propertyNames" in error.absolute_schema_path:
        return f"has a name that is not allowed: {_short(given)}"
    if kind == "pattern":
        return "has characters that are not allowed, or the wrong form"
    if kind in ("minimum", "maximum"):
        return f"is {'less' if kind == 'minimum' else 'more'} than {wanted}"
    return f"does not keep {kind} {_short(wanted)}"


def _texts(data: Any, place: str = "") -> Iterator[tuple[str, str]]:
    """Yield every text of some data, names included, with its place."""
    if isinstance(data, str):
        yield place, data
    elif isinstance(data, dict | list):
        for name, value in data.items() if isinstance(data, dict) else enumerate(data):
            yield place or "file", str(name)
            yield from _texts(value, f"{place}.{name}" if place else str(name))


class InvalidResultError(ValueError):
    """A file that is not a valid result."""


def _refused(file: str, field: str, what: str) -> InvalidResultError:
    return InvalidResultError(f"{_short(file)}: {_short(field)}: {what}.")


def _short(value: object) -> str:
    """Return a foreign text so that it fits a line and moves no cursor."""
    text = str(value)
    shown = text if text.isprintable() else ascii(text)
    return shown if len(shown) <= LONGEST else f"{shown[:LONGEST]}…"


def _twice(found: dict[str, Result]) -> Iterable[str]:
    """Yield a line for each file that holds the same system as an earlier one."""
    seen: dict[tuple[str, str, str], str] = {}
    for file, result in found.items():
        first = seen.setdefault(result.key, file)
        if first != file:
            yield str(_refused(file, "system", f"is already in {_short(first)}"))
