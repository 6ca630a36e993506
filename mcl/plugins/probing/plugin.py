"""Tools held to what is said of them: their contracts, and what their examples are seen to do."""

from mcl.plugins.hooks import Plugin

PLUGIN = Plugin(
    "probing",
    __name__,
    commands={
        "tool check": "mcl.plugins.probing.cli:register_check",
        "tool contracts": "mcl.plugins.probing.cli:register_contracts",
    },
)
