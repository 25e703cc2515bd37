"""Compare two systems and plan the size of a run."""
