"""What each family's own section of a report shows, after its paper's tables and figures."""
