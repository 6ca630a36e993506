"""Tools and work offered over MCP, those of other servers, and the record of every call."""

from mcl.plugins.hooks import Plugin

PLUGIN = Plugin(
    "mcp",
    __name__,
    commands={
        "mcp": "mcl.plugins.mcp.cli.mcp:register",
        "activity": "mcl.plugins.mcp.cli.activity:register",
        "server": "mcl.plugins.mcp.cli.server:register",
    },
    outside="mcl.plugins.mcp.foreign:Foreign",
)
