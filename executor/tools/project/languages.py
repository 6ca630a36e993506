"""Which files a language is written in: languages.toml."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from executor.core.errors import ToolError


def globs_of(language: str) -> tuple[str, ...]:
    """The patterns of file names of a language, by any of its names in any case.

    Raises:
        ToolError: UNKNOWN_LANGUAGE, with the names that are near.
    """
    table = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    also: dict[str, str] = table.pop("also")
    name = language.strip().lower()
    if (globs := table.get(also.get(name, name))) is None:
        from difflib import get_close_matches  # a cost at every start, for a rare mistake

        near = get_close_matches(name, [*table, *also], n=3)
        raise ToolError(
            "UNKNOWN_LANGUAGE",
            f"{language!r} is no language known here",
            place="language",
            fix=f"did you mean {' or '.join(near)}?" if near else "give glob instead, such as '*.py'",
        )
    return tuple(globs)


def languages_of(paths: Iterable[str]) -> dict[str, int]:
    """How many of these files are written in each language, most first; files of no language are left out."""
    found = Counter(filter(None, map(language_of, paths)))
    return dict(sorted(found.items(), key=lambda one: (-one[1], one[0])))


def language_of(path: str) -> str:
    """The language that a file is written in, by its name; "" for none. Of several that share an ending the
    first in the table counts."""
    known = _endings()
    name = path.rpartition("/")[2]
    dot = name.rfind(".")
    return known.get(name) or (known.get(name[dot:].lower(), "") if dot >= 0 else "")


@cache
def _endings() -> dict[str, str]:
    """The language of a pattern that is a name, or of the ending of one."""
    table = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    del table["also"]
    known: dict[str, str] = {}
    for language, globs in table.items():
        for glob in globs:
            known.setdefault(glob.removeprefix("*"), language)
    return known
