"""`mcl mcp serve`: one process that offers tools over MCP, and the transports it is reached by."""
