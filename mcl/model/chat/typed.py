"""Which runs of words of a goal are of a slot's type, where code can tell: a number, an amount, an address.

A model that may answer with nothing else cannot take a word for a number.
"""

from collections.abc import Sequence

from mcl.model.form import Unit
from mcl.values.slots import read_slot

# Types that are read from their words alone; what a time means depends on when it is said.
_TYPES = frozenset(["uint", "float", "bool", "ulid", "sha256", "did", "AssetAmount"])
_MOST_WORDS = 5
_LONGEST = 80
_MOST_UNITS = 512


def readable(prose: str, units: Sequence[Unit], type_: str, name: str) -> tuple[str, ...] | None:
    """The different runs of at most five words that read as a slot's type, in the order of the prose.

    units: those of `prose`. type_, name: the slot's; a list's is that of its entries. None where code cannot
    tell, and for a prose of more than 512 words.
    """
    if type_ not in _TYPES or len(units) > _MOST_UNITS:
        return None
    found: dict[str, None] = {}
    for first in range(len(units)):
        for last in units[first : first + _MOST_WORDS]:
            text = prose[units[first].start : last.end]
            if len(text) > _LONGEST:
                break
            if text not in found and read_slot(text, type_, (), "", "UTC", name) is not None:
                found[text] = None
    return tuple(found)
