"""Pack episodes for the page: a searchable index, and each episode compressed separately.

The page shows one episode at a time, so it decompresses an episode only when it is opened.
Documents are stored separately and only once, because several systems often read the same one.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whybench.report.section import Chapter

FRAME = 90
"""Characters of markup around each packed episode and document."""


@dataclass(frozen=True, slots=True)
class PackedEpisodes:
    """Data that the viewer of episodes reads."""

    index: tuple[Mapping[str, Any], ...]
    """One row per episode, for the list."""
    episodes: tuple[str, ...]
    """Annotated episodes in the same order, gzip in base64; `textAt` is a place in `texts`."""
    texts: tuple[str, ...]
    """Documents, gzip in base64."""
    left: int
    """Number of episodes that did not fit."""


def pack_episodes(chapters: Sequence[Chapter], room: int) -> PackedEpisodes:
    """Pack as many episodes as fit into `room` characters, in turn by family."""
    kept: dict[int, tuple[Mapping[str, Any], str]] = {}
    places: dict[str, int] = {}
    texts: list[str] = []
    for place in _in_turn(chapters):
        told = dict(chapters[place].annotated)
        text = told.pop("text", None)
        new = "" if text is None or text in places else packed(text)
        if text is not None:
            told["textAt"] = places.get(text, len(texts))
        row, episode = _row(chapters[place]), packed(told)
        size = len(new) + len(episode) + len(json.dumps(row)) + FRAME
        if size > room:
            continue
        room -= size
        kept[place] = (row, episode)
        if new:
            places[text] = len(texts)
            texts.append(new)
    rows, episodes = (
        zip(*(kept[place] for place in sorted(kept)), strict=True) if kept else ((), ())
    )
    return PackedEpisodes(tuple(rows), tuple(episodes), tuple(texts), len(chapters) - len(kept))


def packed(data: object) -> str:
    """Return JSON data as gzip in base64; equal data give equal text."""
    raw = json.dumps(_finite(data), ensure_ascii=False, separators=(",", ":")).encode()
    return base64.b64encode(gzip.compress(raw, 9, mtime=0)).decode("ascii")


def _finite(data: object) -> object:
    """Return data without NaN and infinities, which JSON does not have."""
    if isinstance(data, float) and not abs(data) < float("inf"):
        return None
    if isinstance(data, Mapping):
        return {str(key): _finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(value) for value in data]
    return data


def _in_turn(chapters: Iterable[Chapter]) -> list[int]:
    """Return places in turn: the first of each family, then the second of each, and so on."""
    seen: Counter[str] = Counter()
    ranked = []
    for place, chapter in enumerate(chapters):
        ranked.append((seen[chapter.family], place))
        seen[chapter.family] += 1
    return [place for _, place in sorted(ranked)]


def _row(chapter: Chapter) -> dict[str, Any]:
    told = chapter.annotated
    return {
        "id": chapter.id,
        "family": chapter.family,
        "suite": chapter.suite,
        "system": chapter.system,
        "instance": chapter.instance,
        "epoch": chapter.epoch,
        "outcome": chapter.outcome,
        "headline": _finite(chapter.headline),
        "steps": len(told.get("moments", ())),
    }
