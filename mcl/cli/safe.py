"""Text from elsewhere, made harmless for a terminal."""

import re

# C0 (but for tab and newline), DEL, C1, and the characters that reorder or hide what a person reads.
_ACTIVE = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)


def _visible(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


def safe(text: str) -> str:
    """`text` with every character that could drive a terminal or disguise the text written out as an
    escape.
    """
    return _ACTIVE.sub(_visible, text)


def one_line(text: str, limit: int = 200) -> str:
    """`text` on a single line of at most `limit` characters, safe for a terminal."""
    line = safe(" ".join(text.split()))
    return line if len(line) <= limit else line[: limit - 1] + "…"
