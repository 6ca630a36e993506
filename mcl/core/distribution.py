"""What this installation is called among Python's packages, and the line that installs more of it.

The index of packages has somebody else's `mcl`, and nothing of ours: a line that named us there would install
a stranger's program. So the line leads to the checkout or the file that this installation was made from, and
where that is gone it names what the extra is made of.
"""

import json
import shlex
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Final

DISTRIBUTION: Final = "mcl-intent"


def install_line(extra: str) -> str:
    """The command that installs an extra (`mcp`, `graph`, `train`) into the environment that runs this."""
    pip = [sys.executable, "-m", "pip", "install"]
    if find_spec("pip") is None:
        pip = ["uv", "pip", "install", "--python", sys.executable]
    return shlex.join([*pip, *_wanted(extra)])


def _wanted(extra: str) -> list[str]:
    from importlib import metadata  # slow to load, and messages alone need it

    root = Path(__file__).resolve().parents[2]
    if (root / "pyproject.toml").is_file():
        return ["-e", f"{root}[{extra}]"]
    try:
        installed = metadata.distribution(DISTRIBUTION)
    except metadata.PackageNotFoundError:  # sources that were copied here
        return [f"{root}[{extra}]"]
    if source := _source(installed.read_text("direct_url.json") or ""):
        return [f"{source}[{extra}]"]
    parted = (one.partition(";") for one in installed.requires or ())
    return [need.strip() for need, _, when in parted if when.split() == ["extra", "==", f"'{extra}'"]]


def _source(origin: str) -> Path | None:
    """The file or folder that it was installed from, while it is there; as pip and uv write it down."""
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    try:
        url = urlsplit(json.loads(origin)["url"])
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
    path = Path(url2pathname(url.path)) if url.scheme == "file" else None
    return path if path is not None and path.name and path.exists() else None
