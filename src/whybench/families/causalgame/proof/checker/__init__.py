"""The independent checker: it shares no code with the generator of certificates."""
