"""Bodies of findings without the code that they quote."""

import re
from typing import Final

_FENCE: Final = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_SPAN: Final = re.compile(r"`([^`\n]+)`")
_NUMBER: Final = re.compile(r"\d{1,7}\s*[:|]?\s+(?=\S)")  # as lines are numbered for a model
LEFT_OUT: Final = "[code left out]"
_TELLING: Final = 12  # characters; a shorter line stands in many files


def without_quotes(body: str, content: str = "") -> str:
    """The body without blocks of code, and without whole lines of `content`, each told as left out.

    A block that is not closed goes on to the end. Lines are compared without their numbers, marks of quoting
    and the blanks around them.
    """
    lines = {plain for one in content.splitlines() if len(plain := _plain(one)) >= _TELLING}

    def spoken(found: re.Match[str]) -> str:
        return LEFT_OUT if _plain(found[1]) in lines else found[0]

    told: list[str] = []
    closes = ""
    for line in body.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        fence = _FENCE.match(line)
        if closes:
            if fence and fence[1].startswith(closes) and not line.strip().strip(closes[0]):
                closes = ""
            continue
        if fence:
            closes = fence[1]
        elif _plain(line) not in lines:
            told.append(_SPAN.sub(spoken, line) if lines else line)
            continue
        if not told or told[-1] != LEFT_OUT:
            told.append(LEFT_OUT)
    return "\n".join(told)


def _plain(line: str) -> str:
    bare = line.strip().strip("`>").strip()
    return _NUMBER.sub("", bare, count=1) if bare[:1].isdigit() else bare
