"""Rules of the tree that no linter knows: no machine's paths, no registry's address, hashes."""

import re
import subprocess
import sys
from pathlib import Path

# Written in pieces, so that this file does not find itself.
MACHINE_PATH = re.compile(
    r"(?<![\w.])/(?:" + "|".join(("work", "farm", "root", "home")) + r")/[A-Za-z]"
)
REGISTRY = re.compile(
    "|".join(("pypi" + r"\.org", "pythonhosted" + r"\.org", "npmjs" + r"\.(?:org|com)"))
)
LOCKS = {"uv.lock", "poetry.lock", "package-lock.json", "yarn.lock", "pnpm-lock.yaml"}


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True)
    return [Path(line) for line in listed.stdout.splitlines() if Path(line).is_file()]


def faults(path: Path) -> list[str]:
    if path.name in LOCKS:
        return [f"{path}: lock files hold addresses of package registries"]
    try:
        text = path.read_text("utf-8")
    except UnicodeDecodeError:
        return []
    rules = {"a machine's path": MACHINE_PATH, "a registry's address": REGISTRY}
    return [
        f"{path}:{number}: {what}: {line.strip()[:80]}"
        for number, line in enumerate(text.splitlines(), 1)
        for what, pattern in rules.items()
        if pattern.search(line)
    ]


def unhashed(constraints: Path) -> list[str]:
    text = constraints.read_text("utf-8").replace("\\\n", " ")
    pins = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [f"{constraints}: {pin[:60]} has no hash" for pin in pins if "--hash=sha256:" not in pin]


def main() -> int:
    found = [fault for path in tracked() for fault in faults(path)]
    for pins in (Path("constraints.txt"), *sorted(Path("packages").glob("*/constraints.txt"))):
        found += unhashed(pins)
    print("\n".join(found) or "the tree is clean")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
