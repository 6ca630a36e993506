"""Models that are here already, models of a hub, and what a model is good for."""

from mcl.plugins.hooks import Plugin

PLUGIN = Plugin(
    "weights",
    __name__,
    commands={
        "model find": "mcl.plugins.weights.cli:register_find",
        "model get": "mcl.plugins.weights.cli:register_get",
        "model check": "mcl.plugins.weights.cli:register_check",
    },
)
