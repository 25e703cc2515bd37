"""What Prism adds to an engine: the analysis and the section of a report."""
