"""Tools and work offered over MCP, those of other servers, and the record of every call."""

from mcl.plugins.hooks import Plugin

PLUGIN = Plugin(
    "mcp",
    __name__,
    commands={
        "mcp": "mcl.plugins.mcp.cli.mcp:register",
        "activity": "mcl.plugins.mcp.cli.activity:register",
        "server": "mcl.plugins.mcp.cli.server:register",
        "tool classify": "mcl.plugins.mcp.cli.tools:register",
        "tool unclassify": "mcl.plugins.mcp.cli.tools:register",
    },
    outside="mcl.plugins.mcp.foreign:Foreign",
)
