"""Goals that are one command in one of several repositories."""

from mcl.plugins.hooks import Plugin

PLUGIN = Plugin(
    "repo",
    __name__,
    commands={"repo": "mcl.plugins.repo.cli.repositories:register"},
    tools=(
        "code/grep",
        "code/search",
        "process/editor",
        "process/lint",
        "process/mqlaunch",
        "process/tests",
        "repo/help",
        "repo/list",
        "repo/switch",
        "repo/where",
    ),
)
