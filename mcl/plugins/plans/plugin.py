"""Plans looked at: judged, compared and drawn."""

from mcl.plugins.hooks import Plugin

PLUGIN = Plugin("plans", __name__, commands={"plan": "mcl.plugins.plans.cli:plans"})
