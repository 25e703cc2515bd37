"""The one protocol that every interface and every agent uses."""
