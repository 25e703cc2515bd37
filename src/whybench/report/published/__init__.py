"""The papers' figures, beside our runs."""
