"""Any agent over the Model Context Protocol: one session is one episode (extra `mcp`)."""
