"""The independent check of certificates."""
