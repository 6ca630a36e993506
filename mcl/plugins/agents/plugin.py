"""Work that coding agents check out, and the hooks of their hosts."""

from mcl.plugins.hooks import Plugin

PLUGIN = Plugin(
    "agents",
    __name__,
    commands={
        "work": "mcl.plugins.agents.cli.work:work",
        "hook": "mcl.plugins.agents.cli.hook:hooks",
        "mcp install": "mcl.plugins.agents.cli.install:register",
    },
    tools=("agent/dispatch", "task/assign"),
    offered=(
        "mcl.plugins.agents.mcp_tools:LIST",
        "mcl.plugins.agents.mcp_tools:SELECT",
        "mcl.plugins.agents.mcp_tools:COMPLETE",
        "mcl.plugins.agents.mcp_tools:RELEASE",
    ),
    checkouts="mcl.plugins.agents.governance:GovernedFolders",
)
