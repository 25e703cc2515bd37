"""Instances by their place: what two runs share whose instances have other ids."""

from __future__ import annotations

import pandas as pd


def places(frame: pd.DataFrame) -> pd.Series:
    """Return the block and the index of each row's instance, such as `0.12`.

    An index alone names no instance: every block of a suite counts from 0.
    """
    indices = frame["index"].astype(str)
    blocks = frame["block"].astype(str) if "block" in frame else "0"
    return blocks + "." + indices


def by_place(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame whose instances are named by their places, to be paired by these."""
    return frame.assign(instance=places(frame))
