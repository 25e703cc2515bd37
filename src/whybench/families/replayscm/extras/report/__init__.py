"""The family's section of a report."""
