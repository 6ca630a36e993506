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
    from typing import Final

    from mcl.core.errors import InputError

DISTRIBUTION: Final = "mcl-intent"


def install_line(extra: str = "", of: str = DISTRIBUTION) -> str:
    """The command that installs an extra (`mcp`, `graph`) into the environment that runs this; ""
    installs all that mcl always needs. of: the distribution that the extra is of, ours or a plug-in's."""
    return _pip("install", *(_wanted(extra) if of == DISTRIBUTION else _wanted_of(of, extra)))


def _pip(*words: str) -> str:
    import shlex  # here, as all of these: the version is asked for at every start

    pip, there = [sys.executable, "-m", "pip"], []
    if find_spec("pip") is None:
        pip, there = ["uv", "pip"], ["--python", sys.executable]
    return shlex.join([*pip, words[0], *there, *words[1:]])


def is_installed(*modules: str) -> bool:
    """Whether all of these modules can be imported here."""
    return all(find_spec(module) is not None for module in modules)


def extra_missing(extra: str, message: str, *, place: str = "", of: str = DISTRIBUTION) -> InputError:
    """What is raised where an extra is needed that is not installed: EXTRA_MISSING, with the line that
    installs it."""
    from ir.errors import REFUSED
    from mcl.core.errors import InputError

    fix = install_line(extra, of)
    return InputError("EXTRA_MISSING", message, place=place, fix=fix, exit=REFUSED, data={"extra": extra})


def require_sdk(*more: str) -> None:
    """Raise InputError EXTRA_MISSING where what speaks MCP is not installed: the SDK, and more modules."""
    missing = [module for module in ("mcp", *more) if not is_installed(module)]
    if missing:
        raise extra_missing("mcp", f"the parts that speak MCP are not installed: {', '.join(missing)}")


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


def _wanted_of(name: str, extra: str) -> list[str]:
    """The same of somebody else's distribution, which the index may have."""
    from importlib import metadata

    source = _source(metadata.distribution(name).read_text("direct_url.json") or "")
    return [f"{source or name}[{extra}]"]


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


def entry_points_of(group: str) -> list[EntryPoint]:
    """The entry points of a group, of all distributions beside this one.

    Python's reader of metadata takes 30 ms to be imported, so it is asked only where there is something to
    read.
    """
    if not any(_names_group(place, group) for place in sys.path):
        return []
    from importlib.metadata import entry_points

    return [*entry_points(group=group)]


def broken_plugin(name: str, why: str, of: str) -> InputError:
    """What is raised where a plug-in cannot be loaded: PLUGIN_BROKEN. of: its distribution."""
    from mcl.core.errors import InputError

    again = f"install it again: {install_line()} --force-reinstall --no-deps"
    fix = again if of == DISTRIBUTION else f"mend it, or take it away: {_pip('uninstall', of)}"
    return InputError("PLUGIN_BROKEN", f"the plug-in {name} cannot be loaded: {why}", place=name, fix=fix)


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
