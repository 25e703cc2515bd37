"""Who may come in: bearer tokens, each of which is an owner of its own sessions."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from hmac import compare_digest
from pathlib import Path

from whybench.interfaces.mcp.store.protocol import hashed

VARIABLE = "WHYBENCH_TOKEN"
"""The environment variable that may hold a token."""

SHORTEST = 16
"""The fewest characters of a token."""

_REMARK = re.compile(r"(?:^|\s)#")


@dataclass(frozen=True, slots=True)
class Tokens:
    """Hashes of the tokens that are let in; none: everybody is, as one owner."""

    owners: tuple[str, ...] = ()

    @classmethod
    def read(cls, file: Path | None) -> Tokens:
        """Read tokens from a file, one a line with remarks after `#`, and from the environment."""
        lines = [] if file is None else file.read_text("utf-8").splitlines()
        words = [*(_REMARK.split(line)[0] for line in lines), os.environ.get(VARIABLE, "")]
        tokens = [word.strip() for word in words if word.strip()]
        if file is not None and not tokens:
            raise ValueError("the file of tokens holds none: write one a line")
        if any(len(t) < SHORTEST or not t.isascii() or " " in t for t in tokens):
            raise ValueError(f"a token is one word of at least {SHORTEST} ASCII characters")
        return cls(tuple(hashed("token", token) for token in dict.fromkeys(tokens)))

    def owner(self, authorization: str | None) -> str | None:
        """Return whose request this is by its header `Authorization`; None: nobody's."""
        if not self.owners:
            return ""
        kind, _, token = (authorization or "").partition(" ")
        shown = hashed("token", token.strip())
        matches = [owner for owner in self.owners if compare_digest(owner, shown)]
        return matches[0] if matches and kind.casefold() == "bearer" else None
