"""Text that shows all it holds: nothing in it drives a terminal, or tells a model what no person sees."""

import re
from typing import Final

from executor.sandbox.redaction import visible

# What is not seen at all: soft hyphens, zero widths, line ends that few take for one, tags.
_UNSEEN: Final = re.compile(
    "[\xad\u180e\u200b\u2028\u2029\u2060-\u2064\u206a-\u206f\u3164\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)


def plain_line(text: str) -> str:
    """The text with every character that is not seen written out; line ends too, but none after `visible`."""
    return _UNSEEN.sub(lambda found: found[0].encode("unicode_escape").decode(), visible(text))


def plain_lines(text: str) -> str:
    """The same of several lines, whose ends all become \\n."""
    return "\n".join(map(plain_line, text.replace("\r\n", "\n").replace("\r", "\n").split("\n")))
