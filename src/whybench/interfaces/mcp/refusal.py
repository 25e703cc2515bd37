"""Errors that a client may see. They reveal nothing about a hidden system."""

from __future__ import annotations

import logging
import secrets

log = logging.getLogger(__name__)


class Refused(Exception):  # noqa: N818 - a refusal is an answer, not a failure
    """A rejected request. The text says how to fix it and is safe to send."""


class Gone(Refused):
    """There is no such session: it never existed, ended, expired, or has another owner."""

    def __init__(self) -> None:
        super().__init__("no such session: it ended, or it never was; initialize a new one")


class Busy(Refused):
    """The server is busy. `wait` is the number of seconds after which to try again."""

    def __init__(self, reason: str, wait: float) -> None:
        super().__init__(reason)
        self.wait = wait


def unexpected(what: str) -> str:
    """Log the current exception, and return the one sentence that a client may see."""
    number = secrets.token_hex(4)
    log.exception("failure %s: %s", number, what)
    return f"something went wrong inside the server; its log has this as failure {number}"
