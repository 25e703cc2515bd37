"""The public names of the package: which there are, and that nobody outside needs others."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import griffe
import pytest

import whybench

ROOT = Path(__file__).parents[1]
OUTSIDE = [*ROOT.glob("examples/**/*.py"), *ROOT.glob("packages/*/**/*.py")]
REGISTERS = "whybench.interfaces.gym"
"""The one module that is imported for its effect: it registers ids with Gymnasium."""

PUBLIC = """
    Action ActionSpec AnnotatedEpisode Argument CANARY Certificate Choice Conversation Episode
    Family Fingerprint Instance Json JsonDialogue Meter Metric Observation ParityCase
    PromptTemplate Record Reply Result Score Session SimpleEpisode SimpleFamily Step StoredSet
    Stream Suite SuiteProof Trace Turn Where __version__ canonical_json certify difficulty digest
    find_instance
    freeze installed_families load_suite load_templates mean_interval parity_cases
    parity_differences part_of play rate_interval sample_session score solve thaw
"""


def imported(tree: ast.AST) -> Iterator[str]:
    """Yield what a program imports of the package, and the attributes it takes from it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) in {"wb", "whybench"}:
            yield f"whybench.{node.attr}"


def internal(program: str) -> list[str]:
    """Return what a program uses of the package that is not public."""
    allowed = {"whybench", "whybench.interfaces", REGISTERS, "whybench.testing.Contract"}
    allowed |= {f"whybench.{name}" for name in whybench.__all__}
    used = set(imported(ast.parse(program)))
    return sorted(name for name in used - allowed if name.startswith("whybench."))


def test_the_list_of_public_names_changes_only_on_purpose() -> None:
    assert sorted(whybench.__all__) == sorted(PUBLIC.split())
    assert dir(whybench) == sorted(whybench.__all__)


@pytest.mark.parametrize("name", PUBLIC.split())
def test_a_public_name_loads(name: str) -> None:
    assert getattr(whybench, name) is not None


def test_another_name_is_refused() -> None:
    with pytest.raises(AttributeError, match="no public name 'no_such_name'"):
        _ = whybench.no_such_name


def test_no_public_name_is_also_a_module_which_would_replace_it_when_it_is_imported() -> None:
    assert not {module.name for module in iter_modules(whybench.__path__)} & {*whybench.__all__}


def test_type_checkers_are_told_of_the_same_names_from_the_same_modules() -> None:
    tree = ast.parse(Path(whybench.__file__).read_text("utf-8"))
    [block] = [node for node in tree.body if isinstance(node, ast.If)]
    told = {
        alias.asname: f"{line.module}.{alias.name}"
        for line in block.body
        if isinstance(line, ast.ImportFrom)
        for alias in line.names
    }
    assert told == {name: f"whybench.{home}.{name}" for name, home in whybench._HOME.items()}


def test_the_import_alone_loads_no_large_library() -> None:
    large = "{'numpy', 'scipy', 'inspect_ai', 'pandas', 'pydantic', 'pyarrow'}"
    program = f"import sys, whybench; print(sorted({large} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.split() == [b"[]"]


@pytest.mark.parametrize("path", OUTSIDE, ids=lambda path: str(path.relative_to(ROOT)))
def test_examples_and_other_distributions_use_public_names_alone(path: Path) -> None:
    assert internal(path.read_text("utf-8")) == []


@pytest.mark.parametrize(
    "program",
    [
        "from whybench.episode.action import Action",
        "import whybench.episode",
        "from whybench import episode",
        "import whybench as wb; wb.families()",
        "def f():\n  from whybench.interfaces import session",
    ],
)
def test_a_use_of_internal_names_would_be_found(program: str) -> None:
    assert internal(program)


def griffe_members() -> Iterator[tuple[str, Any]]:
    """Yield every public name, and the public members of classes, as the API reference reads it."""
    package = griffe.load("whybench", search_paths=[str(ROOT / "src")], resolve_aliases=True)
    for name in sorted({*whybench.__all__} - {"__version__"}):
        found = package[name]
        found = found.final_target if found.is_alias else found
        yield name, found
        if found.is_class:
            own = dict(found.members)
            if name == "Family":  # its hooks have a file of their own
                own |= package["episode.hooks.Hooks"].members
            for member, inner in own.items():
                if not (inner.is_alias or member.startswith("_")):
                    yield f"{name}.{member}", inner


def undocumented(name: str, found: Any) -> Iterator[str]:
    """Yield what the docstring of a public name lacks."""
    text = found.docstring.value if found.docstring else ""
    if not text:
        yield f"{name}: no docstring"
    if "." not in name and (found.is_class or found.is_function) and ">>> " not in text:
        yield f"{name}: no example"
    if not found.is_function or "property" in found.labels:
        return
    skipped = {"self", "cls", "_"}
    given = [p.name.lstrip("*") for p in found.parameters if p.name not in skipped]
    yield from (
        f"{name}: Args lacks {p}" for p in given if not re.search(rf"^ *\**{p}:", text, re.M)
    )
    if str(found.returns) not in {"None", ""} and not re.search(r"^(Returns|Yields):", text, re.M):
        yield f"{name}: no Returns"
    raised = re.findall(r"^\s+raise \w", "".join(found.source), re.M)
    if raised and "Raises:" not in text:
        yield f"{name}: no Raises"


def test_every_public_name_is_documented() -> None:
    members = list(griffe_members())
    assert len(members) > 150
    assert [line for name, found in members for line in undocumented(name, found)] == []


def test_the_api_reference_lists_every_public_name() -> None:
    text = (ROOT / "docs/reference/api.md").read_text("utf-8")
    listed = re.findall(r"^::: whybench\.(\w+)$", text, re.MULTILINE)
    assert sorted(listed) == sorted({*whybench.__all__} - {"__version__"})
