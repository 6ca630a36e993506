"""`mcl mcp` and `mcl activity`."""
