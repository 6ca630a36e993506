"""Memories as a person has them before them."""

from mcl.plugins.hooks import Plugin

PLUGIN = Plugin(
    "memories",
    __name__,
    commands={"memory": "mcl.plugins.memories.cli:memory"},
    tools=("cortex/find", "cortex/put"),
)
