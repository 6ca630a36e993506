"""The terminals of `grammars/mtx.lark` in words for people."""

from __future__ import annotations

from collections.abc import Iterable

_DESCRIBED = {
    "KEY": "key=value",
    "REFERENCE": "a matrix:// reference",
    "NAME": "a name",
    "TYPE_NAME": "a type",
    "_ENUM": "a type",
    "MEMBER": "a member of the enum",
    "MANY": "[]",
    "VERB_NAME": "a verb",
    "COMPARISON": "< <= > >= or ==",
    "NUMBER": "a number",
    "ANY_UNKNOWN": "unknown",
    "SLOT_PATH": "slot.<name>",
    "CORTEX_CALL": "cortex.find, cortex.resolve or cortex.context",
    "ARGUMENT_KEY": "name=value",
    "ARGUMENT": "a value",
    "STRING": "a value",
    "BARE": "a value",
    "ITEM": "a value",
    "FAILURE": "the name of a failure",
    "LIST_OPEN": "[",
    "_LIST_CLOSE": "]",
    "_EQ": "=",
    "_COLON": ":",
    "_LT": "<",
    "_GT": ">",
    "_BAR": "|",
    "_ARROW": "<-",
    "_OPEN": "(",
    "_CLOSE": ")",
    "_COMMA": "a comma",
    "_NL": "the end of the line",
}
# what completes a broken line soonest: the first of these that the state accepts
COMPLETION = (
    "_NL", "_CLOSE", "_LIST_CLOSE", "_GT", "_EQ", "_COLON", "_LT", "_ARROW", "_OPEN", "SLOT_PATH",
    "CORTEX_CALL", "ANY_UNKNOWN", "ARGUMENT_KEY", "NAME", "TYPE_NAME", "MEMBER", "VERB_NAME",
    "COMPARISON", "NUMBER", "STRING",
)  # fmt: skip


def legal_word(terminal: str) -> str:
    """The one word that a terminal stands for; "" where it stands for many."""
    if terminal in _DESCRIBED:
        return ""
    if terminal.startswith("S_"):
        return "§" + terminal[2:]
    return terminal.lower().removesuffix("_key").strip("_")


def described(terminal: str) -> str:
    """A terminal as a person would call it."""
    return _DESCRIBED.get(terminal) or legal_word(terminal)


def alternatives(words: Iterable[str]) -> str:
    """`a, b or c`."""
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last
