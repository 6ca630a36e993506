"""The tools that `mcl mcp serve` offers."""
