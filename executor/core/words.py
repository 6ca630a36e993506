"""Words of people in other letters: without accents, or as a part of a file's name."""

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
