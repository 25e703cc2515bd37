"""The front page of a report: verdicts, one table, one figure, a few episodes."""
