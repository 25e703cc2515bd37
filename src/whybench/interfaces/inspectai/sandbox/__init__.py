"""The parts of the bubblewrap sandbox: what a program sees, where it writes, what bounds it."""
