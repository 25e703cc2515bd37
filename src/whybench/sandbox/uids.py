"""A user id of its own for every sample, where we are root.

Limits on processes do not bind root, and they count per user. The ids lie in a range that no
distribution hands out. An id is taken by binding a socket to an abstract name: two runs on one
machine never share one, and the kernel gives it back however a run ends.
"""

import os
import socket
from dataclasses import dataclass

FIRST, LAST = 60514, 61183
"""Unused in the tables of Debian and systemd, and inside what a container usually maps."""


@dataclass(frozen=True, slots=True)
class Uid:
    """A user id that is ours until `release`."""

    number: int
    held: socket.socket

    def release(self) -> None:
        """Give the id back."""
        self.held.close()


def take() -> Uid:
    """Return a free user id.

    >>> one, two = take(), take()
    >>> one.number != two.number
    True
    >>> one.release(), two.release()
    (None, None)
    """
    for number in range(FIRST, LAST + 1):
        held = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            held.bind(f"\0whybench-uid-{number}")
        except OSError:
            held.close()
        else:
            return Uid(number, held)
    raise RuntimeError(
        f"all {LAST - FIRST + 1} user ids for sandboxes are in use: run fewer samples at once "
        "(--max-sandboxes)"
    )


def is_root() -> bool:
    """Say whether we may become another user."""
    return os.geteuid() == 0
