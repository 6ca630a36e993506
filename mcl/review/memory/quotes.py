"""Bodies of findings without the code that they quote."""

import re
from typing import Final

_FENCE: Final = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_LONGEST_LINE: Final = 2_000  # characters of a line that is looked at
LEFT_OUT: Final = "[code left out]"
_TELLING: Final = 12  # characters; a shorter line stands in many files


def without_quotes(body: str, content: str = "") -> str:
    """The body without blocks of code, and without whole lines of `content`, each told as left out.

    A block that is not closed goes on to the end. Lines are compared without the blanks around them.
    """
    lines = {one.strip() for one in content.splitlines() if len(one.strip()) >= _TELLING}
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
        elif line.strip().strip("`>").strip() not in lines:
            told.append(line)
            continue
        if not told or told[-1] != LEFT_OUT:
            told.append(LEFT_OUT)
    return "\n".join(told)
