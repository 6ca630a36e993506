"""What a finding is known by when it is found again: a mark, made with a secret of the home.

A line may hold a password, and a plain hash of it could be guessed; so nobody without the home can make one.
"""

import hmac
import json
from hashlib import sha256
from typing import Final

from executor.store.home import Home
from executor.store.keys.marking import marking_secret
from mcl.plugins.review.findings import Finding
from mcl.plugins.review.findings.repeats import normalised

_DIGITS: Final = 16  # hexadecimal


class Marks:
    """Makes the marks of one workspace's findings. key: of the workspace."""

    def __init__(self, home: Home, key: str) -> None:
        self._secret = marking_secret(home.path / "keys")
        self._key = key

    def of_rule(self, file: str, rule: str, text: str, nth: int) -> str:
        """The mark of what a rule found, 16 hex digits. text: the lines that it is about, without the blanks
        around them. nth: which of the places in the file that have this text, from 1."""
        return self._made("rule", file, rule, text, str(nth))

    def of_said(self, finding: Finding) -> str:
        """The mark of what a model said of a file: its label and its body in `normalised` form."""
        return self._made("said", finding.file, finding.severity, normalised(finding.body))

    def seal(self, mark: str, why: str) -> str:
        """What a dismissal has that mcl made in this home: marks are told to many, the secret to none."""
        return self._made("dismissal", mark, why)

    def _made(self, *said: str) -> str:
        text = json.dumps([self._key, *said]).encode()  # ASCII, also of half characters
        return hmac.new(self._secret, text, sha256).hexdigest()[:_DIGITS]
