"""The independent checker: it shares nothing with what made a certificate."""
