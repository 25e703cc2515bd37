"""A separate user id for every sample, if we are root.

Limits on processes do not bind root, and they count per user. The ids are in a range that no
distribution assigns. An id is taken by binding a socket to an abstract name: two runs on one
machine never share an id, and the kernel releases it however a run ends.
"""

import os
import secrets
import socket
from dataclasses import dataclass

FIRST, LAST = 60514, 61183
"""Unused in the tables of Debian and systemd, and inside what a container usually maps."""


@dataclass(frozen=True, slots=True)
class Uid:
    """A user id that is reserved until `release`."""

    number: int
    held: socket.socket

    def release(self) -> None:
        """Release the id."""
        self.held.close()


def take() -> Uid:
    """Return a free user id.

    >>> one, two = take(), take()
    >>> one.number != two.number
    True
    >>> one.release(), two.release()
    (None, None)
    """
    count = LAST - FIRST + 1
    start = secrets.randbelow(count)  # programs see their id: it must not tell how many are open
    for number in (FIRST + (start + step) % count for step in range(count)):
        held = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            held.bind(f"\0whybench-uid-{number}")
        except OSError:
            held.close()
        else:
            return Uid(number, held)
    raise RuntimeError(
        f"All {count} user ids for sandboxes are in use. Run fewer samples at once "
        "(--max-sandboxes)."
    )


def is_root() -> bool:
    """Tell whether we may become another user."""
    return os.geteuid() == 0
