"""Secrets taken out of text before it is stored, shown or passed on."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ir import SECRET_PATTERNS

# A private key goes with everything up to its end, or to the end of the text where it was cut short.
_WHOLE_KEY = (
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    r"(?:(?!-----END)[\s\S]){0,20000}(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?"
)
# What a text must hold for a pattern to be worth trying: finding a literal is a hundred times faster.
_TRIGGERS: Mapping[str, tuple[str, ...]] = {
    "a private key": ("PRIVATE KEY",),
    "an AWS access key": ("AKIA", "ASIA"),
    "a GitHub token": ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
    "a GitLab token": ("glpat-",),
    "a Slack token": ("xox",),
    "a Stripe key": ("k_live_", "k_test_"),
    "a Google API key": ("AIza",),
    "an npm token": ("npm_",),
    "a PyPI token": ("pypi-",),
    "an API key": ("sk-",),
    "a JSON Web Token": ("eyJ",),
    "a bearer token": ("earer",),
    "a password in an address": ("://",),
}
_SECRET_NAME = re.compile(
    # The long words count at the end of another one too (PGPASSWORD), the short ones alone.
    r"(?:(?:SECRET|TOKEN|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|APIKEY)S?|(?:^|_)(?:KEY|PAT|AUTH|PWD))(?:_|$)",
    re.IGNORECASE,
)
_SHAPES = tuple(
    (
        kind.removeprefix("a ").removeprefix("an "),
        _TRIGGERS.get(kind, ()),
        re.compile(_WHOLE_KEY) if kind == "a private key" else pattern,
    )
    for kind, pattern in SECRET_PATTERNS
)
_MIN_VALUE = 8  # characters; shorter values would black out ordinary words
_CONTROL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


class Redactor:
    """Replaces secrets by ``[redacted: <kind>]``: the shapes of ``ir.SECRET_PATTERNS`` and named values.

    Args:
        environment: variables; the values of those whose names speak of secrets are taken out too.
    """

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        values = {
            value
            for name, value in (environment or {}).items()
            # A path (SSH_AUTH_SOCK, KEY_FILE) is not the secret itself.
            if _SECRET_NAME.search(name) and len(value) >= _MIN_VALUE and not value.startswith("/")
        }
        self._values = sorted(values, key=len, reverse=True)

    def text(self, text: str) -> str:
        """The text without its secrets."""
        for value in self._values:
            text = text.replace(value, "[redacted: value of the environment]")
        for kind, triggers, pattern in _SHAPES:
            if not triggers or any(trigger in text for trigger in triggers):
                text = pattern.sub(f"[redacted: {kind}]", text)
        return text

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
    """Text that a terminal shows and does not obey: controls, directions and half characters are escaped."""
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)
