"""`whybench dev new-family`: the package in `examples/family` under another name."""

from __future__ import annotations

import keyword
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

import whybench
from whybench.episode.registry import families
from whybench.interfaces.command_line import refused

EXAMPLE = "wiring"
"""The name of the family in `examples/family`; it stands there for nothing else."""


def new_family(
    name: Annotated[str, typer.Argument(help="Name of the family, such as valves.")],
    into: Annotated[
        Path, typer.Option(help="Folder in which the package's folder is made.")
    ] = Path(),
) -> None:
    """Write the package of a new family, which already passes the contract."""
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name) or keyword.iskeyword(name):
        raise refused(
            f"{name!r} cannot name a family. Use lower-case letters, digits and single "
            "underscores, with a letter first, such as valves or water_pipes."
        )
    if name in families() or find_spec(f"whybench_{name}") is not None:
        raise refused(f"The name {name!r} is already installed. Choose another one.")
    folder = into / f"whybench-{name}"
    if folder.exists():
        raise refused(f"{folder} already exists. Choose another name, or another folder (--into).")
    source = example_folder()
    for file in sorted(source.rglob("*")):
        if file.is_file() and "__pycache__" not in file.parts:
            target = folder / renamed(file.relative_to(source).as_posix(), name)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(renamed(file.read_text("utf-8"), name), "utf-8")
    typer.echo(
        f"Wrote {folder}. Next:\n"
        f"  cd {folder}\n"
        '  uv pip install -e . "whybench[testing]"\n'
        f"  whybench list {name}\n"
        "  pytest"
    )


def example_folder() -> Path:
    """Return the example as it was installed, or as it stands in a checkout."""
    package = Path(whybench.__file__).parent
    installed = package / "examples" / "family"
    return installed if installed.is_dir() else package.parents[1] / "examples" / "family"


def renamed(text: str, name: str) -> str:
    """Return a text of the example with another family's name.

    >>> renamed("class Wiring: ...  # whybench_wiring", "water_pipes")
    'class WaterPipes: ...  # whybench_water_pipes'
    """
    title = "".join(word.capitalize() for word in name.split("_"))
    return text.replace(EXAMPLE, name).replace(EXAMPLE.capitalize(), title)
