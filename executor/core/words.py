"""Words of people in other letters: without accents, or as a part of a file's name; and slips of a key."""

import re
import unicodedata


def unaccented(text: str) -> str:
    """A text without its accents."""
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(char for char in decomposed if not unicodedata.combining(char))


def name_part(text: str, most: int, default: str) -> str:
    """The first words of a text as a part of a file's name: small ASCII letters, digits, hyphens."""
    made = ""
    for word in re.findall(r"[a-z0-9]+", unaccented(text).encode("ascii", "ignore").decode().lower()):
        if len(made) + len(word) + 1 > most:
            return made or word[:most]
        made = f"{made}-{word}" if made else word
    return made or default


def one_slip(one: str, other: str) -> bool:
    """Whether one letter too many, too few, another, or two in the wrong order is all the difference."""
    if len(one) > len(other):
        one, other = other, one
    at = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), len(one))
    if len(one) < len(other):
        return len(other) - len(one) == 1 and one[at:] == other[at + 1 :]
    return one[at + 1 :] == other[at + 1 :] or (
        one[at + 2 :] == other[at + 2 :] and one[at : at + 2] == other[at : at + 2][::-1]
    )
