"""What a family declares: its data, its model of parameters, and its optional capabilities."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from importlib.metadata import EntryPoint
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any

from whybench.episode.instance import PROFILES, Profile
from whybench.episode.prompts.own_files import is_file, with_hash
from whybench.episode.prompts.template import load_templates
from whybench.episode.score import Metric
from whybench.episode.trace import Evidence


@cache
def declared(package: str) -> Mapping[str, Any]:
    """Return what `family.toml` in a family's package declares; empty if there is no such file.

    >>> declared("whybench.families.causallink")["recommended"]
    ('advanced', 'large')
    """
    import tomllib

    found = tomllib.loads(_beside(package, "family.toml"))
    return MappingProxyType({k: tuple(v) if isinstance(v, list) else v for k, v in found.items()})


def audited(package: str, version: str) -> dict[tuple[str, str], Mapping[str, Any]]:
    """Return the latest audit of a family, by suite and profile.

    `scripts/audit_all` writes it to `audit.json` in the family's package. An audit of another
    version does not count, because scores are comparable only within one.
    """
    found = json.loads(_beside(package, "audit.json") or "[]")
    return {
        (one["suite"].partition("/")[2], one["profile"]): one
        for one in found
        if one["version"] == version
    }


def _beside(package: str, name: str) -> str:
    """Return the text of a file in a package; empty if there is none."""
    try:
        spec = find_spec(package) if package else None
    except (ImportError, ValueError):
        spec = None
    file = Path(spec.origin).parent / name if spec and spec.origin else None
    return file.read_text("utf-8") if file is not None and file.is_file() else ""


def profiles_of(data: Mapping[str, Any], suite: str) -> tuple[Profile, ...]:
    """Return the profiles in which a suite of a declared family exists.

    >>> profiles_of({"only": {"published": ["old"]}}, "old"), profiles_of({}, "new")
    (('published',), ('certified', 'published'))
    """
    only = data.get("only", {})
    every: tuple[Profile, ...] = data.get("profiles", PROFILES)
    return tuple(one for one in every if suite in only.get(one, ())) or every


class Declaration:
    """The data of a family; most of it is in `family.toml` beside the family's module."""

    name: str
    version: str
    """Comparability version: scores are comparable only within one."""
    summary: str
    hint: str = ""
    """A few words for the head of a column: what the family asks for."""
    suites: Mapping[str, str]
    """Suite → what it holds."""
    profiles: tuple[Profile, ...] = PROFILES
    only: Mapping[str, Sequence[str]] = {}
    """Profile → suites that exist in it alone; other suites exist in all profiles."""
    templates: tuple[str, ...]
    default_template: Mapping[str, str] = {}
    """Profile → its default template; for other profiles it is the first of `templates`."""
    protocols: tuple[str, ...]
    evidence: tuple[Evidence, ...] = ("own", "optimal", "yoked")
    """What agents may work from. A family whose problems hold a record of experiments may also
    declare `given` and `fetched`."""
    agents: Mapping[str, str]
    """Reference agent → what it does."""
    metrics: tuple[Metric, ...]
    headline: str
    """The headline metric, for which floor and ceiling are stated."""
    floor_ceiling: Mapping[str, float]
    ceilings: Mapping[str, Mapping[str, float]] = {}
    """Suite → agent → the figure for this suite, in place of that in `floor_ceiling`."""
    """Guesser → the upper limit of its headline metric on every suite."""
    parameters: Mapping[str, str]
    """Parameter → what it changes."""
    understanding: Mapping[str, Any] = {}
    """What makes a success lucky. `success` names the metric of success. A success is lucky if the
    metric `lucky` is 1, or if the metric `lacks` is less than `below`. `meaning` is a text for
    reports. If the mapping is empty, `understood` is not defined."""
    size_covariate: str = "n"
    """The covariate that holds the number of variables of the hidden system."""
    recommended: tuple[str, ...] = ()
    """The suites to begin with."""
    excluded: Collection[str] = ()
    """Outcomes that every average leaves out; they are counted by name."""
    final_action: str = "answer"
    """The name of the action that ends an episode; see `submission` for its arguments."""
    extras: Mapping[str, str] = {}
    """Capability (`checker`, `annotated`, `report`, …) → `module` or `module:attribute`."""

    audit: Mapping[str, Any] = {}
    """The limits of an audit: what guessers may reach, and what the exact agent must reach. Without
    limits, a family cannot be audited."""

    parameter_model: type[Any]
    """The pydantic model of the suites' parameters."""

    prompts: type[Any]
    """The family's `Conversation`: called with an episode and the name of a template."""

    def capability(self, name: str) -> Any | None:
        """Load what the family declares under a capability; None if it declares nothing."""
        place = self.extras.get(name)
        return None if place is None else EntryPoint(name, place, "").load()

    def profiles_of(self, suite: str) -> tuple[Profile, ...]:
        """Return the profiles in which a suite exists."""
        return profiles_of({"profiles": self.profiles, "only": self.only}, suite)

    def template_for(self, profile: str, asked: str | None = None) -> str:
        """Return the template that was asked for, or the default of a profile.

        Args:
            profile: The rules.
            asked: The name of a template, or the path of a user's file. None: the default.

        Returns:
            The name of the template. That of a file ends in the hash of its content.

        Raises:
            ValueError: There is no such template; the message lists the nearest names. Or the file
                is no template of this family; the message says which line is wrong.

        """
        if asked is not None and is_file(asked):
            package = f"{type(self).__module__.rpartition('.')[0]}.prompts"
            name = with_hash(asked)
            load_templates(package)(name)
            return name
        default = self.default_template.get(profile, self.templates[0])
        return known("template", default if asked is None else asked, self.templates, self.name)

    def understood(self, values: Mapping[str, float | None]) -> float | None:
        """Return 1 if the episode succeeded and was not lucky, else 0; None if it is unscored.

        A success does not count as understood if it is unknown whether it was lucky.
        """
        rule = self.understanding
        success = values.get(rule["success"]) if rule else None
        if success is None:
            return None
        shown = values.get(rule.get("lucky") or rule["lacks"])
        if success != 1 or shown is None:
            return 0.0
        return float(shown != 1 if "lucky" in rule else shown >= rule["below"])

    def audited(self, suite: str, profile: str = "certified") -> Mapping[str, Any] | None:
        """Return what the latest audit of this version says of a suite; None without one.

        The keys are those of `whybench audit --json`, without the list of guessers.
        """
        return audited(type(self).__module__.rpartition(".")[0], self.version).get((suite, profile))

    def card(self) -> str:
        """Return `card.md` beside the family: what it measures, its paper, known defects."""
        folder = files(type(self).__module__.rpartition(".")[0])
        return (folder / "card.md").read_text("utf-8")


def nearest(given: str, names: Iterable[str]) -> list[str]:
    """Return at most three names that resemble a given one, nearest first.

    >>> nearest("exakt", ["null", "random", "exact"])
    ['exact']
    """
    from difflib import get_close_matches

    return get_close_matches(given, list(names), 3)


def known(what: str, given: str, names: Iterable[str], of: str = "") -> str:
    """Return a name if it is known; otherwise raise ValueError with the nearest names, or all.

    >>> known("agent", "exakt", ["null", "exact"], "causallink")
    Traceback (most recent call last):
    ValueError: causallink has no agent 'exakt': try exact
    """
    there = list(names)
    if given in there:
        return given
    tried = ", ".join(nearest(given, there) or there) or "none"
    raise ValueError(f"{of} has no {what} {given!r}: try {tried}".removeprefix(" has "))


def in_one_line(error: ValueError) -> str:
    """Return the errors of a parameter check: name and message of each of pydantic's errors."""
    found = getattr(error, "errors", None)
    if not callable(found):
        return str(error)
    return "; ".join(
        f"parameter {'.'.join(map(str, one['loc']))}: {one['msg'].removeprefix('Value error, ')}"
        for one in found()
    )
