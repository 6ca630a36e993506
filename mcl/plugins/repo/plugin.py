"""Goals that are one command in one of several repositories."""

from mcl.plugins.hooks import Plugin

PLUGIN = Plugin(
    "repo",
    __name__,
    commands={"repo": "mcl.plugins.repo.cli.repositories:repo_verbs"},
    tools=("code/grep", "code/search", "repo/help", "repo/list", "repo/switch", "repo/where"),
)
