"""Templates, and the code that fills them."""
