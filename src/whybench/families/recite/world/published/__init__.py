"""The published documents: fetched, filtered and read."""
