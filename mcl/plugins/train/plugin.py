"""The bundled form of model, tuned on skills that are not its own."""

from mcl.plugins.hooks import Plugin

PLUGIN = Plugin(
    "train",
    __name__,
    commands={"model tune": "mcl.plugins.train.cli:register"},
)
