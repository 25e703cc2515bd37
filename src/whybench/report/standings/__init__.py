"""Systems by families: every score between its floor and its ceiling."""
