"""What this installation is called among Python's packages, the line that installs more of it, and what is
installed beside it.

The index of packages has somebody else's `mcl`, and nothing of ours: a line that named us there would install
a stranger's program. So the line leads to the checkout or the file that this installation was made from, and
where that is gone it names what the extra is made of.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from importlib.util import find_spec

# Every process of mcl asks for the version here, each hook of an agent's host above all: paths and types are
# imported where they are needed, which saves a third of the time that a hook takes.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.metadata import EntryPoint
    from pathlib import Path
    from typing import Any, Final

DISTRIBUTION: Final = "mcl-intent"


def install_line(extra: str = "") -> str:
    """The command that installs an extra (`mcp`, `graph`, `train`) into the environment that runs this; ""
    installs all that mcl always needs."""
    import shlex  # here, as all of these: the version is asked for at every start

    pip = [sys.executable, "-m", "pip", "install"]
    if find_spec("pip") is None:
        pip = ["uv", "pip", "install", "--python", sys.executable]
    return shlex.join([*pip, *_wanted(extra)])


def is_installed(*modules: str) -> bool:
    """Whether all of these modules can be imported here."""
    return all(find_spec(module) is not None for module in modules)


def require_sdk(*more: str) -> None:
    """Raise InputError MCP_MISSING where what speaks MCP is not installed: the SDK, and more modules."""
    missing = [module for module in ("mcp", *more) if not is_installed(module)]
    if missing:
        from mcl.core.errors import InputError

        message = f"the parts that speak MCP are not installed: {', '.join(missing)}"
        raise InputError("MCP_MISSING", message, fix=install_line("mcp"))


def _wanted(extra: str) -> list[str]:
    from importlib import metadata  # slow to load, and messages alone need it
    from pathlib import Path

    root, named = Path(__file__).resolve().parents[2], f"[{extra}]" if extra else ""
    if (root / "pyproject.toml").is_file():
        return ["-e", f"{root}{named}"]
    try:
        installed = metadata.distribution(DISTRIBUTION)
    except metadata.PackageNotFoundError:  # sources that were copied here
        return [f"{root}{named}"]
    if source := _source(installed.read_text("direct_url.json") or ""):
        return [f"{source}{named}"]
    parted = (one.partition(";") for one in installed.requires or ())
    needed_by = ["extra", "==", f"'{extra}'"] if extra else []
    return [need.strip() for need, _, when in parted if when.split() == needed_by]


def _source(origin: str) -> Path | None:
    """The file or folder that it was installed from, while it is there; as pip and uv write it down."""
    import json
    from pathlib import Path
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    try:
        url = urlsplit(json.loads(origin)["url"])
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
    path = Path(url2pathname(url.path)) if url.scheme == "file" else None
    return path if path is not None and path.name and path.exists() else None


def entry_points_of(group: str) -> list[Any]:
    """What the entry points of a group lead to, of all distributions beside this one. Raises InputError
    PLUGIN_BROKEN.

    Python's reader of metadata takes 30 ms to be imported, so it is asked only where there is something to
    read.
    """
    if not any(_names_group(place, group) for place in sys.path):
        return []
    from importlib.metadata import entry_points

    return [_loaded(entry) for entry in entry_points(group=group)]


def _loaded(entry: EntryPoint) -> Any:
    try:
        return entry.load()
    except Exception as problem:
        from mcl.core.errors import InputError  # help waits for none of it

        message = f"the plug-in {entry.name} cannot be loaded: {type(problem).__name__}: {problem}"
        fix = f"take it away, or mend it: {entry.value}"
        raise InputError("PLUGIN_BROKEN", message, place=entry.name, fix=fix) from problem


def _names_group(place: str, group: str) -> bool:
    """Whether a folder of packages has metadata that names a group."""
    heading = f"[{group}]".encode()
    with suppress(OSError):
        for entry in os.scandir(place or "."):
            if entry.name.endswith(".dist-info"):
                with suppress(OSError), open(f"{entry.path}/entry_points.txt", "rb") as file:  # noqa: PTH123
                    if heading in file.read():
                        return True
    return False


# ---- Which version of mcl this is.

VERSION = "0.1.0"
