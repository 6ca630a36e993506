"""What a person chose for a home, in its file `config.toml`, which they may write by hand.

Only what was chosen stands there; a comment above each says what else may. Reading it loads nothing where
there is no such file, as in most homes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mcl.core.environment import SYSTEM, system_zone, zone_of
from mcl.core.errors import InputError

if TYPE_CHECKING:
    from executor.store.home import Home

FILE: Final = "config.toml"
_LONGEST: Final = 1 << 16  # bytes of the file


@dataclass(frozen=True, slots=True)
class HomeSetting:
    """One thing that may be chosen. says: what it is for; default: what counts where nothing is chosen;
    words: what may be chosen, () where `read` alone says. read: the text as it is kept; raises InputError."""

    name: str
    says: str
    default: str
    words: tuple[str, ...] = ()
    read: Callable[[str], str] = str


def _zone(text: str) -> str:
    return text if text == SYSTEM else zone_of(text)


SETTINGS: Final[Mapping[str, HomeSetting]] = {
    one.name: one
    for one in (
        HomeSetting(
            "zone",
            "where days and times of day in goals are meant: a zone such as Europe/Stockholm, or system",
            "system",
            read=_zone,
        ),
        HomeSetting(
            "language",
            "in which mcl do asks: en, sv, or system (as $LANG says)",
            "system",
            ("system", "en", "sv"),
        ),
        HomeSetting(
            "do.reads",
            "whether mcl do runs at once what only reads (run), or asks about it too (ask)",
            "run",
            ("run", "ask"),
        ),
        HomeSetting("colours", "auto (on a terminal), always or never", "auto", ("auto", "always", "never")),
    )
}


def chosen_settings(folder: Path) -> dict[str, str]:
    """What was chosen for the home in this folder, by name. Raises InputError CONFIG_BROKEN."""
    place = folder / FILE
    try:
        with place.open("rb") as file:
            data = file.read(_LONGEST + 1)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise _broken(place, error.strerror or str(error)) from error
    import tomllib

    try:
        if len(data) > _LONGEST:
            raise ValueError(f"it has more than {_LONGEST:,} bytes")
        document = tomllib.loads(data.decode())
    except ValueError as error:
        raise _broken(place, str(error)) from error
    return {name: _checked(place, name, value) for name, value in _flat(document)}


def setting(folder: Path, name: str) -> str:
    """What counts of one of SETTINGS. Raises InputError CONFIG_BROKEN."""
    return chosen_settings(folder).get(name) or SETTINGS[name].default


def choose_setting(folder: Path, name: str, text: str) -> str:
    """Choose one, or with "" take the choice back; gives what counts from now on. Raises InputError
    CONFIG_VALUE, ZONE_UNKNOWN, CONFIG_BROKEN; OSError."""
    from executor.core.files import locked, whole_file

    value = valid_setting(name, text) if text else ""
    with locked(folder / f".{FILE}.lock"):
        chosen = {**chosen_settings(folder), name: value}
        with whole_file(folder / FILE, spare=f".{FILE}.new") as file:
            file.write(_written({one: said for one, said in chosen.items() if said}).encode())
    return value or SETTINGS[name].default


def valid_setting(name: str, text: str) -> str:
    """A choice as it is kept. Raises InputError CONFIG_UNKNOWN, CONFIG_VALUE, ZONE_UNKNOWN."""
    known = SETTINGS.get(name)
    if known is None:
        fix = f"one of: {', '.join(SETTINGS)}"
        raise InputError("CONFIG_UNKNOWN", f"there is no setting {name!r}", place=name, fix=fix)
    if known.words and text not in known.words:
        fix = f"one of: {', '.join(known.words)}"
        raise InputError("CONFIG_VALUE", f"{name} cannot be {text!r}", place=name, fix=fix)
    return known.read(text)


# ---- What some of them come to.

_TABLES: Final = ("CREATE TABLE zone (one INTEGER PRIMARY KEY CHECK (one = 1), name TEXT NOT NULL) STRICT;",)


def chosen_zone(home: Home) -> str:
    """The zone that was chosen for a home, or SYSTEM. Homes of before `config.toml` have it in a table."""
    if chosen := chosen_settings(home.path).get("zone"):
        return chosen
    home.db.migrate("zone", _TABLES)
    rows = home.db.read("SELECT name FROM zone")
    return str(rows[0][0]) if rows else SYSTEM


def zone_here(home: Home) -> str:
    """The IANA name of the zone of whoever uses a home: the chosen one, else the system's. Raises InputError
    ZONE_UNKNOWN where the system's has no name."""
    chosen = chosen_zone(home)
    return system_zone() if chosen == SYSTEM else zone_of(chosen)


def language_here(folder: Path) -> str:
    """ "en" or "sv": what was chosen, else what the environment says."""
    chosen = setting(folder, "language")
    if chosen != "system":
        return chosen
    said = next((os.environ[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if os.environ.get(name)), "")
    return "sv" if said.lower().startswith("sv") else "en"


def _flat(document: Mapping[str, Any], above: str = "") -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for name, value in document.items():
        found += _flat(value, f"{above}{name}.") if isinstance(value, dict) else [(f"{above}{name}", value)]
    return found


def _checked(place: Path, name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise _broken(place, f"{name} is no text in quotes")
    try:
        return valid_setting(name, value)
    except InputError as error:
        raise _broken(place, f"{error.message} ({error.fix})") from error


def _broken(place: Path, why: str) -> InputError:
    return InputError(
        "CONFIG_BROKEN",
        f"the settings cannot be read: {why}",
        place=str(place),
        fix="mend the file, or remove it",
    )


def _written(chosen: Mapping[str, str]) -> str:
    """The file: each setting with what it is for; what is not chosen stands as a comment."""
    lines, table = ["# What holds for every goal of this home: mcl config, or by hand."], ""
    for one in sorted(SETTINGS.values(), key=lambda one: one.name.rpartition(".")[0]):
        above, _, name = one.name.rpartition(".")
        if above != table:
            lines += ["", f"[{above}]"]
            table = above
        value = chosen.get(one.name, one.default)
        lines += ["", f"# {one.says}", f'{"" if one.name in chosen else "# "}{name} = "{value}"']
    return "\n".join(lines) + "\n"
