"""What looks like a finding though it cannot be read as one.

A reader that fails closed must not pass over a mistyped label, a lost bracket or a location without a line.
Each rule below is one regular expression or one look at the first word; all are linear in the line. They are
tried on lines that are no head of a finding, with visible and plain characters.
"""

import re
from typing import Final

from mcl.plugins.review.findings.severity import BLOCKING, FOREIGN, SEVERITIES

_ANY: Final = "|".join(SEVERITIES)
_OTHERS: Final = "|".join((*SEVERITIES, *FOREIGN))
_PATH: Final = r"[^\s:]{1,200}:[0-9]"  # enough of a path to know one

# What may stand before a finding: marks of lists, quotes, headings, tables, emphasis; boxes and footnotes.
START: Final = re.compile(r"(?:[^\w\[]|_|[0-9]{1,4}[.):\]]|\[[ xX]?\]|\[[0-9]{1,4}\])*+")
_PLACE: Final = re.compile(r"[^\s:]:[0-9]|\bline\s{1,3}[0-9]|#L[0-9]|\.\w{1,8}\([0-9]", re.I)
_NAME: Final = re.compile(r"[^\W\d]\.\w{1,8}\b")

# At the beginning of a line, after START.
_BRACKETED: Final = re.compile(rf"[\[({{<]*+[\s*_`~!\\]*+(?:{_OTHERS})[\s*_`~:.!\\]*+[\])}}>]", re.I)
_GROUP_WITH: Final = re.compile(rf"\[[^\[\]]{{0,40}}?\b(?:{_ANY})\b[^\[\]]{{0,40}}\]")
_GROUP: Final = re.compile(r"\[\W{0,5}[^\W\d_][^\]]{0,40}(?:\](?![/.(])|$)")
_OPENED: Final = re.compile(r"\[\W{0,5}([^\W\d_]{2,30})")
_CLOSED: Final = re.compile(r"([^\W_]{1,30})[*_`~\s]{0,4}\]")
_TOKEN: Final = re.compile(r"\S{2,40}")
_WORD: Final = re.compile(r"[^\W_]{2,30}")
_ADJACENT: Final = re.compile(rf"[\s:*_`~,.|/(\[<\"'–—-]{{1,8}}{_PATH}")
_AFTER_STOP: Final = re.compile(r"[\s*_`~]{0,8}(?::|\||–|—|-(?=\s)|$)")
_STOPPED: Final = re.compile(r"[\s*_`~]{0,8}(?:\([^()]{0,40}\))?[\s*_`~]{0,8}[:|(\[–—-]")
_NOTHING: Final = re.compile(r"[\s*_`~:–—|-]*+(?:0|none|no|nothing|n/a)?[\s*_`~.|]*+$", re.I)
_APART: Final = "|".join(r"[\W_]{0,3}".join(label) for label in SEVERITIES)  # R I S K, R-I-S-K, R ISK
_SPREAD: Final = re.compile(rf"(?:{_APART})(?![^\W_])", re.I)
_SAID_NEXT: Final = (  # risk: risk] risk - text, warning CS0168:, or nothing behind it
    rf"(?i:{_OTHERS})(?:\s{{0,3}}[:\])|]|\s{{1,3}}[A-Z]{{1,6}}[0-9]{{1,6}}\s?:)"
    rf"|(?i:{_ANY})(?:\s{{0,3}}$|\s{{1,3}}[–—-]\s)"
)
_PLACE_FIRST: Final = re.compile(
    rf"{_PATH}[0-9:]{{0,20}}[\s:,()–—|\[*_`-]{{1,8}}(?:(?:{_ANY}|{_APART})(?![^\W_])|{_SAID_NEXT})"
)
# As compilers say it, a.py(3,5): a call looks like it too, so words in small letters follow a sign.
_CALLED_FIRST: Final = re.compile(
    r"[^\s:()]{1,200}\.\w{1,8}\([0-9]{1,9}(?:[,:.-][0-9]{1,9}){0,3}\)"
    rf"(?:[\s:,()–—|\[*_`-]{{1,8}}(?:{_ANY}|{_APART})(?![^\W_])"
    rf"|\s?[:,()–—|\[*_`-][\s:,()–—|\[*_`-]{{0,7}}(?:{_SAID_NEXT}))"
)

# Anywhere in a line.
_LABEL_ANYWHERE: Final = re.compile(rf"[\[【][\s*_`~!\\]*+(?:{_ANY})[\s*_`~:!\\]*+\]", re.I)
_SHOUTED: Final = re.compile(rf"(?<!\w)\[[\s*_`~!\\]*+(?:{_ANY})[\s*_`~:!\\]*+\]")
_BEFORE_PLACE: Final = re.compile(rf"(?<![\w.])(?:{_ANY})[\]):*_`~]{{0,4}}[\s:–—|(-]{{1,4}}{_PATH}")
_ENCLOSED: Final = re.compile(rf"[(\[{{<*_`|](?:{_ANY})[)\]}}>*_`|]")
_SAID: Final = re.compile(rf"\bseverity\W{{0,8}}(?:{_OTHERS})\b", re.I)
_CELL: Final = re.compile(rf"\|[\s*_`]*+(?:{_ANY})[\s*_`]*+\|", re.I)


def like_a_finding(line: str) -> bool:
    """Whether a visible line looks like a finding."""
    placed = _PLACE.search(line) is not None
    named = placed or _NAME.search(line) is not None
    gathered = _gathered(line)
    return _somewhere(line, named) or _first(line, placed) or bool(gathered and _first(gathered, placed))


def _somewhere(line: str, placed: bool) -> bool:
    """What a line has anywhere. placed: whether it names a file."""
    if _SHOUTED.search(line) or _BEFORE_PLACE.search(line) or _SAID.search(line):
        return True
    return placed and bool(_LABEL_ANYWHERE.search(line) or _CELL.search(line) or _ENCLOSED.search(line))


def _gathered(line: str) -> str:
    """The line with the letters of a label that it begins with put together, `R I S K` as `RISK`; "" where
    there is no such label, or some of its letters are together and no place follows."""
    start = START.match(line)
    at = start.end() if start else 0
    apart = _SPREAD.match(line, at + (line[at : at + 1] == "["))
    if apart is None or "".join(filter(str.isalpha, apart[0])) == apart[0]:
        return ""
    letters = "".join(filter(str.isalpha, apart[0]))
    single = not re.search(r"[^\W_]{2}", apart[0])
    if not single and not (letters.isupper() and _ADJACENT.match(line, apart.end())):
        return ""
    return f"{line[: apart.start()]}{letters}{line[apart.end() :]}"


def _first(line: str, placed: bool) -> bool:
    """What a line begins with. placed: whether it names a line of a file."""
    start = START.match(line)
    at = start.end() if start else 0
    if at and line[at - 1] in "({<" and _BRACKETED.match(line, at - 1):
        return True
    if _BRACKETED.match(line, at) and line[at : at + 1] == "[":
        return True
    if _GROUP_WITH.match(line, at) or _PLACE_FIRST.match(line, at) or _CALLED_FIRST.match(line, at):
        return True
    if placed and (_GROUP.match(line, at) or _CLOSED.match(line, at)):
        return True
    opened = _OPENED.match(line, at)
    if opened:
        return _near(opened[1])
    closed = _CLOSED.match(line, at)
    if closed:
        return _near(closed[1])
    if placed and _shuffled(line, at):
        return True
    word = _WORD.match(line, at)
    return word is not None and _bare(word[0], line, word.end(), placed=placed, marks=line[:at])


def _bare(word: str, line: str, end: int, *, placed: bool, marks: str) -> bool:
    """A label without brackets: before a location, or as a title."""
    label = word.upper()
    known = label in SEVERITIES
    shouted = word == label
    if (known or (shouted and _near(word))) and (_ADJACENT.match(line, end) or (shouted and placed)):
        return True
    if label in BLOCKING and placed and _STOPPED.match(line, end):
        return True
    titled = shouted or bool(set(marks) & set("#*"))
    if label in BLOCKING and titled and _AFTER_STOP.match(line, end):
        return not _NOTHING.match(line, end) or not line[end:].strip(" *_`~:")
    return False


def _shuffled(line: str, at: int) -> bool:
    """A label with a bracket in the wrong place: `R[ISK]`."""
    token = _TOKEN.match(line, at)
    return token is not None and "[" in token[0] and _near("".join(filter(str.isalpha, token[0])))


def _near(word: str) -> bool:
    """Whether a word is a label, or one slip of a key away from one."""
    word = word.upper()
    return any(_one_slip(word, label) for label in SEVERITIES)


def _one_slip(word: str, label: str) -> bool:
    if word == label:
        return True
    if abs(len(word) - len(label)) > 1:
        return False
    short, long = sorted((word, label), key=len)
    same = next((n for n, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    if len(short) < len(long):
        return short[same:] == long[same + 1 :]
    swapped = short[:same] + short[same : same + 2][::-1] + short[same + 2 :]
    return short[same + 1 :] == long[same + 1 :] or swapped == long
