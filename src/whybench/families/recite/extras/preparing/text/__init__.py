"""A paper's text: extracted, cut, normalised."""
