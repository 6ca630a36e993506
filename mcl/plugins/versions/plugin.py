"""Commits, merges, tags and pushes in git repositories."""

from mcl.plugins.hooks import Plugin

PLUGIN = Plugin(
    "versions",
    __name__,
    tools=(
        "git/add",
        "git/commit",
        "git/deliver",
        "git/drop",
        "git/merge",
        "git/push",
        "git/remote",
        "git/tag",
    ),
    skills=True,
    fills={
        "branch-delete": "mcl.plugins.versions.spoken:read_drop",
        "branch-merge": "mcl.plugins.versions.spoken:read_merge",
        "commit-search": "mcl.plugins.versions.spoken:read_log",
        "git-commit": "mcl.plugins.versions.spoken:read_commit",
        "git-tag": "mcl.plugins.versions.spoken:read_tag",
        "repo-branch": "mcl.plugins.versions.spoken:read_branch",
    },
)
