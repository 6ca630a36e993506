"""A sound repository: everything that it says of itself is so."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import anyio

from executor.core.clock import SystemClock
from executor.sandbox.paths import Workspace
from mcl.plugins.review.drift.tree import RepositoryTree, look

ENVIRONMENT = {
    **{f"GIT_{who}_NAME": "Ada" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_EMAIL": "ada@example.org" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_DATE": "2026-11-22T10:00:00Z" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_CONFIG_{which}": os.devnull for which in ("GLOBAL", "SYSTEM")},
}
FILES = {
    "pyproject.toml": """[project]
name = "shop"
version = "1.4.0"
readme = "README.md"
license-files = ["LICENSE"]

[project.scripts]
shop = "shop.till:main"
""",
    "VERSION": "1.4.0\n",
    "package.json": '{"name": "shop", "version": "1.4.0", "scripts": {"build": "true"}}\n',
    "Cargo.toml": '[package]\nname = "shop"\nversion = "1.4.0"\n',
    "setup.cfg": "[metadata]\nname = shop\nversion = 1.4.0\n",
    "CHANGELOG.md": "# Changelog\n\n## [1.4.0] - 2026-11-20\n\n- Sells apples.\n\n## 1.3.0\n\n- Opens.\n",
    "LICENSE": "Apache License\n",
    "Makefile": ".PHONY: check test\ncheck:\n\ttrue\ntest:\n\t@echo all is well\n",
    "README.md": """# Shop

![version](https://img.shields.io/badge/version-1.4.0-blue)

```console
$ pip install shop==1.4.0
$ python -m shop.till
$ python scripts/count.py && make check
$ npm run build
```

```python
from shop.till import main
```

The tools are `sell` and `count`. See [the guide](docs/guide.md#selling).
""",
    "docs/guide.md": "# Guide\n\n## Selling\n\n```sh\npython scripts/count.py --all\n```\n",
    "docs/tool_contracts.json": json.dumps(
        {
            "count": 2,
            "tools": [{"name": "sell", "class": "C"}, {"name": "count", "class": "A"}],
        }
    ),
    "docs/TOOL_SAFETY.md": "# Safety\n\n| tool | class |\n|---|---|\n| `sell` | C |\n| `count` | A |\n",
    "scripts/count.py": "print(3)\n",
    "shop/__init__.py": '__version__ = "1.4.0"\n',
    "shop/till.py": "def main():\n    return 0\n",
    "shop/server.py": """from somewhere import mcp


@mcp.tool()
def sell():
    return 1


@mcp.tool(name="count")
def counted():
    return 2
""",
    ".gitignore": "/generated/\n",
}


def git(folder: Path, *arguments: str) -> str:
    """What git says in a folder."""
    done = subprocess.run(
        ["git", *arguments],
        cwd=folder,
        env={**os.environ, **ENVIRONMENT},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def sound(folder: Path) -> Path:
    """Make it, with all in one commit."""
    for path, text in FILES.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    git(folder, "init", "-q", "-b", "main", "--template=")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "Open the shop")
    return folder


def write(folder: Path, path: str, text: str) -> None:
    """Put a file there, with the folders on its way."""
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_text(text)


def looked(folder: Path) -> RepositoryTree:
    """A folder as it is looked at."""
    return anyio.run(look, Workspace(folder), SystemClock())
