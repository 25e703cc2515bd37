"""The store of sessions, attempts and receipts, and the scores computed from it."""
