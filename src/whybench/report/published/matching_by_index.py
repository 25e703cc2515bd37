"""Pair instances by block and index, for runs whose instances have different ids."""

from __future__ import annotations

import pandas as pd


def places(frame: pd.DataFrame) -> pd.Series:
    """Return the block and the index of each row's instance, such as `0.12`.

    The index alone does not identify an instance, because every block of a suite counts from 0.
    """
    indices = frame["index"].astype(str)
    blocks = frame["block"].astype(str) if "block" in frame else "0"
    return blocks + "." + indices


def by_place(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame with block and index as instance names, so that runs can be paired."""
    return frame.assign(instance=places(frame))
