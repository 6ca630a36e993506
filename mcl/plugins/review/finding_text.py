"""Findings in any text: whatever a model or a person wrote, nothing that looks like one is passed over."""

import json
import re
import unicodedata
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from html import unescape
from typing import ClassVar, Final, cast

from executor.core.words import one_slip
from ir.characters import INVISIBLE, Kinds, without
from ir.results import JsonResult
from mcl.plugins.review.finding import (
    BLOCKING,
    FOREIGN,
    SEVERITIES,
    ReviewFinding,
    Severity,
    canonical_body,
    in_order,
    without_repeats,
)

# ---- The characters of a line, as the one who reads it sees them.

_NOT_SEEN: Final[Kinds] = INVISIBLE | {"control"}
_BLANK: Final = re.compile(r"[^\S\t]")
# Brackets, colons and dashes that the compatibility form leaves as they are.
_ALIKE: Final = str.maketrans(
    {
        **dict.fromkeys("【〔〖〚⟦❲「『⁅", "["),
        **dict.fromkeys("】〕〗〛⟧❳」』⁆", "]"),
        **dict.fromkeys("∶꞉ːː", ":"),
        **dict.fromkeys("‐‑‒–—―−", "-"),
        **dict.fromkeys("∕⁄", "/"),
    }
)


def visible(line: str) -> str:
    """`line` without what is not seen, and with plain blanks."""
    return _BLANK.sub(" ", without(line, _NOT_SEEN))


def folded(line: str) -> str:
    """A visible line in plain characters: full-width and other forms of a letter are that letter, marks on
    letters are gone, entities of HTML are what they stand for.

    Marks go first: putting long runs of them in order takes quadratic time.
    """
    if "&" in line:
        line = visible(unescape(line))
    if line.isascii():
        return line
    letters = "".join(letter for letter in line if unicodedata.category(letter)[0] != "M")
    return _BLANK.sub(" ", unicodedata.normalize("NFKC", letters.translate(_ALIKE)))


# ---- What looks like a finding though it cannot be read as one.

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
_LISTED: Final = re.compile(r'"findings"\s{0,8}:\s{0,8}\[(?!\s{0,8}\])', re.I)  # as JSON, and not empty
_CELL: Final = re.compile(rf"\|[\s*_`]*+(?:{_ANY})[\s*_`]*+\|", re.I)


def like_a_finding(line: str) -> bool:
    """Whether a visible line looks like a finding."""
    placed = _PLACE.search(line) is not None
    named = placed or _NAME.search(line) is not None
    gathered = _gathered(line)
    return _somewhere(line, named) or _first(line, placed) or bool(gathered and _first(gathered, placed))


def _somewhere(line: str, placed: bool) -> bool:
    """What a line has anywhere. placed: whether it names a file."""
    if any(one.search(line) for one in (_SHOUTED, _BEFORE_PLACE, _SAID, _LISTED)):
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
    return any(one_slip(word, label) for label in SEVERITIES)


MAX_FILE: Final = 1000  # characters of a path that is not quoted
MAX_LINE: Final = 20_000  # characters of a line that is judged; a longer one looks like a finding

_LABEL: Final = re.compile(
    rf"\[[\s*_`~!\\]*+({_ANY})[\s*_`~:\\]*+\](?:[*`~:\s]|_++(?=\s)|[-–—|](?=\s))*+", re.I | re.A
)
_QUOTED: Final = re.compile(r'"(?:[^"\\]|\\.)++"')
_LINE_NUMBER: Final = re.compile(
    r":([0-9]{1,9})(?:-[0-9]{1,9}|–[0-9]{1,9}|[:,][0-9]{1,9})*+(?=$|[\s`*_()\[\]<>|,.;:'\"–—-])"
)
_BETWEEN: Final = re.compile(r"[*`_)\]>'\"]*+:?\s*+(?:(?:[-–—:|.,;=]++>?|-->)(?=\s|$))?\s*+")
_PAIRS: Final = {"(": ")", "<": ">", "[": "]", "'": "'", '"': '"'}


@dataclass(frozen=True, slots=True)
class FindingHead:
    """The first line of a finding. rest: what is said on the same line."""

    severity: Severity
    file: str
    line: int
    rest: str

    @property
    def doubtful(self) -> bool:
        """Whether what is said on the same line looks like a further finding."""
        return looks_like_a_finding(self.rest)


def head_of(line: str) -> FindingHead | None:
    """The head of a finding that a line is, None where it is not one.

    List marks, quotes, headings, emphasis and what is not seen are passed over, the label may be in any case,
    and what follows the location is the rest. A name of a file is taken as it is where that can be read.
    """
    seen = visible(line)
    plain = folded(seen) if len(seen) <= MAX_LINE else seen
    return _head(seen) or (None if plain == seen else _head(plain))


def looks_like_a_finding(line: str) -> bool:
    """Whether a line that is no head of a finding looks like one, so that passing over it might lose one."""
    if len(line.strip()) > MAX_LINE:
        return True
    seen = visible(line)
    plain = folded(seen)
    return like_a_finding(seen) or (plain != seen and like_a_finding(plain))


def _head(line: str) -> FindingHead | None:
    start = START.match(line)
    before = start[0] if start else ""
    label = _LABEL.match(line, len(before))
    if label is None:
        return None
    severity = cast("Severity", label[1].upper())
    named = _quoted(line, label.end()) or _named(line, label.end())
    if named is None:
        return None
    file, number, end = named
    between = _BETWEEN.match(line, end)
    rest = line[between.end() if between else end :].strip()
    return FindingHead(severity, file, number, _without_emphasis(rest, before))


def _quoted(line: str, at: int) -> tuple[str, int, int] | None:
    """A file's name as a JSON string, the number of the line, and where both end."""
    literal = _QUOTED.match(line, at)
    place = _LINE_NUMBER.match(line, literal.end()) if literal else None
    if literal is None or place is None:
        return None
    try:
        name = json.loads(literal[0])
    except ValueError:
        return None
    return (name, int(place[1]), place.end()) if name else None


def _named(line: str, at: int) -> tuple[str, int, int] | None:
    """A file's name as it is, the number of the line, and where both end."""
    place = _LINE_NUMBER.search(line, at, at + MAX_FILE + 20)
    if place is None:
        return None
    file, end = line[at : place.start()].strip(" \t*`"), place.end()
    closing = _PAIRS.get(file[:1], "")
    if closing and line[end : end + 1] == closing and closing not in file[1:]:
        file, end = file[1:], end + 1
    if not any(map(str.isalnum, file)) or like_a_finding(file):
        return None
    return file, int(place[1]), end


def _without_emphasis(rest: str, before: str) -> str:
    """What is said on the line, without the end of emphasis that was begun before the label."""
    return rest.rstrip("*_`~ ") if set(before) & set("*_`~") else rest


# ---- The findings of a text.

MAX_TOLD: Final = 500  # characters of a line that cannot be read
_FENCES: Final = ("```", "~~~")
_ESCAPED: Final = re.compile(r'"(?:\\u[0-9a-f]{4})++"')


@dataclass(frozen=True, slots=True)
class UnreadableLine:
    """A line that looks like a finding and cannot be read.

    line: 1-based, in the text that was read. text: its first `MAX_TOLD` characters.
    """

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class FindingsRead(JsonResult):
    """What was read: the findings in the order of the text, and what could not be read.

    outside: those of the findings whose label the contract does not have.
    """

    JSON: ClassVar = "findings blocking unreadable"
    findings: tuple[ReviewFinding, ...] = ()
    unreadable: tuple[UnreadableLine, ...] = ()
    outside: tuple[ReviewFinding, ...] = ()

    @property
    def blocking(self) -> bool:
        """Whether a finding stops what is reviewed, or something could not be read."""
        return bool(self.unreadable) or any(finding.blocking for finding in self.findings)


def read_findings(text: str, *, labels: Collection[Severity] | None = None) -> FindingsRead:
    """Read the findings in a text. It never raises, and takes time linear in the text.

    A finding is a line `[SEVERITY] file:line` with the lines to the next one as its body, but for those that
    cannot be read; prose before the first is no finding. labels: those of the contract; a finding with
    another label is a finding all the same, and is told in `outside` too.
    """
    heads: list[tuple[FindingHead, list[str]]] = []
    unreadable: list[UnreadableLine] = []
    body: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        said = bool(line.strip())  # texts may be a million empty lines
        head = head_of(line) if said else None
        if head is not None:
            body = []
            heads.append((head, body))
        written = unescaped(line) if head is None else line
        if head.doubtful if head else written is line and said and looks_like_a_finding(line):
            unreadable.append(UnreadableLine(number, line.strip()[:MAX_TOLD]))
        elif head is None:
            body.append(written)
    findings = tuple(
        ReviewFinding(head.severity, head.file, head.line, _body(head, lines)) for head, lines in heads
    )
    return FindingsRead(findings, tuple(unreadable), _outside(findings, labels))


def says_nothing(text: str) -> bool:
    """Whether a text has no words: it is empty, of blanks, unseen characters and marks alone, a fence around
    nothing, or JSON's null. Nobody reviewed anything who said so."""
    lines = (folded(visible(line)).strip() for line in text.splitlines())
    said = "".join(line for line in lines if not line.startswith(_FENCES))
    return said.casefold() == "null" or not any(map(str.isalnum, said))


def settled(reading: FindingsRead) -> FindingsRead:
    """The same with each finding once and the worst first."""
    findings = in_order(without_repeats(reading.findings))
    return FindingsRead(findings, reading.unreadable, in_order(without_repeats(reading.outside)))


def _outside(
    findings: tuple[ReviewFinding, ...], labels: Collection[Severity] | None
) -> tuple[ReviewFinding, ...]:
    return () if labels is None else tuple(found for found in findings if found.severity not in labels)


def unescaped(line: str) -> str:
    """A line of a body as it was before it was written: see `mcl.plugins.review.finding_text`."""
    return str(json.loads(line)) if _ESCAPED.fullmatch(line) else line


def _body(head: FindingHead, lines: list[str]) -> str:
    said = "\n".join(lines)
    return f"{head.rest}\n{canonical_body(said)}" if head.rest else said


# ---- Findings as text: `[SEVERITY] file:line` and the body below it.

NO_FINDINGS: Final = "No findings."
_SPECIAL: Final = re.compile(r"[^a-z0-9/._ -]")


def write_finding(finding: ReviewFinding) -> str:
    """One finding as text that `read_findings` reads back."""
    head = f"[{finding.severity}] {finding.file}:{finding.line}"
    if (
        head_of(head) != FindingHead(finding.severity, finding.file, finding.line, "")
        or len(head.splitlines()) > 1
    ):
        head = f'[{finding.severity}] "{_SPECIAL.sub(_escape, finding.file)}":{finding.line}'
    return "\n".join([head, *map(_written_line, finding.body.split("\n"))]) if finding.body else head


def write_findings(findings: Iterable[ReviewFinding]) -> str:
    """Findings as text, with an empty line between them; `No findings.` where there are none."""
    return "\n\n".join(map(write_finding, findings)) or NO_FINDINGS


def _written_line(line: str) -> str:
    """A line of a body; one that would be read as something else is written in escapes."""
    if head_of(line) is None and not looks_like_a_finding(line) and unescaped(line) == line:
        return line
    return '"' + "".join(map(_units, line)) + '"'


def _escape(match: re.Match[str]) -> str:
    return _units(match[0])


def _units(letter: str) -> str:
    """A character as JSON escapes of its UTF-16 units."""
    units = letter.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
