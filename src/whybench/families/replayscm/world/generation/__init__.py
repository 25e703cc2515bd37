"""Problems drawn from seeds, and the shipped records."""
