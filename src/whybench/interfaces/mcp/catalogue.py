"""The episodes of a server: the operator chooses suites, profile and seed, the client an index."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from whybench.episode.declaration import profiles_of
from whybench.episode.family import PUBLIC_SEED, Family
from whybench.episode.instance import PROFILES, Instance
from whybench.episode.registry import families, find_instance, load_suite
from whybench.interfaces.mcp.refusal import Refused
from whybench.interfaces.sampling import Choice

_NUMBER = re.compile(r"[0-9]{1,9}", re.ASCII)
_NAME = re.compile(r"([a-z0-9_]+/[a-z0-9_]+)-(?:[0-9]{1,12}\.)?[0-9]{4,9}-[0-9a-f]{12}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Order:
    """The request of a client: a suite and an index, or an instance by its id."""

    suite: str = ""
    index: int = 0
    instance: str = ""
    template: str | None = None

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> Order | None:
        """Read the arguments of a URL or of a call. Return None if they select no episode."""
        texts = {name: given.get(name) for name in ("suite", "instance", "template")}
        if any(not isinstance(value, str | None) for value in texts.values()):
            raise Refused("`suite`, `instance` and `template` are texts")
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
            texts["suite"] or "", int(number), texts["instance"] or "", texts["template"] or None
        )


@dataclass(frozen=True, slots=True)
class Offer:
    """The suites, the profile and the seed that the operator offers."""

    suites: tuple[str, ...] = ()
    """Names `family/suite` or `family`. An empty tuple means all."""
    profile: str = "certified"
    seed: str = PUBLIC_SEED
    where: str | None = None
    """A filter on difficulty. An index counts only the instances that pass."""

    def __post_init__(self) -> None:
        """Reject names that do not exist when the server starts."""
        for name in self.suites:
            if name not in _declared() and name not in families():
                raise ValueError(f"Unknown suite or family {name!r}. See `whybench list`.")
        if not self.paths:
            raise ValueError(
                f"No suite has the profile {self.profile!r}. Use {', '.join(PROFILES)}."
            )
        for path in self.paths:
            Choice.of(load_suite(path, profile=self.profile, seed=self.seed), where=self.where)

    @property
    def paths(self) -> list[str]:
        """The suites that are offered."""
        wanted = self.suites
        return [
            path
            for path, (family, profiles) in _declared().items()
            if self.profile in profiles and (not wanted or family in wanted or path in wanted)
        ]

    def holds(self, coordinates: Mapping[str, Any]) -> bool:
        """Return whether the stored coordinates of an instance belong to this offer."""
        place = f"{coordinates.get('family')}/{coordinates.get('suite')}"
        drawn = (coordinates.get("profile"), coordinates.get("seed"))
        return place in self.paths and drawn == (self.profile, self.seed)

    def instance(self, order: Order) -> tuple[Instance, str]:
        """Return the requested instance and template, or raise Refused."""
        path = order.suite
        if order.instance:
            named = _NAME.fullmatch(order.instance)
            if named is None:
                raise Refused("an instance is named like family/suite-0003-0123456789ab")
            path = named[1]
        if path not in self.paths:
            raise Refused(f"no such suite here: try {', '.join(self.paths)}")
        suite = load_suite(path, profile=self.profile, seed=self.seed)
        template = _template(suite.family, self.profile, order.template)
        choice = Choice.of(suite, where=self.where)
        if not order.instance:
            found = choice.find(order.index)
            if found is None:
                raise Refused(f"{path} ends before instance {order.index}: begin at 0")
            return found, template
        try:
            asked = find_instance(order.instance, profile=self.profile, seed=self.seed)
            choice.check(asked)
        except ValueError:
            raise Refused(f"{path} has no instance of this name here") from None
        return asked, template


def _template(family: Family[Any], profile: str, template: str | None) -> str:
    if template is not None and template not in family.templates:
        raise Refused(f"no such template: try {', '.join(family.templates)}")
    return family.template_for(profile, template)


@cache
def _declared() -> Mapping[str, tuple[str, tuple[str, ...]]]:
    """Return the family and the profiles of every suite without importing a family."""
    return {
        f"{name}/{suite}": (name, profiles_of(families().declared(name), suite))
        for name in families()
        for suite in families().declared(name)["suites"]
    }
