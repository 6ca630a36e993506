"""Work that coding agents check out, and the hooks of their hosts."""

from mcl.plugins.hooks import Plugin

PLUGIN = Plugin(
    "agents",
    __name__,
    commands={
        "work": "mcl.plugins.agents.cli.commands:register",
        "hook": "mcl.plugins.agents.cli.hook:register",
    },
    offered=(
        "mcl.plugins.agents.offered.list_active_intents:OFFERED",
        "mcl.plugins.agents.offered.select_active_intent:OFFERED",
        "mcl.plugins.agents.offered.complete_intent:OFFERED",
        "mcl.plugins.agents.offered.release_active_intent:OFFERED",
    ),
    checkouts="mcl.plugins.agents.governed.here:Here",
)
