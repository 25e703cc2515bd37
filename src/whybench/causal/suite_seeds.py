"""Suite seeds, public and secret: the public name that logs contain, and the secret behind it.

Anyone who knows a seed can rebuild its instances and their answers. A secret seed is therefore
named by the hash of its secret. The name commits to the secret and reveals nothing about it; it can
be used wherever an ordinary seed can. The secret itself is in a file with one secret per line (`#`
begins a comment), outside all data and logs. The environment variable `WHYBENCH_SECRETS` gives the
path of this file.
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
"""The environment variable with the path of the file of secrets."""

SHORTEST = 22
"""The fewest characters of a secret: 128 bits in base 64, too many to guess."""

BYTES = 32
"""The number of random bytes of a generated secret."""

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
            f"A secret has at least {SHORTEST} characters. Create one: `whybench data secret`."
        )
    if not secret.isascii() or not secret.isprintable() or " " in secret or secret[0] == "#":
        raise ValueError(
            "A secret is one word of printable ASCII. Create one: `whybench data secret`."
        )
    if secret.startswith(PRIVATE):
        raise ValueError(f"{secret} is the public name of a secret seed, not its secret.")
    return PRIVATE + sha256(b"whybench salt " + secret.encode()).hexdigest()[:32]


def keep(secret: str, file: str | Path | None = None) -> str:
    """Add a secret to a file of secrets that only its owner may read; return its name.

    Without a file, it uses the one that `WHYBENCH_SECRETS` gives.
    """
    chosen = file or os.environ.get(SECRETS)
    if not chosen:
        raise ValueError(
            f"{SECRETS} is not set. Set it to the path of the file that stores secrets."
        )
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
    """Return the secrets of a file; an invalid line is rejected, but never shown."""
    path = Path(file)
    return _listed(path.read_text("utf-8"), str(path)) if path.is_file() else ()


def _own_secrets(file: str) -> tuple[str, ...]:
    """Return the secrets of a file that only its owner can read; reject any other file."""
    path = Path(file)
    if os.name == "posix" and path.is_file() and path.stat().st_mode & 0o077:
        raise ValueError(
            f"Other users can read the file of secrets, {path}. Run `chmod 600 {path}`. If others "
            "may have read it, use a new secret."
        )
    return read_secrets(path)


def secret_of(seed: str) -> str:
    """Return the seed of the random streams: an ordinary seed, or the secret of a secret seed."""
    file = os.environ.get(SECRETS, "")
    if not seed.startswith(PRIVATE):
        return _ordinary(seed, file)
    revealed = _REVEALED.get()
    if revealed is not None and name_of(revealed) == seed:
        return revealed
    return _secret(seed, file)


@contextmanager
def revealed(secret: str) -> Iterator[str]:
    """Make a secret known inside a `with` block, without any file; yield its name."""
    name = name_of(secret)
    token = _REVEALED.set(secret)
    try:
        yield name
    finally:
        _REVEALED.reset(token)


@lru_cache(maxsize=64)
def _ordinary(seed: str, file: str) -> str:
    """Return an ordinary seed; reject a secret, and a name that is a block of another seed."""
    if not seed:
        raise ValueError(
            "The seed is empty. Give a seed of at least one character, such as `public`."
        )
    if _BLOCK.search(seed):
        raise ValueError(
            f"Seed {seed!r} would share its draws with a later block of seed "
            f"{_BLOCK.sub('', seed)!r}. Do not end a seed with a dot and a number."
        )
    if len(seed) >= SHORTEST and file and seed in _own_secrets(file):
        raise ValueError(
            f"This seed is a secret, and logs would reveal it. Give its name, {name_of(seed)}."
        )
    return seed


@lru_cache(maxsize=64)
def _secret(name: str, file: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError(
            f"{name} is not the name of a secret seed. Such a name is {PRIVATE} and 32 hex digits."
        )
    known = _own_secrets(file) if file else ()
    found = next((secret for secret in known if name_of(secret) == name), None)
    if found is None:
        raise ValueError(
            f"The secret of {name} is not known here. Set {SECRETS} to a file that contains it."
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
                f"line {number} of {file} is not a secret. Write one word of at least {SHORTEST} "
                "characters per line, and comments after a #."
            ) from None
    return tuple(line for _, line in found)
