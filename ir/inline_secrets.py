"""Shapes of keys and tokens, so that none is written into a plan, and with it into a journal."""

from __future__ import annotations

import re
from typing import Final

SECRET_PATTERNS: Final = (
    ("a private key", re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")),
    ("an AWS access key", re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b")),
    ("a GitHub token", re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{40,255})\b")),
    ("a GitLab token", re.compile(r"\bglpat-[A-Za-z0-9_-]{20,}")),
    ("a Slack token", re.compile(r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}")),
    ("a Stripe key", re.compile(r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}")),
    ("a Google API key", re.compile(r"\bAIza[A-Za-z0-9_-]{35}")),
    ("an npm token", re.compile(r"\bnpm_[A-Za-z0-9]{36}\b")),
    ("a PyPI token", re.compile(r"\bpypi-[A-Za-z0-9_-]{40,}")),
    ("an API key", re.compile(r"\bsk-[A-Za-z0-9_-]{20,}")),
    # The head is bounded: a text of nothing but heads would be searched to its end from each of them.
    (
        "a JSON Web Token",
        re.compile(r"\beyJ[A-Za-z0-9_-]{8,2000}+\.eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}"),
    ),
    ("a bearer token", re.compile(r"\b[Bb]earer\s+[A-Za-z0-9._~+/-]{16,}")),
    ("a password in an address", re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@]{1,100}:[^\s/@]{3,200}@")),
)
_SECRET_NAME: Final = re.compile(
    r"(?:[a-z]+[_-])?(?:password|passwd|passphrase|secret)"
    r"|(?:(?:auth|api|access|refresh|bearer|session)[_-]?)?token"
    r"|(?:api|access|private|secret)[_-]?key"
    r"|bearer|basic[_-]?auth|authorization",
    re.IGNORECASE,
)
_FROM_ELSEWHERE: Final = re.compile(r"\$env:[A-Za-z_][A-Za-z0-9_]*|\$\{[^{}]*\}")


def find_secret(name: str, value: str) -> str | None:
    """What kind of secret an argument seems to hold, or None. `$env:NAME` and references are never one."""
    if not value or _FROM_ELSEWHERE.fullmatch(value):
        return None
    for what, pattern in SECRET_PATTERNS:
        if pattern.search(value):
            return what
    return "a secret, by its name" if _SECRET_NAME.fullmatch(name) else None
