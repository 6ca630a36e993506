"""Shapes of keys and tokens: one list, for what is refused, taken out of texts, and searched for in code.

A plan, a goal or an answer that holds one is refused, as it would be written into a journal. The executor
takes them out of what is shown and kept; the scan of reviews searches files for them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from math import log2
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class KeyShape:
    """What one kind of key or token looks like. Found in time in proportion to the text.

    id: a short name, lower case. kind: in words, with its article. near: one of these stands in every text
    that has one, in lower case where the pattern ignores case. pattern: the group ``value`` is the secret
    itself, where that is not all of it. head: what the beginning of one that was cut looks like, where it can
    be nothing else. clear: it can hardly be anything but a secret; what is given to the name of a secret may
    be a placeholder, an example or a word, so its value is weighed.
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
        if not any(word in looked for word in self.near):
            return None
        return next((one for one in _compiled(self.pattern).finditer(text) if self.holds(one)), None)

    def holds(self, found: re.Match[str]) -> bool:
        """Whether what the pattern fits is a secret."""
        return self.clear or is_secret(found["value"])


def is_secret(value: str) -> bool:
    """Whether what is given to the name of a secret is one: letters and digits without order, and nothing
    that stands for another value."""
    mixed = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    return mixed and entropy(value) >= _BITS and not is_placeholder(value)


def is_placeholder(value: str) -> bool:
    """Whether it stands where a secret is to be put."""
    return _PLACEHOLDER.search(value) is not None


def entropy(text: str) -> float:
    """Bits a character (Shannon)."""
    counts = Counter(text).values()
    return -sum(count / len(text) * log2(count / len(text)) for count in counts)


_BITS: Final = 2.9  # of eight different characters: 3
_PLACEHOLDER: Final = re.compile(
    r"(?i)example|sample|dummy|placeholder|change.?me|redacted|replace|insert|your"
    r"|(?:xx|\*\*|\.\.\.|00000|12345|abcde|aaaa)|<[^>]*>|\$[\{(]|\{\{|%[({s]|\bfake"
    r"|\btest(?:ing)?[-_]?(?:key|token|secret|password)|not.?a.?(?:real|secret)|s3cr3t|hunter2|foobar"
    r"|password1?$|^secret$"
)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)  # when it is first needed: most processes meet none of them


def _shape(id: str, kind: str, near: str, pattern: str, *, head: str = "", clear: bool = True) -> KeyShape:
    return KeyShape(id, kind, tuple(near.split("|")), pattern, head, clear)


_NAMED: Final = (
    r"(?i)(?<![a-z0-9])[a-z0-9_.-]{0,40}?"
    r"(?:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credentials?)"
    r"(?:[_-]?(?:key|value|string|hash))?"
)
_NEAR_NAMED: Final = (
    "passw|passphrase|secret|token|api_key|apikey|api-key|access_key|accesskey|access-key|private_key"
    "|privatekey|private-key|credential"
)
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
        "basic",
        "a password for basic authentication",
        "authorization",
        r"(?i)\bauthorization[\"']?\s*[:=]\s*[\"']?basic\s+(?P<value>[A-Za-z0-9+/_-]{6,}={0,2})",
    ),
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
        _NEAR_NAMED,
        _NAMED + r"[\"']?\]?\s*(?::=|=>|=(?!=)|:(?!:))\s*[rbu]?"
        r"[\"'](?P<value>[A-Za-z0-9+/_=.~!@#%^&*-]{16,120})[\"']",
        clear=False,
    ),
    _shape(
        "set",
        "a value set for the name of a secret",
        _NEAR_NAMED,
        _NAMED + r"=(?P<value>[A-Za-z0-9+/_.~!@#%^*-]{8,120}={0,2})(?![A-Za-z0-9+/_~!@#%^*(\[=-])",
        clear=False,
    ),
    _shape(
        "told",
        "a value told of the name of a secret",
        _NEAR_NAMED,
        _NAMED + r":[ \t]{1,4}(?P<value>[A-Za-z0-9+/_~!@#%^*-]{16,120}={0,2})(?![A-Za-z0-9+/_~!@#%^*(\[=-])",
        clear=False,
    ),
)
# What stands like the others in words, code and settings is an example more often than not.
_REFUSED: Final = tuple(shape for shape in KEY_SHAPES if shape.id not in ("assigned", "told"))
# In a short text one search for all words is quicker than one for each, in a long one slower.
_ANY_NEAR: Final = re.compile("|".join(re.escape(word) for shape in KEY_SHAPES for word in shape.near), re.I)
_SHORT: Final = 200  # characters
_REASONS: Final = ("reason", "why", "note", "notes", "message")  # words of whoever says it
_SECRET_NAME: Final = re.compile(
    r"(?:[a-z]+[_-])?(?:password|passwd|passphrase|secret)"
    r"|(?:(?:auth|api|access|refresh|bearer|session)[_-]?)?token"
    r"|(?:api|access|private|secret)[_-]?key"
    r"|bearer|basic[_-]?auth|authorization",
    re.IGNORECASE,
)
_FROM_ELSEWHERE: Final = re.compile(r"\$env:[A-Za-z_][A-Za-z0-9_]*|\$\{[^{}]*\}")
# A private key goes with everything up to its end, or to the end of the text where it was cut short.
WHOLE_KEY: Final = (
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    r"(?:(?!-----END)[\s\S]){0,20000}(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?"
)
# Where a word may begin: also behind what an escaped character ends with (\\n, \\x1b), and behind a colour.
# A token that follows one of these stands alone for whoever reads the text.
_EDGE: Final = r"(?:\b|(?<=\\[abefnrtv0])|(?<=\\x[0-9A-Fa-f]{2})|(?<=\\u[0-9A-Fa-f]{4})|(?<=[0-9;\[]m))"


def find_secret(name: str, value: str, *, goal: bool = False) -> str | None:
    """What kind of secret an argument seems to hold, or None. `$env:NAME` and references are never one.

    goal: it is the words of a goal, which are no settings and no code.
    """
    # A name of a variable is how a secret should be given.
    if not value or _FROM_ELSEWHERE.fullmatch(value):
        return None
    if len(value) >= _SHORT or _ANY_NEAR.search(value):
        for shape in KEY_SHAPES if goal else _REFUSED:
            if shape.find(value):
                return shape.kind
    return "a secret, by its name" if _SECRET_NAME.fullmatch(name) else None


def without_secrets(text: str) -> str:
    """The text with each secret in it replaced by ``[redacted: <kind>]``, as far as its shape tells it."""
    if len(text) < _SHORT and not _ANY_NEAR.search(text):
        return text
    folded = text.lower()
    for shape, pattern in _taken():
        if any(word in text or word in folded for word in shape.near):
            text = pattern.sub(partial(_instead, shape), text)
    # Every head of a token has one of these.
    if "_" in text or "-" in text or "AIza" in text:
        text = _cut_token().sub("[redacted: token]", text)
    return text


def lines_without_keys(text: str) -> str:
    """The text with each private key in it left out, line for line: what follows keeps its line number.

    For what shows single lines of a text: a line from the middle of a key does not look like one any more.
    """
    if not any(word in text for word in KEY_SHAPES[0].near):
        return text
    pattern = _taken()[0][1]
    return pattern.sub(lambda one: _instead(KEY_SHAPES[0], one) + "\n" * one[0].count("\n"), text)


def reasons_without_secrets(said: Mapping[str, Any]) -> dict[str, str]:
    """What somebody gave as a reason or a note, where it is another text without its secrets; by its name."""
    texts = ((name, said.get(name)) for name in _REASONS)
    found = ((name, text, without_secrets(text)) for name, text in texts if isinstance(text, str))
    return {name: clean for name, text, clean in found if clean != text}


def _instead(shape: KeyShape, found: re.Match[str]) -> str:
    told = f"[redacted: {shape.kind.removeprefix('a ').removeprefix('an ')}]"
    if shape.clear:
        return told
    if not shape.holds(found):
        return found[0]
    begin, end = (place - found.start() for place in found.span("value"))
    return f"{found[0][:begin]}{told}{found[0][end:]}"


@cache
def _taken() -> tuple[tuple[KeyShape, re.Pattern[str]], ...]:
    return tuple(
        (shape, re.compile(WHOLE_KEY) if shape.id == "private-key" else _edged(shape.pattern))
        for shape in KEY_SHAPES
    )


@cache
def _cut_token() -> re.Pattern[str]:
    """A token that was cut where its text ends: too short for its pattern, and still most of the secret."""
    heads = "|".join(shape.head for shape in KEY_SHAPES if shape.head)
    return re.compile(_EDGE + f"(?:{heads})" + r"[A-Za-z0-9_-]{6,}(?=…|\Z)")


def _edged(pattern: str) -> re.Pattern[str]:
    return re.compile(_EDGE + pattern[2:] if pattern.startswith(r"\b") else pattern)
