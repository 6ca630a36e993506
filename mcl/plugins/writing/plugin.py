"""Skills in which a model writes."""

from mcl.plugins.hooks import Plugin

PLUGIN = Plugin("writing", __name__, skills=True)
