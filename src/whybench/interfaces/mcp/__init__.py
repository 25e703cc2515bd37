"""The server for agents over the Model Context Protocol. One session is one episode."""
