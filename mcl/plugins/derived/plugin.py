"""Skills that are derived from tools: approved ones of other servers, and declared commands; targets of build
files become such commands."""

from mcl.plugins.hooks import Plugin

PLUGIN = Plugin(
    "derived",
    __name__,
    commands={"skill import": "mcl.plugins.derived.cli:register"},
    services="mcl.plugins.derived.services:add_service",
    derived="mcl.plugins.derived.catalogue:derived_skills",
)
