"""Run an example of the installed package: `python -m whybench.examples plain_loop`."""

import runpy
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
names = sorted(path.stem for path in FOLDER.glob("[a-z]*.py"))

if sys.argv[1:2] and sys.argv[1] in names:
    sys.argv = sys.argv[1:]
    sys.path.insert(0, str(FOLDER))
    runpy.run_path(str(FOLDER / f"{sys.argv[0]}.py"), run_name="__main__")
else:
    sys.exit(f"name an example: {', '.join(names)}; they are in {FOLDER}")
