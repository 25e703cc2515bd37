"""Sections of a report that all families share."""
