"""Suite seeds, public and secret: the name that a log may hold, and the secret behind it.

Whoever knows a seed can rebuild its instances with their answers. So a secret seed goes by the
hash of its secret: the name commits to the secret, tells nothing of it, and stands wherever an
ordinary seed stands. The secret itself is kept in a file of one secret a line (`#` begins a
remark), outside all data and logs, which the environment variable `WHYBENCH_SECRETS` names.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

PRIVATE = "private:"
"""How the name of a secret seed begins."""

SECRETS = "WHYBENCH_SECRETS"
"""The environment variable that names the file of secrets."""

SHORTEST = 22
"""The fewest characters of a secret: 128 bits in base 64, so that nobody guesses it."""

BYTES = 32
"""Random bytes of a secret that we make."""

_NAME = re.compile(rf"{PRIVATE}[0-9a-f]{{32}}")
_BLOCK = re.compile(r"\.[1-9][0-9]*$")
_REVEALED: ContextVar[str | None] = ContextVar("whybench_revealed", default=None)


def new_secret() -> str:
    """Return a fresh secret from the system's source of randomness."""
    return secrets.token_urlsafe(BYTES)


def name_of(secret: str) -> str:
    """Return the name of a secret seed, which commits to its secret.

    >>> name_of("twenty-two-or-more-random-characters")
    'private:5d6a9c90b6d3dd1a8d3620d0dcfa7c7c'
    """
    if len(secret) < SHORTEST:
        raise ValueError(
            f"a secret has at least {SHORTEST} characters: `whybench data secret` makes one"
        )
    if not secret.isascii() or not secret.isprintable() or " " in secret or secret[0] == "#":
        raise ValueError(
            "a secret is one word of printable ASCII: `whybench data secret` makes one"
        )
    if secret.startswith(PRIVATE):
        raise ValueError(f"{secret} is the name of a secret seed, not its secret")
    return PRIVATE + sha256(b"whybench salt " + secret.encode()).hexdigest()[:32]


def keep(secret: str, file: str | Path | None = None) -> str:
    """Add a secret to a file of secrets that only its owner may read; return its name.

    The file is the one that `WHYBENCH_SECRETS` names, unless another is given.
    """
    chosen = file or os.environ.get(SECRETS)
    if not chosen:
        raise ValueError(f"let {SECRETS} name the file that is to keep the secret")
    name, path = name_of(secret), Path(chosen)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
    with os.fdopen(handle, "a+", encoding="utf-8") as lines:
        os.fchmod(handle, 0o600)
        lines.seek(0)
        text = lines.read()
        if secret not in _listed(text, str(path)):
            lines.write(("" if not text or text.endswith("\n") else "\n") + secret + "\n")
            lines.flush()
            os.fsync(handle)
    return name


def read_secrets(file: str | Path) -> tuple[str, ...]:
    """Return the secrets of a file; a line that is none is refused, and never shown."""
    path = Path(file)
    return _listed(path.read_text("utf-8"), str(path)) if path.is_file() else ()


def secret_of(seed: str) -> str:
    """Return what random streams hang on: an ordinary seed, or the secret of a secret one."""
    file = os.environ.get(SECRETS, "")
    if not seed.startswith(PRIVATE):
        return _ordinary(seed, file)
    revealed = _REVEALED.get()
    if revealed is not None and name_of(revealed) == seed:
        return revealed
    return _secret(seed, file)


@contextmanager
def revealed(secret: str) -> Iterator[str]:
    """Let a secret be known inside a block, whatever files there are; yield its name."""
    name = name_of(secret)
    token = _REVEALED.set(secret)
    try:
        yield name
    finally:
        _REVEALED.reset(token)


@lru_cache(maxsize=64)
def _ordinary(seed: str, file: str) -> str:
    """Return an ordinary seed, unless it is a secret or another seed's block."""
    if not seed:
        raise ValueError("a seed has at least one letter; the usual one is `public`")
    if _BLOCK.search(seed):
        raise ValueError(
            f"seed {seed!r} would share its draws with a later block of seed "
            f"{_BLOCK.sub('', seed)!r}: do not end a seed in a dot and a number"
        )
    if len(seed) >= SHORTEST and file and seed in read_secrets(file):
        raise ValueError(
            f"this seed is a secret, which logs would tell: give its name, {name_of(seed)}"
        )
    return seed


@lru_cache(maxsize=64)
def _secret(name: str, file: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name} names no secret seed: {PRIVATE} and 32 digits from 0 to f do")
    known = read_secrets(file) if file else ()
    found = next((secret for secret in known if name_of(secret) == name), None)
    if found is None:
        raise ValueError(
            f"the secret of {name} is not known here: let {SECRETS} name a file that holds it"
        )
    return found


def _listed(text: str, file: str) -> tuple[str, ...]:
    lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1)]
    found = [(number, line) for number, line in lines if line and not line.startswith("#")]
    for number, line in found:
        try:
            name_of(line)
        except ValueError:
            raise ValueError(
                f"line {number} of {file} is no secret: one word of at least {SHORTEST} "
                "characters a line, remarks after a #"
            ) from None
    return tuple(line for _, line in found)
