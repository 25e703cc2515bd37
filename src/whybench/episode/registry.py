"""The installed families by name; each is imported when it is first used."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from whybench.episode.declaration import audited, declared, known, nearest
from whybench.episode.instance import PROFILES, Instance

if TYPE_CHECKING:
    from whybench.episode.family import Family, Suite

GROUP = "whybench.families"

NEEDED = {"version", "summary", "suites", "agents", "parameters", "templates", "protocols"}
"""What commands need to know about a family; our own `family.toml` files have all of it."""


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
        data = next(filter(None, map(declared, self._packages(name))), {})
        return data if data.keys() >= NEEDED else _Attributes(self[name])

    def audited(self, name: str) -> Mapping[tuple[str, str], Mapping[str, Any]]:
        """Return the latest audit of a family's version by suite and profile, without an import."""
        version = self.declared(name)["version"]
        found = (audited(package, version) for package in self._packages(name))
        return next(filter(None, found), {})

    def _packages(self, name: str) -> tuple[str, str]:
        """Return the package of a family: its module, or the one in which its module is."""
        module = self._points[name].module
        return module, module.rpartition(".")[0]


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
def installed_families() -> Families:
    """Return the installed families (entry point group `whybench.families`).

    Examples:
        >>> "causallink" in installed_families()
        True

    Returns:
        A mapping from name to family. A family is imported when it is first looked up.

    """
    return Families()


families = installed_families
"""A shorter name for use within the package."""


def split_path(path: str) -> tuple[str, str]:
    """Return the family and the suite of `family/suite`; raise ValueError for unknown names.

    A family alone means the first suite that it recommends.

    >>> split_path("causallink")
    ('causallink', 'advanced')
    >>> split_path("causalink/core")
    Traceback (most recent call last):
    ValueError: no suite 'causalink/core': try causallink/core (all: `whybench list`)
    """
    name, _, suite = path.partition("/")
    if name in families():
        data = families().declared(name)
        if path == name:
            return name, next(iter(data.get("recommended") or data["suites"]))
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
    """Load a suite. Unknown names are rejected before the family is imported.

    Examples:
        >>> import whybench as wb
        >>> suite = wb.load_suite("causallink/advanced", parameters={"budget": 4})
        >>> len(suite), suite[0].suite
        (1200, 'advanced')

    Args:
        path: The family and the suite, as `family/suite`. A family alone means the first suite that
            it recommends.
        profile: The rules: `certified` or `published`.
        seed: The suite seed.
        parameters: Parameter name → value. Parameters that are not given have their defaults.

    Returns:
        The suite. Its instances are built when they are looked up.

    Raises:
        ValueError: A name is unknown, or a value is out of range. The message names the nearest.

    """
    name, suite = split_path(path)
    data = families().declared(name)
    known("profile", profile, data.get("profiles", PROFILES), name)
    for parameter in parameters or ():
        known("parameter", parameter, data["parameters"], name)
    return families()[name].suite(suite, profile=profile, seed=seed, parameters=parameters)


_ID = re.compile(r"([a-z0-9_]+/[a-z0-9_]+)-(?:([0-9]{1,12})\.)?([0-9]{4,9})-([0-9a-f]{12})")


def find_instance(
    name: str,
    *,
    profile: str = "certified",
    seed: str = "public",
    parameters: Mapping[str, Any] | None = None,
) -> Instance:
    """Return the instance with an id.

    Examples:
        >>> instance = load_suite("causallink/core")[3]
        >>> find_instance(f"causallink/{instance.id}") == instance
        True

    Args:
        name: The family and the id, as `family/ID`.
        profile: The rules: `certified` or `published`.
        seed: The suite seed.
        parameters: Parameter name → value.

    Returns:
        The instance.

    Raises:
        ValueError: There is no such instance under this profile, seed and parameters.

    """
    found = _ID.fullmatch(name)
    if found is None:
        raise ValueError("an instance is named like family/suite-0003-0123456789ab")
    path, block, index, _ = found.groups()
    suite = load_suite(path, profile=profile, seed=seed, parameters=parameters)
    row = int(block or 0) * len(suite) + int(index)
    if int(index) >= len(suite):
        raise ValueError(f"{suite.path} has instances 0 … {len(suite) - 1}, not {int(index)}")
    instance = suite.row(row)
    if instance.id != name.partition("/")[2]:
        raise ValueError(
            f"{suite.path} has no instance of this id: was it made under another seed?"
        )
    return instance
