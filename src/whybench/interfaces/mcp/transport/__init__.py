"""How requests come in: over HTTP or a pipe, with tokens, limits and one answer each."""
