"""Optional parts of the family, loaded on demand: annotated episodes and the report."""
