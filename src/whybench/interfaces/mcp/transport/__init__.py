"""Transports of the server: HTTP and stdio, with tokens, limits and one answer per request."""
