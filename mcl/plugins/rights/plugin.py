"""What a person grants, approves and signs with, as they have it before them."""

from mcl.plugins.hooks import Plugin

PLUGIN = Plugin(
    "rights",
    __name__,
    commands={
        "grant": "mcl.plugins.rights.cli.grant:grants",
        "policy": "mcl.plugins.rights.cli.grant:policy",
        "key": "mcl.plugins.rights.cli.key:keys",
        "gate": "mcl.plugins.rights.cli.gate:gates",
        "agent": "mcl.plugins.rights.cli.agent:agents",
        "tool approve": "mcl.plugins.rights.cli.tools:verbs",
        "tool reject": "mcl.plugins.rights.cli.tools:verbs",
        "tool quarantine": "mcl.plugins.rights.cli.tools:verbs",
    },
)
