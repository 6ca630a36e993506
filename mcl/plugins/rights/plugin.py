"""What a person grants, approves and signs with, as they have it before them."""

from mcl.plugins.hooks import Plugin

PLUGIN = Plugin(
    "rights",
    __name__,
    commands={
        "grant": "mcl.plugins.rights.cli.grant:register",
        "policy": "mcl.plugins.rights.cli.grant:register",
        "key": "mcl.plugins.rights.cli.key:register",
        "gate": "mcl.plugins.rights.cli.gate:register",
        "agent": "mcl.plugins.rights.cli.agent:register",
        "tool approve": "mcl.plugins.rights.cli.tools:register",
        "tool reject": "mcl.plugins.rights.cli.tools:register",
        "tool quarantine": "mcl.plugins.rights.cli.tools:register",
    },
)
