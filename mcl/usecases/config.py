"""What holds for every goal of a home: listed, looked up, chosen."""

from dataclasses import dataclass

from executor.store.home import Home
from mcl.core.environment import SYSTEM
from mcl.core.errors import InputError
from mcl.core.home import open_home
from mcl.core.settings import SETTINGS, choose_setting, chosen_settings, chosen_zone, zone_here
from mcl.usecases.models import Models

MODEL = "model"  # chosen as `mcl model use` does; it stands in no file, as the model's digest is kept with it


@dataclass(frozen=True)
class ConfigEntry:
    """A setting as it counts. chosen: by a person; says: what it is for."""

    name: str
    value: str
    chosen: bool
    says: str


def list_settings(*, home: Home | None = None) -> tuple[ConfigEntry, ...]:
    """All of them. Raises InputError CONFIG_BROKEN."""
    home = home or open_home()
    chosen = chosen_settings(home.path)
    found = [
        ConfigEntry(one.name, chosen.get(one.name) or one.default, one.name in chosen, one.says)
        for one in SETTINGS.values()
        if one.name != "zone"
    ]
    named = chosen_zone(home)
    zone = ConfigEntry("zone", named, named != SYSTEM, SETTINGS["zone"].says)
    used = next(one.name for one in Models(home).list() if one.in_use)
    model = ConfigEntry(MODEL, used, used != "bundled", "which model compiles: a name of mcl model list")
    return (zone, *found, model)


def get_setting(name: str, *, home: Home | None = None) -> ConfigEntry:
    """One of them. Raises InputError CONFIG_UNKNOWN, CONFIG_BROKEN."""
    known = list_settings(home=home)
    found = next((one for one in known if one.name == name), None)
    if found is None:
        fix = f"one of: {', '.join(one.name for one in known)}"
        raise InputError("CONFIG_UNKNOWN", f"there is no setting {name!r}", place=name, fix=fix)
    return found


def set_setting(name: str, value: str, *, home: Home | None = None) -> ConfigEntry:
    """Choose one, or with "" take the choice back. Raises InputError CONFIG_UNKNOWN, CONFIG_VALUE,
    ZONE_UNKNOWN, CONFIG_BROKEN; ModelError; HomeError, OSError where the home cannot be written to."""
    home = home or open_home()
    if name == MODEL:
        Models(home).use(value or "bundled")
    else:
        choose_setting(home.path, name, value)
    return get_setting(name, home=home)


def zone(name: str | None = None, *, home: Home | None = None) -> tuple[str, bool]:
    """Choose a zone for the home, or "system" for the machine's; None changes nothing. Gives the zone that
    goals are read in from now on, and whether it is a chosen one. Raises InputError ZONE_UNKNOWN, HomeError.
    """
    home = home or open_home()
    if name is not None:
        choose_setting(home.path, "zone", name)
    return zone_here(home), chosen_zone(home) != SYSTEM


list, get, set = list_settings, get_setting, set_setting
