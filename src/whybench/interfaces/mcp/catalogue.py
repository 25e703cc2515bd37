"""Which episodes a server gives out: the operator chooses the world, the client the place in it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from whybench.episode.family import PUBLIC_SALT, Family
from whybench.episode.instance import PROFILES, Instance
from whybench.episode.naming import named
from whybench.episode.registry import families, find_suite
from whybench.interfaces.mcp.refusal import Refused

_NUMBER = re.compile(r"[0-9]{1,9}", re.ASCII)
_NAME = re.compile(r"([a-z0-9_]+/[a-z0-9_]+)-(?:[0-9]{1,12}\.)?[0-9]{4,9}-[0-9a-f]{12}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Order:
    """What a client asks for: a suite and an index, or an instance by its name."""

    suite: str = ""
    index: int = 0
    instance: str = ""
    skin: str | None = None

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> Order | None:
        """Read the words of a URL or of a call; None if they ask for no episode."""
        texts = {name: given.get(name) for name in ("suite", "instance", "skin")}
        if any(not isinstance(value, str | None) for value in texts.values()):
            raise Refused("`suite`, `instance` and `skin` are texts")
        index = given.get("index", 0)
        if isinstance(index, float) and index.is_integer():
            index = int(index)  # JSON knows one kind of number
        number = str(index) if isinstance(index, str | int) and index is not True else ""
        if not _NUMBER.fullmatch(number):
            raise Refused("`index` is a number from 0 on")
        if not texts["suite"] and not texts["instance"]:
            return None
        if texts["suite"] and texts["instance"]:
            raise Refused("give `suite` and `index`, or `instance`, not both")
        return cls(
            texts["suite"] or "", int(number), texts["instance"] or "", texts["skin"] or None
        )


@dataclass(frozen=True, slots=True)
class Offer:
    """What the operator gives out."""

    suites: tuple[str, ...] = ()
    """`family/suite` or a whole `family`; none: all."""
    profile: str = "certified"
    salt: str = PUBLIC_SALT

    def __post_init__(self) -> None:
        """Refuse what could never be given, before anybody asks for it."""
        for name in self.suites:
            if name not in _declared() and name not in families():
                raise ValueError(f"no suite or family {name!r}: see `whybench list`")
        if not self.paths:
            raise ValueError(
                f"no suite has the profile {self.profile!r}: try {', '.join(PROFILES)}"
            )
        for path in self.paths:
            find_suite(path, profile=self.profile, salt=self.salt)

    @property
    def paths(self) -> list[str]:
        """The suites that can be had."""
        wanted = self.suites
        return [
            path
            for path, (family, profiles) in _declared().items()
            if self.profile in profiles and (not wanted or family in wanted or path in wanted)
        ]

    def holds(self, coordinates: Mapping[str, Any]) -> bool:
        """Whether the stored coordinates of an instance are among what is given out."""
        place = f"{coordinates.get('family')}/{coordinates.get('suite')}"
        drawn = (coordinates.get("profile"), coordinates.get("salt"))
        return place in self.paths and drawn == (self.profile, self.salt)

    def instance(self, order: Order) -> tuple[Instance, str]:
        """Return the instance and the skin that are asked for, or refuse."""
        path = order.suite
        if order.instance:
            found = _NAME.fullmatch(order.instance)
            if found is None:
                raise Refused("an instance is named like family/suite-0003-0123456789ab")
            path = found[1]
        if path not in self.paths:
            raise Refused(f"no such suite here: try {', '.join(self.paths)}")
        suite = find_suite(path, profile=self.profile, salt=self.salt)
        skin = _skin(suite.family, order.skin)
        if not order.instance:
            if order.index >= len(suite):
                raise Refused(f"{path} has instances 0 … {len(suite) - 1}")
            return suite[order.index], skin
        try:
            return named(order.instance, profile=self.profile, salt=self.salt), skin
        except ValueError:
            raise Refused(f"{path} has no instance of this name here") from None


def _skin(family: Family[Any], skin: str | None) -> str:
    if skin is not None and skin not in family.skins:
        raise Refused(f"no such skin: try {', '.join(family.skins)}")
    return skin or family.skins[0]


@cache
def _declared() -> Mapping[str, tuple[str, tuple[str, ...]]]:
    """Return every suite's family and profiles, without importing a family."""
    return {
        f"{name}/{suite}": (name, families().declared(name).get("profiles", PROFILES))
        for name in families()
        for suite in families().declared(name)["suites"]
    }
