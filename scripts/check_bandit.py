"""Run bandit, and compare its findings with the written reasons in scripts/bandit_reasons.toml.

uvx --from bandit python scripts/check_bandit.py, or with bandit on the path

The exit code is 1 for a finding without a reason and for a reason without a finding, and 2 if
bandit is not installed. Low severity is left out: ruff's rules `S` cover it line by line.
"""

import json
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("src", *(f"packages/{name}/src" for name in ("whybench-openenv", "whybench-verifiers")))


def main() -> int:
    bandit = shutil.which("bandit")
    if bandit is None:
        print("bandit is not installed. Nothing was checked.", file=sys.stderr)
        return 2
    command = [bandit, "-q", "-r", *FOLDERS, "-ll", "-f", "json"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    results = json.loads(ran.stdout)["results"]
    found = Counter((one["test_id"], one["filename"].removeprefix("./")) for one in results)
    told = tomllib.loads(Path(__file__).with_name("bandit_reasons.toml").read_text("utf-8"))
    known = {(one["check"], one["file"]): one["count"] for one in told["finding"] if one["reason"]}
    wrong = [
        f"{check} in {file}: {found[check, file]} found, {known.get((check, file), 0)} explained"
        for check, file in sorted(found.keys() | known.keys())
        if found[check, file] != known.get((check, file), 0)
    ]
    print("\n".join(wrong) or f"{sum(found.values())} findings, each with its reason")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
