"""Check `Host`, `Origin` and `Content-Type`, so that no foreign web page can use the server."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from mcp_types import INVALID_REQUEST

from whybench.interfaces.mcp.transport.exchange import failed

_PLACE = re.compile(r"(?P<name>[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::(?P<port>[0-9]{1,5}))?", re.ASCII)


class Turned(Exception):  # noqa: N818 - an answer, not a failure
    """A request is rejected with a status."""

    def __init__(
        self,
        status: int,
        reason: str,
        headers: dict[str, str] | None = None,
        code: int = INVALID_REQUEST,
    ) -> None:
        super().__init__(reason)
        self.status = status
        self.body = failed(None, code, reason)
        self.headers = headers or {}


class Names:
    """The names under which a server is reached. Any port is accepted, because of proxies."""

    def __init__(self, names: Iterable[str]) -> None:
        self._ours = frozenset(
            f"[{name}]" if ":" in name and "[" not in name else name
            for name in map(str.lower, names)
        )
        self.is_ours = lru_cache(256)(self._is_ours)

    def check(self, headers: Mapping[bytes, str], *, post: bool) -> None:
        """Reject a foreign host or origin, and a body that is not JSON."""
        if not self.is_ours(headers.get(b"host", "")):
            raise Turned(421, "Invalid Host header")
        if (origin := headers.get(b"origin")) is not None:
            scheme, mark, place = origin.lower().partition("://")
            if scheme not in ("http", "https") or not mark or not self.is_ours(place):
                raise Turned(403, "Invalid Origin header")
        kind = headers.get(b"content-type", "").partition(";")[0].strip().lower()
        if post and kind != "application/json":
            raise Turned(400, "Invalid Content-Type header")

    def _is_ours(self, place: str) -> bool:
        found = _PLACE.fullmatch(place.lower())
        return (
            found is not None and found["name"] in self._ours and int(found["port"] or 0) <= 65535
        )
