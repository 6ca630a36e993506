"""The canonical layout: what `mcl skill fmt` writes. Meaning, order and comments stay."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mcl.language.mtx.lexer import OPENERS, Word
from mcl.language.mtx.parser import Parsed

_PLAIN = re.compile(r"(?!slot\.)[A-Za-z0-9_.][A-Za-z0-9_.:/@+<|>-]*", re.ASCII)
_WORDS = re.compile(r"[^\s\"#\[][^\"#]*", re.ASCII)
_LISTS = ("mcl.verbs", "reads", "writes", "tags")  # shown as bare words
_PROSE = re.compile(r"display|description|hint|system|user|prompt|message|(?:example|not|phrase|covers)\..*")
_SPACED = ("SLOT", "ON", "RESOLVE", "UNKNOWN", "CLARIFY", "_COLON", "_COMMA", "_ARROW")
_STEP = "  "
_DEEP = 64  # blocks inside each other from which on one blank a level must do
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t"}
_UNESCAPE = re.compile(r"\\(.)")


def format_file(parsed: Parsed) -> str:
    """The text of a well-formed file in canonical layout, with a newline at the end; idempotent.

    Sections are set apart by a blank line, blocks, modifiers and comments indented by two blanks a level, and
    values quoted where they hold more than a plain word. Raises ValueError for a file with errors.
    """
    if not parsed.ok:
        raise ValueError("a file with errors has no canonical layout")
    source = parsed.text.split("\n")
    step = _STEP if _deepest(parsed) <= _DEEP else " "  # a file with a thousand levels must not grow too long
    out: list[str] = []
    waiting: list[str] = []  # comments and blank lines before the next statement
    depth = 0
    for number, line in enumerate(source, 1):
        words = parsed.rows.get(number)
        if words is None:
            waiting.append(line.strip())
            continue
        kind = words[0].type
        if kind.startswith("S_"):
            depth = 0
        elif kind == "_END":
            depth -= 1
        indent = depth + (depth == 0 and _is_modifier(kind))
        _flush(out, waiting, step * (indent + (kind == "_END")), before_section=kind.startswith("S_"))
        comment = parsed.comments.get(number, "")
        out.append((step * indent + render(words) + (f"  {comment}" if comment else "")).rstrip())
        depth += kind in OPENERS
    _flush(out, waiting, "", before_section=False)
    while out and not out[-1]:
        out.pop()
    return "\n".join(out) + "\n"


def quoted(text: str) -> str:
    """A text in double quotes with its escapes."""
    return '"' + re.sub(r'[\\"\n\t]', lambda match: _ESCAPES[match[0]], text) + '"'


def render(words: Sequence[Word]) -> str:
    """One line's words with canonical spacing and quoting."""
    key = words[0] if words[0].type.endswith("KEY") else ""
    in_list = in_call = False
    line = ""
    for word in words:
        kind, text = word.type, str(word)
        in_call = in_call or kind == "_OPEN"
        if kind in ("STRING", "BARE", "ITEM"):
            text = _value(word, key)
            if text == '""' and not (in_list or in_call):  # `key=` says the same
                text = ""
        if kind == "_COMMA" and in_list:
            continue
        if kind == "LIST_OPEN":
            in_list = True
        elif kind == "_LIST_CLOSE":
            in_list, line = False, line.rstrip(" ")
        line += text
        inside = in_list and kind != "LIST_OPEN"
        if inside or kind in _SPACED or (kind == "SLOT_PATH" and words[0].type == "RESOLVE"):
            line += " "
    return line.rstrip(" ")


def _value(word: Word, key: str) -> str:
    text = _UNESCAPE.sub(lambda match: {"n": "\n", "t": "\t"}.get(match[1], match[1]), word[1:-1])
    if word.type != "STRING":
        text = word.rstrip()
    # What people write is quoted even where one word needs no quotes: the next edit adds a second word.
    if _PROSE.fullmatch(key):
        return quoted(text)
    if _PLAIN.fullmatch(text) or (
        key in _LISTS and _WORDS.fullmatch(text) and text == " ".join(text.split())
    ):
        return text
    return quoted(text)


def _is_modifier(kind: str) -> bool:
    """Whether a line outside all blocks belongs to the slot or failure above it."""
    plain = kind in ("KIND_KEY", "OUTPUT_CARDINALITY_KEY")
    return kind in ("REQUIRED", "OPTIONAL") or (kind.endswith("_KEY") and not plain)


def _deepest(parsed: Parsed) -> int:
    """How many blocks are open at once at most."""
    depth = deepest = 0
    for words in parsed.rows.values():
        depth += (words[0].type in OPENERS) - (words[0].type == "_END")
        deepest = max(deepest, depth)
    return deepest


def _flush(out: list[str], waiting: list[str], indent: str, *, before_section: bool) -> None:
    """Write the comments and blank lines that were waiting: one blank line at most, none after a section's
    head.
    """
    for line in waiting:
        if line:
            out.append(indent + line)
        elif out and out[-1] and not out[-1].startswith("§"):
            out.append("")
    waiting.clear()
    if before_section and out and out[-1] and not out[-1].lstrip().startswith("#"):
        out.append("")
