"""`mcl mcp serve`: tools and work offered over MCP, by one process, over stdio or HTTP.

A client declares, the gate decides, a person answers. It knows no command line; folders in which work was
signed come in by a hook.
"""
