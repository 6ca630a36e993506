"""Grants, the policy, keys and agents as a person has them before them."""

from mcl.plugins.hooks import Plugin

PLUGIN = Plugin(
    "rights",
    __name__,
    commands={
        "grant": "mcl.plugins.rights.cli.grant:register",
        "policy": "mcl.plugins.rights.cli.grant:register",
        "key": "mcl.plugins.rights.cli.key:register",
        "agent": "mcl.plugins.rights.cli.agent:register",
    },
)
