"""Continue the tables and figures of the papers with runs of a user."""
