"""Thin interfaces; an engine is imported only here."""
