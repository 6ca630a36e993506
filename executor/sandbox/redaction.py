"""Secrets taken out of text before it is stored, shown or passed on."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ir import SECRET_PATTERNS

# A private key goes with everything up to its end, or to the end of the text where it was cut short.
_WHOLE_KEY = (
    "a private key",
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    r"(?:(?!-----END)[\s\S]){0,20000}(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?",
)
_SECRET_NAME = re.compile(
    r"(?:^|_)(?:SECRET|TOKEN|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|APIKEY|KEY|PAT|AUTH)(?:_|$)",
    re.IGNORECASE,
)
_MIN_VALUE = 8  # characters; shorter values would black out ordinary words
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


class Redactor:
    """Replaces secrets by ``[redacted: <kind>]``: the shapes of ``ir.SECRET_PATTERNS`` and named values.

    Args:
        environment: variables; the values of those whose names speak of secrets are taken out too.
    """

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        shapes = [_WHOLE_KEY, *((kind, pattern.pattern) for kind, pattern in SECRET_PATTERNS)]
        values = {
            value
            for name, value in (environment or {}).items()
            # A path (SSH_AUTH_SOCK, KEY_FILE) is not the secret itself.
            if _SECRET_NAME.search(name) and len(value) >= _MIN_VALUE and not value.startswith("/")
        }
        if values:
            exact = "|".join(re.escape(value) for value in sorted(values, key=len, reverse=True))
            shapes.insert(0, ("a value of the environment", exact))
        self._kinds = {
            f"g{place}": kind.removeprefix("a ").removeprefix("an ") for place, (kind, _) in enumerate(shapes)
        }
        self._pattern = re.compile(
            "|".join(f"(?P<g{place}>{shape})" for place, (_, shape) in enumerate(shapes))
        )

    def text(self, text: str) -> str:
        """The text without its secrets."""
        return self._pattern.sub(lambda found: f"[redacted: {self._kinds[found.lastgroup or '']}]", text)

    def value(self, value: object) -> object:
        """The same for every text inside a JSON value, its object keys included."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(key): self.value(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(item) for item in value]
        return value


def visible(text: str) -> str:
    """Text that a terminal shows and does not obey: control and direction characters become escapes."""
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)
