"""Commands of the standard run: `run`, `release`, `table`, and their results as files."""
