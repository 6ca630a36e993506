"""MCP: tools of other servers behind the gate, ours offered to others, and a record of what was done."""
