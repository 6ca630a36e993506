"""`mcl mcp serve`: tools and work offered over MCP, over stdio or HTTP; `mcl activity`: what was called.

A client declares, the gate decides, a person answers. What is offered beside the tools, and what governs a
folder in which work was signed, comes in by hooks (`mcl.serve`).
"""
