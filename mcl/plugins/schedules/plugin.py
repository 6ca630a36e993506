"""Schedules: what was signed once, and runs at its moments."""

from mcl.plugins.hooks import Plugin

PLUGIN = Plugin(
    "schedules",
    __name__,
    commands={"schedule": "mcl.plugins.schedules.cli:schedule"},
)
