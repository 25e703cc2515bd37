"""The independent checker: it shares no parsing code with the certificates."""
