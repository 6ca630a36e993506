"""The time zone that a person's days and times of day are meant in."""

from executor.store.home import Home
from mcl.core.environment import SYSTEM, choose_zone, chosen_zone, zone_here
from mcl.core.home import open_home


def zone(name: str | None = None, *, home: Home | None = None) -> tuple[str, bool]:
    """Choose a zone for the home, or "system" for the machine's; None changes nothing. Gives the zone that
    goals are read in from now on, and whether it is a chosen one. Raises InputError ZONE_UNKNOWN, HomeError.
    """
    home = home or open_home()
    if name is not None:
        choose_zone(home, name)
    return zone_here(home), chosen_zone(home) != SYSTEM
