"""The section of a report on Prism."""
