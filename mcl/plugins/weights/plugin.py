"""The models of a home, those that are here already, models of a hub, and what a model is good for."""

from mcl.plugins.hooks import Plugin

PLUGIN = Plugin("weights", __name__, commands={"model": "mcl.plugins.weights.cli:models"})
