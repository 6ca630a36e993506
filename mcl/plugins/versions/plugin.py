"""What a git repository holds, and commits, merges, tags and pushes in it."""

from mcl.plugins.hooks import Plugin

PLUGIN = Plugin(
    "versions",
    __name__,
    tools=(
        "git/add",
        "git/branch",
        "git/checkout",
        "git/commit",
        "git/deliver",
        "git/diff",
        "git/drop",
        "git/log",
        "git/merge",
        "git/push",
        "git/remote",
        "git/show",
        "git/status",
        "git/switch",
        "git/tag",
        "repo/inspect",
        "repo/tree",
    ),
    skills=True,
    fills={
        "branch-delete": "mcl.plugins.versions.spoken:read_drop",
        "branch-switch": "mcl.plugins.versions.spoken:read_switch",
        "branch-unmerged": "mcl.plugins.versions.spoken:read_unmerged",
        "branch-merge": "mcl.plugins.versions.spoken:read_merge",
        "changes-discard": "mcl.plugins.versions.spoken:read_discard",
        "commit-search": "mcl.plugins.versions.spoken:read_log",
        "git-commit": "mcl.plugins.versions.spoken:read_commit",
        "git-push": "mcl.plugins.versions.spoken:read_push",
        "git-tag": "mcl.plugins.versions.spoken:read_tag",
        "repo-status": "mcl.plugins.versions.spoken:read_state",
        "repo-branch": "mcl.plugins.versions.spoken:read_branch",
    },
)
