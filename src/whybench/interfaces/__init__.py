"""Thin doors; an engine is imported only here."""
