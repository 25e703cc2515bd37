"""The same hostile programs and removals for an ordinary user, if the tests run as root.

They run as the user `nobody` in another process. If the interpreter is in a folder that only root
may enter, that folder is replaced in a mount namespace of its own.
"""

import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.interfaces.sandboxes import needs_bwrap

pytestmark = [pytest.mark.sandbox, needs_bwrap]

TREE = Path(__file__).parents[2]
NOBODY = "65534"

_SCRIPT = """
set -e
base=$1 top=$2
shift 2
if [ -n "$top" ]; then
  mount --bind "$base" /media
  mount -t tmpfs -o mode=755 top "$top"
  mkdir -p "$base"
  mount --bind /media "$base"
  umount /media
fi
exec setpriv --reuid NOBODY --regid NOBODY --clear-groups "$@"
""".replace("NOBODY", NOBODY)


def as_nobody(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run Python as an ordinary user."""
    base = Path(os.path.realpath(sys.base_prefix))
    closed = [path for path in base.parents if not path.stat().st_mode & stat.S_IXOTH]
    start = ["unshare", "--mount", "--propagation", "private", "sh", "-c", _SCRIPT, "sh"]
    return subprocess.run(
        [*start, str(base), str(closed[-1]) if closed else "", sys.executable, *words],
        env={
            "HOME": str(folder),
            "PATH": os.defpath,
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": f"{TREE / 'src'}:{TREE}",
            "TMPDIR": str(folder),
        },
        cwd=TREE,
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )


@pytest.fixture
def own() -> Iterator[Path]:
    """A folder of that user; pytest's own folders are closed to others."""
    with tempfile.TemporaryDirectory() as folder:
        os.chown(folder, int(NOBODY), int(NOBODY))
        yield Path(folder)


@pytest.mark.skipif(os.geteuid() != 0, reason="the other tests run as an ordinary user already")
@pytest.mark.parametrize(
    ("file", "chosen"),
    [
        ("test_hostile.py", "memfd or burst or opened_descriptors or mount_lines or claimed"),
        ("test_hostile.py", ""),
        ("test_protections.py", "root or supervisor"),
    ],
    ids=["some", "all", "removals"],
)
def test_an_ordinary_user_is_as_safe(own: Path, file: str, chosen: str) -> None:
    probe = as_nobody(own, "-c", "import tests.sandbox.attacks, os; print(os.getuid())")
    if probe.stdout.strip() != NOBODY:
        pytest.skip(f"an ordinary user cannot read this tree: {probe.stderr[-300:]}")
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", f"--basetemp={own}/pytest"]
    ran = as_nobody(own, *words, f"tests/sandbox/{file}", "-k", chosen)
    assert ran.returncode == 0, ran.stdout[-3000:]
    assert " passed" in ran.stdout
    assert "skipped" not in ran.stdout
