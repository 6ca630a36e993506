"""Tools and work offered over MCP, those of other servers, and the record of every call."""

from mcl.plugins.hooks import Plugin

PLUGIN = Plugin(
    "mcp",
    __name__,
    commands={
        "mcp": "mcl.plugins.mcp.cli.mcp:register",
        "activity": "mcl.plugins.mcp.cli.activity:activity",
        "server": "mcl.plugins.mcp.cli.server:servers",
        "tool classify": "mcl.plugins.mcp.cli.tools:verbs",
        "tool unclassify": "mcl.plugins.mcp.cli.tools:verbs",
    },
    outside="mcl.plugins.mcp.foreign:Foreign",
)
