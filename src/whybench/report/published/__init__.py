"""Read the papers' figures and match them with runs."""
