"""Thin interfaces. Only this package imports an engine, such as Inspect or gymnasium."""
