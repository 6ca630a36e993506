"""Everyday work with files, and the skills by which goals reach it."""

from mcl.plugins.hooks import Plugin

PLUGIN = Plugin(
    "files",
    __name__,
    tools=(
        "fs/arrange",
        "fs/changes",
        "fs/compare",
        "fs/contents",
        "fs/copy",
        "fs/count",
        "fs/duplicates",
        "fs/find",
        "fs/largest",
        "fs/mkdir",
        "fs/move",
        "fs/remove",
        "fs/rename",
        "fs/search",
        "fs/unzip",
        "fs/watch",
        "fs/zip",
    ),
    skills=True,
    chooses="mcl.plugins.files.choice.selections:FileChoice",
    fills={
        "code-search": "mcl.plugins.files.choice.searched:read_searched_code",
        "file-locate": "mcl.plugins.files.choice.narrowed:read_located",
        "files-count": "mcl.plugins.files.choice.narrowed:read_counted",
        "files-find": "mcl.plugins.files.choice.narrowed:read_found",
        "files-largest": "mcl.plugins.files.choice.narrowed:read_ranked",
        "files-recent": "mcl.plugins.files.choice.narrowed:read_ranked",
    },
)
