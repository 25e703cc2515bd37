"""The field's words: none of the old private words is left in its old sense.

Read are names of files, and code, docstrings, messages, declarations and the report's page as text.
Not read: what agents and judges are told word for word (prompt templates, themes, documents'
vocabulary, judges' prompts) and what papers print.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

WORD_FOR_WORD = (
    "/prompts/templates/",
    "/prompts/themes/",
    "/recite/world/fields/",
    "/recite/world/frames/",
    "/recite/agents/pattern",
    "/judge/",
    "/page/vendor/",
    "/figures_of_papers/",
)
"""Folders whose data files reach agents or judges, or are not ours. Python is read everywhere."""


@dataclass(frozen=True)
class Old:
    """An old word with its old sense."""

    pattern: str
    sense: str
    now: str
    allowed: dict[str, str] = field(default_factory=dict)
    """End of a file's path, a colon and a part of the line → why it may stand there."""


OLD = (
    Old("skins?", "one wording of a family's prompts", "template"),
    Old("doors?", "where something outside meets an episode", "interface"),
    Old(
        "knobs?",
        "a value that changes a suite",
        "parameter",
        {
            'episode/instance.py:"parameters": "knobs"': "ids hash the field under this name",
        },
    ),
    Old(
        "salt(s|ed)?",
        "the string from which a suite is drawn",
        "seed",
        {
            'episode/instance.py:"seed": "salt"': "ids hash the field under this name",
            "causal/suite_seeds.py:whybench salt ": "the name of a secret seed hashes these bytes",
            "causalab/world/released.py:salted hash": "the usual word for Python's hash of texts",
        },
    ),
    Old(
        "fence[sd]?",
        "delimiters around untrusted text",
        "delimiter, quoted",
        {
            "causalgame/prompts/dialogue.py:": "code fences of Markdown",
            "sandbox/episode_programs.py:fenced": "code fences of Markdown",
            "recite/extras/preparing/text/markdown.py:": "code fences of Markdown",
        },
    ),
    Old("pace", "limits of turns", "turn limits"),
    Old("shel(f|ves?)", "a place for templates, episodes or replies", "templates, packed, cache"),
    Old("tellings?", "a module of prompts' words", "wording"),
    Old("hindsight", "what an episode's end is attributed to", "failure attribution"),
    Old("glimpses?", "a sample that is made when it is read", "lazy sample"),
    Old(
        "rivals?",
        "worlds that look alike",
        "look-alikes, alternatives",
        {
            "causalab/proof/certify.py:": "certificates hold the witness under this name",
            "causalab/proof/checker/check.py:": "certificates hold the witness under this name",
        },
    ),
    Old("retell(s|ings?)?|retold", "an episode told beside the truth", "annotated episode"),
    Old(
        "latents?",
        "the unit of independence in statistics",
        "cluster",
        {
            "/families/replayscm/": "the paper's latent SCM",
            "episode/family/family.py:digest(": "ids of clusters hash this word",
            "causalgame/world/physics/weather_state.py:": "an unobserved variable of a scenario",
        },
    ),
    Old(
        "briefs?",
        "what an agent is told before its first action",
        "instructions",
        {
            "interfaces/mcp/session_tools.py:": "names of a tool and a resource, which agents read",
            "interfaces/parity/through_mcp.py:episode_brief": "the name of a tool",
        },
    ),
    Old("traits?|traited", "what a report sorts instances by", "covariate"),
    Old(
        "unlike",
        "in what a run differs from the paper's",
        "setup differences",
        {
            "setup_differences.py: Unlike the paper's runs:": "the preposition",
            "decisions/difference.py:are unlike those seen": "the adjective",
            "stats/spread.py:of unlike size": "the adjective",
        },
    ),
    Old(
        "workshops?",
        "what runs a model's programs",
        "code runner",
        {
            "causalgame/extras/report/section.toml:A drone workshop": "what the game is about",
        },
    ),
    Old(
        "story|stories",
        "exact inference along an episode",
        "timeline, belief graph",
        {
            "families/causalgame/:": "a story is a kind of drawn system: antenna, zone and others",
        },
    ),
    Old(
        "choosing",
        "modules that pick instances",
        "sampling, instance selection",
        {},
    ),
    Old("proved", "right and forced by the evidence", "understood"),
    Old("contradicts_evidence", "wrong against the evidence", "contradicted"),
    Old(
        "hollow(ly)?",
        "a success without understanding",
        "lucky",
        {
            "report/charts.py:": "markers that are not filled",
            "/extras/report/:Hollow grey": "markers that are not filled",
            "causalgame/extras/report/survival.py:hollow": "markers that are not filled",
        },
    ),
    Old("find_suite", "load a suite by its path", "load_suite"),
)


def words(text: str) -> str:
    """Return a text with the words of its identifiers apart."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text)
    return apart.replace("_", " ").lower()


def uses(line: str, old: Old) -> bool:
    """Tell whether a line of text or code has the word, alone or within an identifier."""
    text = line.lower() if "_" in old.pattern else words(line)
    return re.search(rf"\b(?:{old.pattern})\b", text) is not None


def is_read(path: Path) -> bool:
    at = path.as_posix()
    if path.suffix == ".py":
        return True
    told = path.suffix == ".toml" or "/report/page/web/" in at
    return told and not any(folder in at for folder in WORD_FOR_WORD)


ANY = re.compile("|".join(old.pattern.lower() for old in OLD))
PLACES = [*ROOT.glob("src/whybench"), *ROOT.glob("packages/*/src")]


@cache
def suspects() -> dict[str, list[str]]:
    """Return, for each file, the lines that contain the letters of some old word."""
    files = sorted(path for place in PLACES for path in place.rglob("*.*") if is_read(path))
    return {
        path.relative_to(ROOT).as_posix(): [
            line for line in path.read_text("utf-8").splitlines() if ANY.search(line.lower())
        ]
        for path in files
    }


def is_allowed(path: str, line: str, old: Old) -> bool:
    places = (place.partition(":") for place in old.allowed)
    return any(end in path and part in line for end, _, part in places)


@pytest.mark.parametrize("old", OLD, ids=lambda old: old.now)
def test_no_old_word_is_left_in_its_old_sense(old: Old) -> None:
    assert len(suspects()) > 500
    left = [
        f"{path}: {line.strip()}"
        for path, told in suspects().items()
        for line in told
        if uses(line, old) and not is_allowed(path, line, old)
    ]
    left += [path for path in suspects() if uses(path, old) and not is_allowed(path, "", old)]
    assert not left, f"{old.sense}: say {old.now}\n" + "\n".join(left)


@pytest.mark.parametrize("old", OLD, ids=lambda old: old.now)
def test_every_exception_is_still_needed(old: Old) -> None:
    for place in old.allowed:
        end, _, part = place.partition(":")
        held = [line for path, told in suspects().items() if end in path for line in told]
        held += [path for path in suspects() if end in path]
        assert any(part in line and uses(line, old) for line in held), place


@pytest.mark.parametrize(
    ("line", "now"),
    [
        ("def by_trait(games):", "covariate"),
        ("class WorkShop: ...  # Workshop", "code runner"),
        ("_FENCE = 1", "delimiter, quoted"),
        ('"""Return the skin of a family."""', "template"),
        ("oneDoor = 1", "interface"),
        ('metrics = ["contradicts_evidence"]', "contradicted"),
    ],
)
def test_words_are_found_within_identifiers_and_prose(line: str, now: str) -> None:
    assert uses(line, next(old for old in OLD if old.now == now))


@pytest.mark.parametrize("line", ["space", "improved", "skinny", "asking", "indoor", "unlikely"])
def test_words_that_only_look_alike_are_not_found(line: str) -> None:
    assert not any(uses(line, old) for old in OLD)
