"""Commits, merges, tags and pushes in git repositories."""

from mcl.plugins.hooks import Plugin

PLUGIN = Plugin(
    "versions",
    __name__,
    tools=("git/add", "git/commit", "git/drop", "git/merge", "git/push", "git/remote", "git/tag"),
    skills=True,
)
