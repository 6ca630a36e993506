"""Bytes of YAML to a tree with places. Bounded, without surprise, and never an exception.

Of YAML what JSON also has. Tags are refused and so are merge keys; aliases are counted, and what they grow to
is bounded. The scanner is libyaml's where it is there, which is ten times faster, else that of PyYAML.
"""

from __future__ import annotations

import re
from typing import Any, Final

from mcl.core.yaml.composing import Broken, Composer
from mcl.core.yaml.findings import Finding
from mcl.core.yaml.nodes import Node

MAX_BYTES: Final = 4 * 1024 * 1024

# What the two scanners read differently or not at all; in double quotes each can be written as an escape.
_ODD: Final = re.compile(
    "[^\n\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
_BREAK: Final = re.compile("\r\n?|\n")


def text_of(data: bytes) -> str | Finding:
    """The file as text, without the mark that some editors put before it; or what is wrong with its bytes."""
    if len(data) > MAX_BYTES:
        return Finding("FILE_TOO_LARGE", f"more than {MAX_BYTES} bytes; part the file")
    try:
        text = data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8", "replace")
        return Finding("YAML_PARSE_ERROR", "not UTF-8 text; save it as UTF-8", line=_line(before))
    if odd := _ODD.search(text):
        what = "a tab" if odd[0] == "\t" else f"the character U+{ord(odd[0]):04X}"
        instead = "blanks" if odd[0] == "\t" else "it as an escape in double quotes"
        message = f"{what} in the text; write {instead}"
        return Finding("YAML_PARSE_ERROR", message, line=_line(text[: odd.start()]))
    # Directives stand at the start of a line. Thousands of them keep libyaml for minutes.
    if text.startswith("%") or "\n%" in text or "\r%" in text:
        lines = _BREAK.split(text)
        line = next(number for number, one in enumerate(lines, 1) if one.startswith("%"))
        message = "a line that begins with %; directives are not read here"
        return Finding("YAML_PARSE_ERROR", message, line=line)
    return text


def read_tree(text: str, *, quick: bool = True) -> tuple[Node | None, tuple[Finding, ...]]:
    """The one document of a text, None where it is empty or cannot be read, and what is wrong with it.

    quick: with libyaml, where it is there.
    """
    import yaml

    findings: list[Finding] = []
    try:
        return Composer(findings).compose(_parser(text, quick)), tuple(findings)
    except Broken as broken:
        return None, (*findings, broken.finding)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        said = str(getattr(error, "problem", None) or getattr(error, "reason", None) or error).split("\n")[0]
        line = mark.line + 1 if mark else 0
    except (ValueError, OverflowError, RecursionError) as error:  # such as an escape above the last character
        said, line = str(error).split("\n")[0], 0
    line = min(line, _line(text.rstrip("\r\n")))  # what is missing at the end is told at the last line
    return None, (*findings, Finding("YAML_PARSE_ERROR", f"not YAML: {said}", line=line))


def _parser(text: str, quick: bool) -> Any:
    import yaml

    if quick and yaml.__with_libyaml__:
        return yaml.cyaml.CParser(text)  # type: ignore[attr-defined]

    class Plain(yaml.reader.Reader, yaml.scanner.Scanner, yaml.parser.Parser):
        def __init__(self, text: str) -> None:
            yaml.reader.Reader.__init__(self, text)
            yaml.scanner.Scanner.__init__(self)
            yaml.parser.Parser.__init__(self)

    return Plain(text)


def _line(before: str) -> int:
    return len(_BREAK.findall(before)) + 1
