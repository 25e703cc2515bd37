"""Results as files: one per system, exports to other formats, and a static leaderboard."""
