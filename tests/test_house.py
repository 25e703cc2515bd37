"""The shape of the house: every family has the same folders, and no folder has too many files."""

import re
from pathlib import Path

import pytest

HOUSE = Path(__file__).parents[1] / "src/whybench"
FAMILIES = sorted(path.parent for path in HOUSE.glob("families/*/family.toml"))
FOLDERS = {"agents", "extras", "prompts", "proof", "world"}
FILES = {"card.md", "family.py", "family.toml", "parameters.py", "rules.py", "score.py"}
SERVING_ALL = (
    "audit", "cli", "interfaces", "judge", "release", "report", "sandbox", "scale", "testing",
)  # fmt: skip
MOST = 15


def test_no_folder_has_more_than_fifteen_python_files() -> None:
    folders = {path.parent for path in HOUSE.rglob("*.py")}
    crowded = {str(f): n for f in folders if (n := len(list(f.glob("*.py")))) > MOST}
    assert crowded == {}


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_a_family_has_the_folders_and_files_of_all(family: Path) -> None:
    folders = {path.name for path in family.iterdir() if (path / "__init__.py").exists()}
    assert folders == FOLDERS
    assert {path.name for path in family.iterdir()} >= FILES
    assert (family / "proof/checker").is_dir()
    assert list((family / "prompts/templates").glob("*.md"))


@pytest.mark.parametrize("folder", SERVING_ALL)
def test_what_serves_all_families_names_none_in_code(folder: str) -> None:
    """Docstrings, comments and examples for users may name a suite."""
    named = re.compile("|".join(family.name for family in FAMILIES))
    found = []
    for path in (HOUSE / folder).rglob("*.py"):
        text = re.sub(r'""".*?"""', "", path.read_text("utf-8"), flags=re.DOTALL)
        lines = [line for line in text.splitlines() if named.search(line.partition("#")[0])]
        found += [f"{path.relative_to(HOUSE)}: {line.strip()}" for line in lines]
    example = re.compile(r"whybench (\w|-)+ |suite=")
    assert [line for line in found if not example.search(line)] == []
