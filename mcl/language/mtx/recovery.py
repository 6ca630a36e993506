"""What becomes of a line that does not fit: it is told, and the parser goes on as if it had been right.

What is guessed here only keeps one mistake from causing further ones; a file with a finding never passes.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from ir.characters import INVISIBLE, kind_of
from mcl.language.mtx.ast import SCALAR_TYPES, SECTIONS
from mcl.language.mtx.lexer import ENDS, OPENS, Line, Word, alternatives, described, legal_word
from mcl.language.mtx.source import nearest

if TYPE_CHECKING:
    from mcl.language.mtx.parser import ParserRun

_WORD = re.compile(r"§[ \t]*[\w.-]*|[a-z]+://[^\s#]+|[\w.-]+|\S|\s")
_KEYLESS = re.compile(r"([A-Za-z_][\w-]*+(?:\.[\w-]++)*+)(?=[: \t])[ \t]*+:?[ \t]*+(\S.*)")
_SLOTLESS = re.compile(r"[A-Za-z_][\w-]*+[ \t]*+:[ \t]*\w")
# a section with another sign: "[OUTPUTS]", "$OUTPUTS", "Â§OUTPUTS" (which is § read as Latin-1)
_SIGNLESS = re.compile(rf"(?:[^\w\s#\"]|Â)*[ \t]*({'|'.join(SECTIONS)})[\]):]*[ \t]*(?:#.*)?")
_TYPE = re.compile(r".*:[ \t]*+([A-Za-z_]\w*+)[ \t]*+")
_FAILURE = re.compile(r"[A-Za-z_][\w.-]*")
_BLANK_AFTER = ("ON", "SLOT", "RESOLVE", "UNKNOWN", "CLARIFY")
_FAILURE_FIELDS = ("suggest", "action", "reason", "message", "retry")
_BLOCK_OF = {
    **dict.fromkeys(("system", "user"), "prompt"),
    **dict.fromkeys(("severity", "reason"), "unknown"),
    **dict.fromkeys(("prompt", "required"), "clarify"),
    **dict.fromkeys(("type", "options", "default"), "unknown or clarify"),
}


class Recovery:
    """One error: at an offset of a line that a run was reading."""

    def __init__(self, run: ParserRun, line: Line, position: int) -> None:
        self.run_, self.line, self.position = run, line, position
        self.rest = line.text[position:].rstrip("\n")
        self.accepts = {name for name in run.parser.accepts() if name != "$END"}
        self.words = {legal_word(name): name for name in sorted(self.accepts)}
        self.words.pop("", None)
        match = _WORD.match(self.rest)
        self.word = match.group() if match else self.rest
        self.after = self.rest[len(self.word) :]

    def run(self, *, first: bool) -> None:
        """Tell the error and go on. first: nothing of the line was read yet."""
        if not first:
            self._inside()
        elif self.rest.startswith("§") and not self.rest.startswith("§§"):
            self._head()
        elif self.line.told:
            self.run_.at = self._behind()
        else:
            self._beginning()

    # An error inside of a line

    def _inside(self) -> None:
        run, line = self.run_, self.line
        if self.rest.startswith('"') and "STRING" in self.accepts and not line.told:
            hint = 'end it with " in the same line; write a line break as \\n and a quote as \\"'
            self._tell("UNCLOSED_STRING", "this string is not closed", self.rest.rstrip(), hint)
            self._close_string()
            return
        if not line.told:
            self._describe()
        if run.state.position is not None:
            run.complete()

    def _close_string(self) -> None:
        """Feed the rest of the line as the string that it was to be."""
        run, text = self.run_, self.rest.rstrip()
        # A backslash at the end would take the quote that is put behind it: one more makes it a character.
        slashes = len(text) - len(text.rstrip("\\"))
        text += "\\" * (slashes % 2) + '"'
        column = self.line.column(self.position)
        run.state.feed_token(Word(text, "STRING", self.line.number, column))
        run.complete()

    def _describe(self) -> None:
        text, hint = self.word, ""
        code, message = "UNEXPECTED", f"{text!r} cannot stand here"
        legal = set(self.words)
        if not self.rest.strip() or self.rest.startswith("#"):
            code, message, text = "INCOMPLETE", "the line stops too early", ""
        elif text == "<" and self._follows_misspelt_enum():
            return  # its type is told where types are looked up
        elif "_NL" in self.accepts and not legal:
            code, message, text = "JUNK", "unexpected text at the end of the line", self.rest.strip()
            quoted = '"' in self.line.text[: self.position]
            hint = ("put the whole value in double quotes, or " if quoted else "") + "begin a comment with #"
        elif text in legal and self.words[text].endswith("_KEY"):
            message, hint = f"{text!r} has no = after it", f"write {text}=…"
        elif odd := _odd(text):
            message, hint = f"{odd} cannot stand here", "write a plain blank, or remove it"
        elif text == "none":
            hint = "remove it: `none` stands alone in its section"
        else:
            hint = nearest(text, legal - {text})
        if not hint:
            plain = {name for name in self.accepts if not name.startswith("S_")} - {"NONE"}
            options = sorted({described(name) for name in plain or self.accepts})
            hint = f"expected {alternatives(options)}" if options else ""
        self._tell(code, message, text, hint)

    def _follows_misspelt_enum(self) -> bool:
        """Whether members stand here of an `enum` whose name is misspelt, so that it is no type at all."""
        name = _TYPE.fullmatch(self.line.text, 0, self.position)
        if name is None or name[1] in SCALAR_TYPES or "MANY" not in self.accepts:
            return False
        return bool(nearest(name[1], ["enum"]))

    # An error in the first word of a line

    def _beginning(self) -> None:
        """Tell the error, and read the line again as it was most likely meant."""
        run, word = self.run_, self.word
        indent = self.line.text[: self.position]
        # `nearest` gives a sentence, did you mean "…"?; the word alone is wanted here.
        meant = nearest(word, self.words)[14:-2] if word.strip('".') else ""
        assigned = self.after.lstrip(" \t").startswith("=")
        if "FAILURE" in self.accepts and 0 < run.failure <= self.position and not assigned:
            missing = word in _FAILURE_FIELDS
            message = "has no = after it" if missing else "is no field of a failure"
            fields = f"fields: {' '.join(_FAILURE_FIELDS)}"
            hint = f"write {word}=…" if missing else nearest(word, _FAILURE_FIELDS) or fields
            self._tell("UNEXPECTED", f"{word!r} {message}", word, hint)
        elif (head := _SIGNLESS.fullmatch(self.rest)) and f"S_{head[1]}" in self.accepts:
            told = self.rest.split("#")[0].strip()
            hint = f'did you mean "§{head[1]}"?'
            self._tell("UNKNOWN_SECTION", f"there is no section {told}", told, hint)
            self._again(f"§{head[1]}\n")
        elif not run.head and not meant:
            hint = "a file begins with §SKILL"
            self._tell("UNEXPECTED", f"{word!r} stands before the first section", word, hint)
            while run.at < len(run.lines) and not run.lines[run.at].lstrip(" \t").startswith("§"):
                run.at += 1
        elif word in self.words:
            self._malformed(indent, self.words[word])
        elif word == "end":
            self._tell("STRAY_END", "this `end` closes nothing", word, "remove it")
        elif (
            "FAILURE" in self.accepts and _FAILURE.fullmatch(word) and not self.after.lstrip().startswith("=")
        ):
            after = self.after.lstrip(" \t")
            place = len(self.line.text.rstrip("\n")) - len(after)
            self._tell(
                "JUNK",
                "unexpected text at the end of the line",
                after.strip(),
                "put it on a line below",
                place,
            )
            self._again(f"{indent}{word}\n")
        elif _odd(word):
            self._describe()
            blanks = next((n for n, char in enumerate(self.rest) if not _odd(char)), len(self.rest))
            self._again(f"{indent}{' ' * blanks}{self.rest[blanks:]}\n")
        elif self._follows_none():
            self._tell(
                "UNEXPECTED", f"{word!r} cannot stand beside `none`", word, "remove it, or `none` above it"
            )
            run.feed(run.head, "_NL")
            self._again(self.line.text)
        elif meant:
            self._describe()
            self._again(f"{indent}{meant}{self.after}\n", len(indent) + len(meant), len(meant) - len(word))
        elif "KEY" in self.accepts and (match := _KEYLESS.fullmatch(self.rest)):
            self._tell(
                "UNEXPECTED", f"{match[1]!r} has no = after it", match[1], f"write {match[1]}={match[2][:40]}"
            )
            self._again(f"{indent}{match[1]}={match[2]}\n", 0, 0)
        elif "SLOT" in self.accepts and _SLOTLESS.match(self.rest):
            self._tell(
                "UNEXPECTED", f"{word!r} cannot stand here", word, f"write slot {self.rest.strip()[:60]}"
            )
            self._again(f"{indent}slot {self.rest}\n", len(indent) + 5, 5)
        elif "ON" in self.accepts and assigned and word in _BLOCK_OF:
            block = _BLOCK_OF[word]
            hint = f"put it between {block} and end"
            self._tell("UNEXPECTED", f"{word!r} stands outside of its block", word, hint)
            run.at = self._behind_fields()
        else:
            self._describe()
            run.at = self._behind()

    def _malformed(self, indent: str, terminal: str) -> None:
        """A legal word in another form than it has here."""
        word, after = self.word, self.after.strip()
        end = len(indent) + len(word)
        if terminal in _BLANK_AFTER:
            if after:
                self._tell(
                    "UNEXPECTED", f"{word!r} is followed by a blank", word, f"write a blank after {word}"
                )
                after = after.lstrip(":= \t")
            self._again(f"{indent}{word} {after}\n", end, 1, told=bool(self.after.strip()))
        elif terminal.endswith("_KEY"):
            value = after.lstrip(": \t")
            self._tell("UNEXPECTED", f"{word!r} has no = after it", word, f"write {word}={value[:40] or '…'}")
            self._again(f"{indent}{word}={value}\n", end, 0)
        elif after.startswith("=") and terminal != "NONE":
            self._tell("UNEXPECTED", f"{word!r} takes no value", word, f"write {word} alone")
            self._again(f"{indent}{word}\n")
        else:
            place = len(self.line.text.rstrip()) - len(after)
            self._tell(
                "JUNK", "unexpected text at the end of the line", after, "put it on a line below", place
            )
            self._again(f"{indent}{word}\n")

    def _follows_none(self) -> bool:
        """Whether the section says `none` above this line, and a second head of it could stand here."""
        rows, head = self.run_.rows, self.run_.head
        words = rows[next(reversed(rows))] if rows else ()
        return head in self.accepts and [one.type for one in words] == ["NONE"]

    def _behind(self) -> int:
        """The index of the first line behind this one that does not belong to it: what is deeper does, and an
        `end` of its own.
        """
        lines, at = self.run_.lines, self.run_.at
        if OPENS.match(lines[at - 1]):
            depth = 1
            while at < len(lines) and depth and not lines[at].startswith("§"):
                depth += bool(OPENS.match(lines[at])) - bool(ENDS.match(lines[at]))
                at += 1
            return at
        deeper = False
        while at < len(lines):
            text = lines[at].lstrip(" \t")
            column = len(lines[at]) - len(text)
            if text and not text.startswith("#"):
                if deeper and column == self.position and ENDS.match(lines[at]):
                    return at + (column + 1 not in (block.column for block in self.run_.blocks))
                if column <= self.position or text.startswith("§"):
                    break
                deeper = True
            at += 1
        return at

    def _behind_fields(self) -> int:
        """The index of the first line behind fields that lack their block's head, and behind its `end`."""
        lines, at, blocks = self.run_.lines, self.run_.at, self.run_.blocks
        while at < len(lines):
            text = lines[at].lstrip(" \t")
            column = len(lines[at]) - len(text)
            if ENDS.match(text):
                own = self.run_.by_columns and column + 1 > (blocks[-1].column if blocks else 0)
                return at + own
            if text.startswith("§") or (text and text[0] != "#" and column < self.position):
                break
            at += 1
        return at

    # A section's head

    def _head(self) -> None:
        run, word = self.run_, self.word
        name = word.removeprefix("§").strip()
        if self.position == 0 and name in SECTIONS and run.blocks:
            run.unclosed(len(run.blocks), word)
            self._again(self.line.text, told=self.line.told)
            return
        meant = nearest(name.upper(), SECTIONS)[14:-2]
        if name in SECTIONS:
            after = len(word) > len(name) + 1
            message = "no blank stands in the name of a section" if after else "a section starts in column 1"
            self._tell("INDENT", message, word, f"write §{name} at the start of the line")
            meant = name
        else:
            legal = " ".join(f"§{section}" for section in SECTIONS)
            hint = f'did you mean "§{meant}"?' if meant else f"sections: {legal}"
            self._tell("UNKNOWN_SECTION", f"there is no section {word}", word, hint)
        head = re.compile(rf"§{meant}(?![\w-])")
        if meant and (name == meant or not any(head.match(line) for line in run.lines)):
            self._again(f"§{meant}\n")
            return
        while run.at < len(run.lines) and not run.lines[run.at].lstrip(" \t").startswith("§"):
            run.at += 1

    # Telling, and reading again

    def _tell(self, code: str, message: str, text: str, hint: str, position: int | None = None) -> None:
        if not self.line.told:
            column = self.line.column(self.position if position is None else position)
            self.run_.find(self.line.number, column, code, message, text, hint)

    def _again(self, text: str, since: int = 0, shift: int = 0, *, told: bool = True) -> None:
        self.run_.guessed.add(self.line.number)
        line = Line(text, self.line.number, since, shift, told)
        self.run_.read(text, self.line.number, line)


def _odd(text: str) -> str:
    """The name of a character that looks like a blank or like nothing; "" for any other."""
    if len(text) == 1 and (text.isspace() or kind_of(text) in INVISIBLE | {"format"}):
        return f"U+{ord(text):04X} ({unicodedata.name(text, 'no name').lower()})"
    return ""
