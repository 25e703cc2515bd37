"""What a program inside the sandbox sees: the base system, a Python, numpy and pandas.

Nothing of the host's own files is visible: no home, no checkout, no other package. WhyBench itself
is deliberately left out, because a program that can import it can rebuild an episode's truth.
"""

import os
import shutil
import stat
import sys
import sysconfig
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import whybench

REQUIRED = ("numpy", "pandas")
"""Packages that every program may import."""
OPTIONAL = ("dateutil", "pytz", "six", "tzdata")
"""Packages that pandas needs, depending on its version."""

TOOLS = ("bwrap", "cat", "choom", "mount", "nsenter", "prlimit", "setpriv", "sh", "unshare")

LINKED = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
"""Folders of the root that most systems link into `/usr`."""
SYSTEM = (
    *(f"usr/{name}" for name in LINKED),
    "usr/libexec",
    "usr/share/zoneinfo",
    "etc/alternatives",
)
SETTINGS = ("ld.so.cache", "localtime")
"""Files of `/etc` that programs get; users and groups are invented, other files are missing."""

SITE = "/opt/site"
"""Where the packages are, inside."""
PROGRAMS = "/opt/bin"
"""Where `python3` is, inside."""
PYTHON = "/opt/python"
"""Where the interpreter's own folder is, inside, so that no path of the host shows."""
DEVICES = ("null", "random", "urandom")
"""Devices inside. `zero` is absent: mapped as shared, it is memory that nobody counts."""


@dataclass(frozen=True, slots=True)
class System:
    """What programs see, all of it read-only."""

    folders: tuple[tuple[str, str], ...]
    """Folders, each with its path inside."""
    links: tuple[str, ...]
    """Links of the root, kept as they are."""
    hidden: tuple[str, ...]
    """Folders, by their path inside, that appear empty."""
    packages: tuple[str, ...]
    """Packages and modules shown in the folder `SITE`."""
    python: str
    """The interpreter, on the host."""
    python_inside: str
    """The interpreter, inside."""
    libraries: str
    """The folder of the interpreter's own library, inside, if it is not where it was built for."""
    covered: tuple[str, ...]
    """Entries of `/proc`, besides processes, that every user can read: figures of the host."""


@cache
def tools() -> dict[str, str]:
    """Return the path of every program that the sandbox needs."""
    search = os.pathsep.join(("/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/local/bin"))
    found = {name: shutil.which(name, path=search) for name in TOOLS}
    missing = [name for name, path in found.items() if path is None]
    if missing:
        raise RuntimeError(
            f"The sandbox `bwrap` needs {', '.join(missing)}. Install the packages bubblewrap, "
            "util-linux and mount (Debian: apt-get install bubblewrap), or use docker; see "
            "docs/how-to/sandbox.md."
        )
    return {name: path for name, path in found.items() if path is not None}


@cache
def system() -> System:
    """Inspect the running system."""
    base = os.path.realpath(sys.base_prefix)
    python = os.path.realpath(getattr(sys, "_base_executable", "") or sys.executable)
    own = [f"/{name}" for name in (*LINKED, *SYSTEM) if _is_folder(f"/{name}")]
    folders = {folder: folder for folder in own}
    if base != "/usr" and not _inside(base, own):
        folders[base] = PYTHON
    if not _inside(python, list(folders)):
        folders[str(Path(python).parent)] = f"{PYTHON}-bin"
    links = tuple(f"/{name}" for name in LINKED if Path(f"/{name}").is_symlink())
    hidden = [folder for folder in _libraries(base) if _inside(folder, list(folders))]
    ours = os.path.realpath(Path(whybench.__file__).parent)
    if _inside(ours, list(folders)) and not _inside(ours, hidden):
        hidden.append(ours)
    return System(
        tuple(folders.items()),
        links,
        tuple(_moved(path, folders) for path in hidden),
        _packages(),
        python,
        _moved(python, folders),
        f"{PYTHON}/lib" if base in folders and sysconfig.get_config_var("Py_ENABLE_SHARED") else "",
        _figures(),
    )


def _moved(path: str, folders: dict[str, str]) -> str:
    """Return the path inside of a path of the host."""
    outer = next(folder for folder in folders if Path(path).is_relative_to(folder))
    return str(folders[outer] / Path(path).relative_to(outer))


def _figures() -> tuple[str, ...]:
    entries = [path for path in Path("/proc").iterdir() if not path.name.isdecimal()]
    return tuple(
        sorted(
            path.name
            for path in entries
            if not path.is_symlink() and path.stat().st_mode & stat.S_IROTH
        )
    )


def _packages() -> tuple[str, ...]:
    paths: list[str] = []
    for name in (*REQUIRED, *OPTIONAL):
        spec = find_spec(name)
        if spec is None or spec.origin is None:
            if name in REQUIRED:
                raise RuntimeError(
                    f"Programs in the sandbox need {name}. Run: pip install 'whybench[sandbox]'"
                )
            continue
        package = Path(spec.origin)
        if spec.submodule_search_locations:
            package = package.parent
        beside = package.with_name(f"{name}.libs")
        paths += [str(path) for path in (package, beside) if path.exists()]
    return tuple(os.path.realpath(path) for path in paths)


def _libraries(base: str) -> list[str]:
    """Folders with packages of the base interpreter, possibly including WhyBench."""
    given = {"base": base, "platbase": base}
    named = {sysconfig.get_path(name, vars=given) for name in ("purelib", "platlib")}
    distribution = {f"{base}/lib/python3/dist-packages", f"{base}/lib/site-python"}
    return sorted(path for path in named | distribution if Path(path).is_dir())


def _is_folder(path: str) -> bool:
    return Path(path).is_dir() and not Path(path).is_symlink()


def _inside(path: str, folders: list[str]) -> bool:
    return any(Path(path).is_relative_to(folder) for folder in folders)
