"""Authentication by bearer tokens. Each token owns its sessions."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from hmac import compare_digest
from pathlib import Path

from whybench.interfaces.mcp.store.protocol import hashed

VARIABLE = "WHYBENCH_TOKEN"
"""Environment variable that may contain a token."""

SHORTEST = 16
"""Minimum length of a token."""

_REMARK = re.compile(r"(?:^|\s)#")


@dataclass(frozen=True, slots=True)
class Tokens:
    """Hashes of the accepted tokens. Without tokens, all clients are accepted as one owner."""

    owners: tuple[str, ...] = ()

    @classmethod
    def read(cls, file: Path | None) -> Tokens:
        """Read tokens from the environment and a file: one per line, with comments after `#`."""
        lines = [] if file is None else file.read_text("utf-8").splitlines()
        words = [*(_REMARK.split(line)[0] for line in lines), os.environ.get(VARIABLE, "")]
        tokens = [word.strip() for word in words if word.strip()]
        if file is not None and not tokens:
            raise ValueError("The token file contains no token. Write one token per line.")
        if any(len(t) < SHORTEST or not t.isascii() or " " in t for t in tokens):
            raise ValueError(
                f"A token is too short or has other characters than ASCII. Use one word of at "
                f"least {SHORTEST} ASCII characters."
            )
        return cls(tuple(hashed("token", token) for token in dict.fromkeys(tokens)))

    def owner(self, authorization: str | None) -> str | None:
        """Return the owner of a request by its header `Authorization`, or None."""
        if not self.owners:
            return ""
        kind, _, token = (authorization or "").partition(" ")
        shown = hashed("token", token.strip())
        matches = [owner for owner in self.owners if compare_digest(owner, shown)]
        return matches[0] if matches and kind.casefold() == "bearer" else None
