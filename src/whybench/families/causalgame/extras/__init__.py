"""What CausalGame adds to reports, judges and engines."""
