"""Which limits, signs and wishes a goal has words for at all, by the table `words` of `cues.toml`."""

import re
from functools import cache
from itertools import pairwise

from mcl.model.cues import WordCue, load_cues
from mcl.model.form import FIELDS, words

_MOST_WORDS = 4  # of the name of one region
_WE = re.compile(r"(?<!the )\bus\b")  # no country
_LISTS = frozenset(["quality", "rule", "preference"])  # the fields of which two values may be answered


def sayable(prose: str) -> tuple[str, ...]:
    """The fields that the goal has words for, in the order of FIELDS."""
    return tuple(field for field in FIELDS if _is_said(_cues()[field], prose))


def is_such(field: str, value: str) -> bool:
    """Whether a value has the words without which it cannot be one of this field."""
    cue = _cues()[field]
    return _finds(cue.value, value) and (not cue.region or _names_region(value))


def is_said(field: str, text: str) -> bool:
    """Whether a text has words for this field."""
    return _is_said(_cues()[field], text)


def values_of(fields: tuple[str, ...]) -> int:
    """How many values there are at most where all of these fields are answered."""
    return sum(2 if field in _LISTS else 1 for field in fields)


def frame_limits(fields: tuple[str, ...]) -> str:
    """The rules of intent_frame@1 for the limits that may be answered: each once, in this order."""
    if not fields:
        return 'constraints: "{}"\n'
    first = " | ".join(f"{field} after_{field}" for field in fields)
    rules = [f'constraints: "{{" ({first})? "}}"', f'after_{fields[-1]}: ""']
    for field, following in pairwise(fields):
        rules.append(f"after_{field}: (COMMA {following})? after_{following}")
    return "".join(f"{rule}\n" for rule in rules)


@cache
def _cues() -> dict[str, WordCue]:
    return {cue.field: cue for cue in load_cues().words}


def _is_said(cue: WordCue, prose: str) -> bool:
    return all(_finds(need, prose) for need in cue.needs) and (not cue.region or _names_region(prose))


def _finds(pattern: str, text: str) -> bool:
    return re.search(pattern, text, re.IGNORECASE) is not None


def _names_region(text: str) -> bool:
    from mcl.values.regions import read_regions  # few goals say where

    text = _WE.sub("we", text)
    units = words(text)
    for first in range(len(units)):
        for last in units[first : first + _MOST_WORDS]:
            if read_regions(text[units[first].start : last.end]):
                return True
    return False
