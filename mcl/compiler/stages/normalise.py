"""Stage 1: the goal as text that can be compiled, shown and signed. Pure."""

import re
import unicodedata

from ir.characters import MEANINGLESS, without
from ir.inline_secrets import find_secret
from mcl.core.errors import InputError

_BLANKS = re.compile(r"[^\S\n]+")
_LINES = re.compile(r" ?\n ?")
_GAPS = re.compile(r"\n{3,}")


def normalise(goal: str | bytes, *, longest: int, truncate: bool = False) -> str:
    """`goal` in NFC with plain blanks and line breaks, without control and invisible characters.

    longest: in characters. truncate: cut a longer goal at the last word that fits instead of refusing it. The
    result is a fixed point: normalising it again changes nothing. Raises InputError GOAL_EMPTY,
    GOAL_TOO_LONG, GOAL_BINARY (NUL bytes, or not UTF-8).
    """
    text = _text(goal)
    if "\0" in text:
        raise _binary(f"a NUL at character {text.index(chr(0))}")
    text = unicodedata.normalize("NFC", text.replace("\r\n", "\n").replace("\r", "\n"))
    # Directional overrides, invisible separators and tag characters make a text read otherwise than it is.
    text = without(text, MEANINGLESS | {"control"})
    text = _GAPS.sub("\n\n", _LINES.sub("\n", _BLANKS.sub(" ", text))).strip()
    text = unicodedata.normalize("NFC", text)  # what was taken out may have kept a mark from its letter
    if not text:
        raise InputError(
            "GOAL_EMPTY", "the goal is empty", place="goal", fix="say what you want in a few words"
        )
    if len(text) > longest:
        if not truncate:
            raise InputError(
                "GOAL_TOO_LONG",
                f"the goal has {len(text)} characters; at most {longest} are read",
                place="goal",
                fix="say it in fewer words, name files instead of quoting them, or cut it with --truncate",
                data={"length": len(text), "longest": longest},
            )
        cut = text[: longest + 1].rsplit(maxsplit=1)[0] if " " in text[:longest] else text[:longest]
        text = cut[:longest].rstrip()
    return text


def without_secret(text: str) -> str:
    """The text as it is. Raises InputError SECRET_INLINE where a key or token seems to stand in it: what is
    said is kept in the journal for good. A compile asks; a replay takes what was kept."""
    if found := find_secret("", text, goal=True):
        raise InputError(
            "SECRET_INLINE",
            f"the goal has what looks like {found} in it, and goals are kept in the journal",
            place="goal",
            fix="leave it out; a tool that needs it takes it from a variable, named as $env:NAME",
        )
    return text


def _text(goal: str | bytes) -> str:
    try:
        text = goal.decode("utf-8") if isinstance(goal, bytes) else goal
        text.encode("utf-8")
    except UnicodeDecodeError as error:
        raise _binary(f"byte {error.start} is not UTF-8") from error
    except UnicodeEncodeError as error:
        raise _binary(f"half a surrogate pair at character {error.start}") from error
    return text


def _binary(why: str) -> InputError:
    return InputError(
        "GOAL_BINARY", f"the goal is not text: {why}", place="goal", fix="give the goal as UTF-8 text"
    )
