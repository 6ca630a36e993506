"""Text from elsewhere, made harmless for a terminal."""

import json
import re
from collections.abc import Iterator

# C0 (but for tab and newline), DEL, C1, and the characters that reorder or hide what a person reads.
_ACTIVE = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069"
    r"\u3164\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)


def _visible(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"


def safe(text: str) -> str:
    """`text` with every character that could drive a terminal or disguise the text written out as an
    escape.
    """
    return _ACTIVE.sub(_visible, text)


def safe_json(document: str) -> str:
    """The same for a written JSON document: its escapes mean what was there, so nothing is lost."""
    return _ACTIVE.sub(lambda match: json.dumps(match[0])[1:-1], document)


def one_line(text: str, limit: int = 200) -> str:
    """`text` on a single line of at most `limit` characters, safe for a terminal."""
    line = safe(" ".join(text.split()))
    return line if len(line) <= limit else line[: limit - 1] + "…"


def whole(value: object) -> Iterator[str]:
    """Every line of an argument, as it is passed; what could not be seen is written out."""
    from executor.hashing import json_bytes

    text = value if isinstance(value, str) else json_bytes(value).decode()
    for line in text.split("\n"):
        end = len(line.rstrip(" \t"))
        yield safe(line[:end]) + line[end:].replace(" ", "\\x20").replace("\t", "\\t")
