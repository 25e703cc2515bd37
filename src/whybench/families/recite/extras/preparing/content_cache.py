"""A work folder: what was found once is kept under a name that hashes all it hangs on."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from whybench.causal.canonical import Json, digest
from whybench.causal.whole_files import write_whole


def is_writable(value: Json) -> bool:
    r"""Tell whether a file can keep a value: half a character (a lone surrogate) has no bytes.

    >>> is_writable(["\U0001f600"]), is_writable({"half": "\ud83d"})
    (True, False)
    """
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except (UnicodeEncodeError, RecursionError):
        return False
    return True


@dataclass(frozen=True, slots=True)
class ContentCache:
    """Values by kind and key; equal keys are one key, whatever the order of their parts."""

    folder: Path

    def get(self, kind: str, key: Json) -> Json:
        """Return what was put there, or None."""
        path = self._path(kind, key)
        try:
            return json.loads(path.read_text("utf-8"))
        except FileNotFoundError:
            return None
        except ValueError as error:
            raise ValueError(f"{path} is damaged ({error}). Delete it and run again.") from error

    def put(self, kind: str, key: Json, value: Json) -> None:
        """Keep a value, which must not be None and must be one that can be read again."""
        if not is_writable(value):
            raise ValueError(
                f"The result of the step {kind} has half a character (a lone surrogate). Remove it "
                "from the paper's files and run again."
            )
        write_whole(self._path(kind, key), json.dumps(value, ensure_ascii=False, indent=1) + "\n")

    def drop(self, kind: str, key: Json) -> None:
        """Forget a value."""
        self._path(kind, key).unlink(missing_ok=True)

    def _path(self, kind: str, key: Json) -> Path:
        return self.folder / f"{kind}-{digest(key).hex()[:32]}.json"
