"""Skills that are derived from tools: approved ones of other servers, and declared commands."""

from mcl.plugins.hooks import Plugin

PLUGIN = Plugin("derived", __name__, derived="mcl.plugins.derived.catalogue:derived_skills")
