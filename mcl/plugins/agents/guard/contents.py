"""Whether git shows what is in files that a command does not name: any tracked one, secret or not."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

_OF_A_VERSION: Final = re.compile(r"(?:[^:{}*?\[\]\\]+|:[0-3]):(?![/!^(])[^*?\[\]\\]+\Z")  # HEAD:a, :0:a
_MAGIC: Final = frozenset(":*?[\\")  # with which one name stands for several files


def shows_unnamed(
    row: Mapping[str, Any], used: Collection[str], operands: Sequence[str], marked: int | None, cwd: str
) -> bool:
    """Whether git shows what is in files that were not named one by one.

    row: of the command: shows, whether it shows contents anyway, but for the options of `hiding`; showing,
    options with which it does. marked: how many operands stand before `--`, None where that is not there.
    """
    options = set(used)
    if not (options & set(row.get("showing", ())) or (row.get("shows") and not options & set(row["hiding"]))):
        return False
    if row.get("versions") and operands and all(map(_OF_A_VERSION.match, operands)):
        return False
    # Without `--` git refuses what may be a version and a file, and files that are not there.
    named = operands[marked:] if marked is not None else [one for one in operands if _is_there(one, cwd)]
    return (
        not named or not all(_is_one_file(one, cwd) for one in named) or (marked is None and _mixed(operands))
    )


def _mixed(operands: Sequence[str]) -> bool:
    """Whether an operand may stand for several files. Of versions, `HEAD^{/x}` and `HEAD@{1}` do not."""
    return any(_MAGIC & set(one) for one in operands)


def _is_there(path: str, cwd: str) -> bool:
    return os.path.lexists(os.path.join(cwd, path))  # noqa: PTH118


def _is_one_file(path: str, cwd: str) -> bool:
    if _MAGIC & set(path):
        return False
    try:
        return stat.S_ISREG(os.lstat(os.path.join(cwd, path)).st_mode)  # noqa: PTH118
    except (OSError, ValueError):
        return False
