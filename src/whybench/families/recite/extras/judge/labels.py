"""The labels of ReCITE's judge, where each is allowed, and what it is worth (`labels.json`)."""

from __future__ import annotations

from whybench.judge.labels import LabelScheme

LABELS = LabelScheme.read(__package__ or "")
PASSES = tuple(LABELS.passes)
"""Precision judges the answer's elements, recall those of the gold graph."""

NO_MATCH = "PRESENCE_NO_MATCH"
MATCHES = frozenset({"PRESENCE_STRONG_MATCH", "PRESENCE_WEAK_MATCH"})
REVERSED = "DIRECTION_REVERSED"
MISSING = "DIRECTION_MISSING"

fields, worth, no_counterpart = LABELS.fields, LABELS.worth, LABELS.no_counterpart
