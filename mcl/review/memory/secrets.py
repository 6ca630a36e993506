"""Text without its secrets: what is taken out everywhere, and what the scan takes for a key or a password."""

from typing import Final

from executor.sandbox.redaction import Redactor

_TAKEN_OUT: Final = "[redacted: key or password]"


def without_secrets(text: str) -> str:
    """The text with each secret in it replaced by `[redacted: …]`."""
    from mcl.review.scan.patterns import key_spans

    text = Redactor().text(text)
    told, done = "", 0
    for begin, end in sorted(key_spans(text)):
        if begin >= done:  # else it begins in the one before, and only its end may be new
            told += text[done:begin] + _TAKEN_OUT
        done = max(done, end)
    return told + text[done:]
