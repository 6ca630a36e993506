"""Words that are one, whatever their ends, case and accents. Pure."""

import re
import unicodedata
from typing import Final

_WORD: Final = re.compile(r"[^\W_]+")


def folded(text: str) -> str:
    """Its words in small letters without accents."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    return " ".join(_WORD.findall("".join(char for char in plain if not unicodedata.combining(char))))


def alike(word: str, other: str) -> bool:
    """Are two words one, but for their ends: receipt and receipts, kvitto and kvittot?"""
    shorter = min(len(word), len(other))
    begins = word[:shorter] == other[:shorter]
    compound = len(other) >= 5 and word.startswith(other)  # inköpslistan is inkop.txt
    return word == other or compound or (shorter >= 4 and begins and abs(len(word) - len(other)) <= 2)
