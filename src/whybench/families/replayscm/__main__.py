"""Build the shipped records from seeds alone, or check them against the manifest.

python -m whybench.families.replayscm build
python -m whybench.families.replayscm check --limit 5
"""

import argparse
import sys
from pathlib import Path

from whybench.families.replayscm.world.generation.record_pools import FOLDER, SIZES, build, check


def main() -> int:
    """Build or check the shipped records."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("build", "check"))
    parser.add_argument("--kind", choices=tuple(SIZES), action="append")
    parser.add_argument(
        "--limit", type=int, help="With `check`: records of each kind to regenerate."
    )
    parser.add_argument("--out", type=Path, default=Path(str(FOLDER)))
    given = parser.parse_args()
    kinds = given.kind or list(SIZES)
    if given.what == "build":
        build(kinds, given.out)
        return 0
    faults = check(kinds, given.limit)
    print("\n".join(faults) or "All records match the manifest.")  # noqa: T201
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
