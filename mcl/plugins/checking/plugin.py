"""The journal as a person has it before them, and what was signed and done, looked at again."""

from mcl.plugins.hooks import Plugin

PLUGIN = Plugin(
    "checking",
    __name__,
    commands={
        "plan": "mcl.plugins.checking.cli:plans",
        "log": "mcl.plugins.checking.cli:log",
        "replay": "mcl.plugins.checking.cli:checks",
        "verify": "mcl.plugins.checking.cli:checks",
    },
)
