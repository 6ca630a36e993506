"""A text in double quotes, as YAML and JSON both read it."""

from __future__ import annotations

import json
import re
from typing import Final

# What YAML does not take as it is, or what its readers take in different ways; json.dumps writes the rest.
_ESCAPED: Final = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def quoted(text: str) -> str:
    """The text in double quotes, on one line. Raises ValueError for halves of characters."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError("half a character cannot be written") from error
    written = json.dumps(text, ensure_ascii=False)
    return _ESCAPED.sub(lambda odd: f"\\u{ord(odd[0]):04x}", written)
