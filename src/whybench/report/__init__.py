"""Reports on Inspect logs as one page, comparison of two systems, and planning of runs."""
