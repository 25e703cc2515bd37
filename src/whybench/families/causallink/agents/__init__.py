"""Reference agents: guessers, classical methods, and the exact agent."""
