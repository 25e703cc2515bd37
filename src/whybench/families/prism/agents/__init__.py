"""Reference agents: guessers, confused readers, and the exact agent."""
