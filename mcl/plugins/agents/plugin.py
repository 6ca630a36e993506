"""Work that coding agents check out, and the hooks of their hosts."""

from mcl.plugins.hooks import Plugin

PLUGIN = Plugin(
    "agents",
    __name__,
    commands={
        "work": "mcl.plugins.agents.cli.work:register",
        "hook": "mcl.plugins.agents.cli.hook:register",
    },
    offered=(
        "mcl.plugins.agents.offered:LIST",
        "mcl.plugins.agents.offered:SELECT",
        "mcl.plugins.agents.offered:COMPLETE",
        "mcl.plugins.agents.offered:RELEASE",
    ),
    checkouts="mcl.plugins.agents.governed:GovernedFolders",
)
