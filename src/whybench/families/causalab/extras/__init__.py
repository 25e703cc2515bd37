"""Optional parts of CausaLab: Inspect tasks, annotated episodes and the report."""
