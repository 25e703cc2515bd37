"""What a client may be told when something is not done. Nothing here tells of a world."""

from __future__ import annotations

import logging
import secrets

log = logging.getLogger(__name__)


class Refused(Exception):  # noqa: N818 - a refusal is an answer, not a failure
    """Something is not done; the text says how to mend it and is safe to send."""


class Gone(Refused):
    """There is no such session: never was, ended, expired, or another owner's."""

    def __init__(self) -> None:
        super().__init__("no such session: it ended, or it never was; initialize a new one")


class Busy(Refused):
    """Too much at once; `wait` says after how many seconds to try again."""

    def __init__(self, reason: str, wait: float) -> None:
        super().__init__(reason)
        self.wait = wait


def unexpected(what: str) -> str:
    """Log the failure that is being handled, and return the one sentence that may be told of it."""
    number = secrets.token_hex(4)
    log.exception("failure %s: %s", number, what)
    return f"something went wrong inside the server; its log has this as failure {number}"
