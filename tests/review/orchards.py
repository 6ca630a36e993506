"""Repositories for maps: folders with a real git history."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from executor.sandbox.paths import Workspace
from mcl.core.event_loop import at_once
from mcl.plugins.review.maps.maps import Maps
from mcl.plugins.review.maps.survey import survey

WHO = {
    **{f"GIT_{who}_NAME": "Ada" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_EMAIL": "ada@example.org" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_CONFIG_{which}": os.devnull for which in ("GLOBAL", "SYSTEM")},
}


def git(folder: Path, *arguments: str, **more: str) -> str:
    """What git says in a folder. more: variables, such as GIT_AUTHOR_NAME."""
    environment = {**os.environ, **WHO, **more}
    done = subprocess.run(["git", *arguments], cwd=folder, env=environment, capture_output=True, check=True)
    return done.stdout.decode("utf-8", "surrogateescape").strip()


def write(folder: Path, files: Mapping[str, str | bytes]) -> None:
    """Write files below a folder."""
    for path, content in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content if isinstance(content, bytes) else content.encode())


def begun(folder: Path, files: Mapping[str, str | bytes] | None = None) -> Path:
    """A repository without a commit."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q", "-b", "main", "--template=")
    write(folder, files or {})
    return folder


def commit(folder: Path, at: str, by: str = "Ada") -> str:
    """Commit all that is there; at: ISO 8601. The commit."""
    git(folder, "add", "-A")
    git(
        folder,
        *("commit", "-q", "--allow-empty", "-m", "Change"),
        GIT_AUTHOR_NAME=by,
        GIT_AUTHOR_DATE=at,
        GIT_COMMITTER_DATE=at,
    )
    return git(folder, "rev-parse", "HEAD")


ORCHARD = {
    "README.md": "# Orchard\n",
    "pyproject.toml": "[project]\nname = 'orchard'\n",
    "orchard/__init__.py": "from orchard.tree import Tree\n\n__all__ = ['Tree']\n",
    "orchard/__main__.py": "from orchard import Tree\n\nprint(Tree())\n",
    "orchard/tree.py": (
        "from .fruit import Fruit\n\nHEIGHT: int = 3\n\n\nclass Tree(list):\n"
        '    def pick(self, n: int, secret="hunter2hunter2") -> "Fruit":\n        return Fruit()\n\n'
        "    def _own(self):\n        pass\n"
    ),
    "orchard/fruit.py": "class Fruit:\n    pass\n\n\ndef ripe(one):\n    return True\n\n\ndef _raw(): ...\n",
    "tests/test_tree.py": "from orchard.fruit import Fruit\n\n\ndef test_tree():\n    assert Fruit()\n",
}


@cache
def _template() -> TemporaryDirectory[str]:
    """The repository, to be copied: making it takes longer."""
    place = TemporaryDirectory()
    folder = begun(Path(place.name), ORCHARD)
    commit(folder, "2026-01-05T10:00:00Z")
    write(folder, {"orchard/fruit.py": ORCHARD["orchard/fruit.py"] + "\n\nSWEET = 1\n"})
    commit(folder, "2026-02-05T10:00:00Z", by="Grace")
    return place


def orchard(folder: Path) -> Path:
    """A repository with a package, its tests, and two commits by two people."""
    shutil.copytree(_template().name, folder, dirs_exist_ok=True)
    return folder


def build(workspace: Workspace, *, reviews: Mapping[str, str] | None = None, **more: Any) -> Maps:
    """The maps of a workspace, as they are made."""
    return at_once(partial(survey, workspace, **more)).maps(reviews)
