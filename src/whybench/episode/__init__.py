"""The one protocol that every door and every agent uses."""
