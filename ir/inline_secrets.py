"""Shapes of keys and tokens: one list, for what is refused, taken out of texts, and searched for in code.

A plan, a goal or an answer that holds one is refused, as it would be written into a journal. The executor
takes them out of what is shown and kept; the scan of reviews searches files for them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Final


@dataclass(frozen=True, slots=True)
class KeyShape:
    """What one kind of key or token looks like. Found in time in proportion to the text.

    id: a short name, lower case. kind: in words, with its article. near: one of these stands in every text
    that has one, in lower case where the pattern ignores case. pattern: the group ``value`` is the secret
    itself, where that is not all of it. head: what the beginning of one that was cut looks like, where it can
    be nothing else. clear: it can hardly be anything but a secret, so that a text with it is refused; what is
    assigned to the name of a secret may be a placeholder or an example, which needs weighing.
    """

    id: str
    kind: str
    near: tuple[str, ...]
    pattern: str
    head: str = ""
    clear: bool = True

    def find(self, text: str) -> re.Match[str] | None:
        """The first one in a text."""
        looked = text.lower() if self.pattern.startswith("(?i)") else text
        for word in self.near:
            if word in looked:
                return _compiled(self.pattern).search(text)
        return None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)  # when it is first needed: most processes meet none of them


def _shape(id: str, kind: str, near: str, pattern: str, *, head: str = "", clear: bool = True) -> KeyShape:
    return KeyShape(id, kind, tuple(near.split("|")), pattern, head, clear)


# Words and numbers joined by hyphens, as names of files and classes are: no key consists of nothing else.
_NO_NAME: Final = (
    r"(?!(?:(?:[a-z]{1,14}|[0-9]{1,4})[_-]{1,2}){1,16}(?:[a-z]{1,14}|[0-9]{1,4})(?![A-Za-z0-9_-]))"
)

KEY_SHAPES: Final = (
    _shape(
        "private-key",
        "a private key",
        "PRIVATE KEY",
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----",
    ),
    _shape("aws", "an AWS access key", "AKIA|ASIA", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    _shape(
        "github",
        "a GitHub token",
        "ghp_|gho_|ghu_|ghs_|ghr_|github_pat_",
        r"\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{40,255})\b",
        head="gh[pousr]_|github_pat_",
    ),
    _shape("gitlab", "a GitLab token", "glpat-", rf"\bglpat-{_NO_NAME}[A-Za-z0-9_-]{{20,}}", head="glpat-"),
    _shape(
        "slack",
        "a Slack token",
        "xoxa-|xoxb-|xoxe-|xoxo-|xoxp-|xoxr-|xoxs-",
        r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}",
        head="xox[abeoprs]-",
    ),
    _shape(
        "slack-webhook",
        "the address of a Slack webhook",
        "hooks.slack.com/services/",
        r"\bhooks\.slack\.com/services/(?P<value>T[A-Za-z0-9]{6,14}/B[A-Za-z0-9]{6,14}/[A-Za-z0-9]{20,30})",
    ),
    _shape(
        "stripe",
        "a Stripe key",
        "k_live_|k_test_",
        r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}",
        head="[rs]k_(?:live|test)_",
    ),
    _shape("google", "a Google API key", "AIza", r"\bAIza[A-Za-z0-9_-]{35}", head="AIza"),
    _shape("npm", "an npm token", "npm_", r"\bnpm_[A-Za-z0-9]{36}\b"),
    _shape("pypi", "a PyPI token", "pypi-", rf"\bpypi-{_NO_NAME}[A-Za-z0-9_-]{{40,}}"),
    _shape(
        "sendgrid",
        "a SendGrid key",
        "SG.",
        r"\bSG\.[A-Za-z0-9_-]{20,24}\.[A-Za-z0-9_-]{39,50}(?![A-Za-z0-9_-])",
    ),
    _shape("azure", "a key of Azure storage", "AccountKey=", r"AccountKey=(?P<value>[A-Za-z0-9+/]{86}==)"),
    _shape(
        "telegram",
        "a token of a Telegram bot",
        ":AA",
        r"(?<![0-9])[0-9]{8,10}:AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])",
    ),
    _shape("model-api", "an API key", "sk-", rf"\bsk-{_NO_NAME}[A-Za-z0-9_-]{{20,}}"),
    # The head is bounded: a text of nothing but heads would be searched to its end from each of them.
    _shape(
        "jwt",
        "a JSON Web Token",
        "eyJ",
        r"\beyJ[A-Za-z0-9_-]{8,2000}+\.eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}",
    ),
    _shape("bearer", "a bearer token", "Bearer|bearer", r"\b[Bb]earer\s+[A-Za-z0-9._~+/-]{16,}"),
    _shape(
        "address",
        "a password in an address",
        "://",
        r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@]{1,100}:(?![0-9]{1,5}[?#])[^\s/@]{3,200}@",
    ),
    _shape(
        "aws-secret",
        "a secret key of AWS",
        "aws|AWS",
        r"(?i:aws.{0,20}(?:secret|private).{0,20}?)[=:]\s*[\"']?(?P<value>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
        clear=False,
    ),
    _shape(
        "assigned",
        "a value assigned to the name of a secret",
        "passw|passphrase|secret|token|api_key|apikey|api-key|access_key|accesskey|access-key|private_key"
        "|privatekey|private-key|credential",
        r"(?i)(?<![a-z0-9])[a-z0-9_.-]{0,40}?"
        r"(?:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credentials?)"
        r"(?:[_-]?(?:key|value|string|hash))?[\"']?\]?\s*(?::=|=>|=(?!=)|:(?!:))\s*[rbu]?"
        r"[\"'](?P<value>[A-Za-z0-9+/_=.~!@#%^&*-]{16,120})[\"']",
        clear=False,
    ),
)
_CLEAR: Final = tuple(shape for shape in KEY_SHAPES if shape.clear)
# In a short text one search for all words is quicker than one for each, in a long one slower.
_ANY_NEAR: Final = re.compile("|".join(re.escape(word) for shape in _CLEAR for word in shape.near))
_SHORT: Final = 200  # characters
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
    if len(value) >= _SHORT or _ANY_NEAR.search(value):
        for shape in _CLEAR:
            if shape.find(value):
                return shape.kind
    return "a secret, by its name" if _SECRET_NAME.fullmatch(name) else None
