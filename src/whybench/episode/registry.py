"""The installed families by name, each imported when it is first asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from whybench.episode.declaration import declared
from whybench.episode.instance import PROFILES
from whybench.episode.nearest import known, nearest

if TYPE_CHECKING:
    from whybench.episode.family import Family, Suite

GROUP = "whybench.families"

NEEDED = {"version", "summary", "suites", "agents", "parameters", "templates", "protocols"}
"""What commands need to know of a family; `family.toml` of a family of ours has it all."""


class Families(Mapping[str, "Family[Any]"]):
    """Family by name; iterating gives names and imports nothing."""

    def __init__(self) -> None:
        points = sorted(entry_points(group=GROUP), key=lambda point: point.name)
        self._points = {point.name: point for point in points}
        self._loaded: dict[str, Family[Any]] = {}

    def __getitem__(self, name: str) -> Family[Any]:
        if name not in self._loaded:
            self._loaded[name] = self._points[name].load()
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._points)

    def __len__(self) -> int:
        return len(self._points)

    def __contains__(self, name: object) -> bool:
        return name in self._points

    def declared(self, name: str) -> Mapping[str, Any]:
        """Return what a family declares as data; without all of it, the family is imported."""
        module = self._points[name].module
        data = declared(module) or declared(module.rpartition(".")[0])
        return data if data.keys() >= NEEDED else _Attributes(self[name])


class _Attributes(Mapping[str, Any]):
    """The attributes of a family in the place of the file that it does not have."""

    def __init__(self, family: Family[Any]) -> None:
        self._family = family

    def __getitem__(self, name: str) -> Any:
        try:
            return getattr(self._family, name)
        except AttributeError as error:
            raise KeyError(name) from error

    def __iter__(self) -> Iterator[str]:
        return (name for name in dir(self._family) if not name.startswith("_"))

    def __len__(self) -> int:
        return sum(1 for _ in self)


@cache
def families() -> Families:
    """Return all installed families, by name (entry point group `whybench.families`)."""
    return Families()


installed_families = families
"""The public name of `families`: `whybench.families` is a folder."""


def split_path(path: str) -> tuple[str, str]:
    """Return the family and the suite of `family/suite`; refuse what is not there.

    >>> split_path("causalink/core")
    Traceback (most recent call last):
    ValueError: no suite 'causalink/core': try causallink/core (all: `whybench list`)
    """
    name, _, suite = path.partition("/")
    if name in families():
        data = families().declared(name)
        if suite in data["suites"]:
            return name, suite
        near = nearest(suite, data["suites"]) or data.get("recommended") or data["suites"]
        tried = [f"{name}/{one}" for one in near]
    else:
        every = {f: families().declared(f) for f in families()}
        paths = {f"{f}/{one}": one for f, data in every.items() for one in data["suites"]}
        asked = suite or name
        alike = [asked] if asked in paths.values() else nearest(asked, paths.values())
        tried = [one for short in alike for one in paths if paths[one] == short][:3]
        tried = tried or [f"{f}/{next(iter(data['suites']))}" for f, data in every.items()]
    raise ValueError(f"no suite {path!r}: try {', '.join(tried)} (all: `whybench list`)")


def load_suite(
    path: str,
    *,
    profile: str = "certified",
    seed: str = "public",
    parameters: Mapping[str, Any] | None = None,
) -> Suite:
    """Return the suite at `family/suite`; misspelt names are refused before it is imported."""
    name, suite = split_path(path)
    data = families().declared(name)
    known("profile", profile, data.get("profiles", PROFILES), name)
    for parameter in parameters or ():
        known("parameter", parameter, data["parameters"], name)
    return families()[name].suite(suite, profile=profile, seed=seed, parameters=parameters)
