"""One decision of architecture: what it says, and what it may hold."""

import hashlib
import re
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal, TypeAlias, get_args

from executor.core.globs import Glob, GlobError
from executor.core.words import name_part
from ir.results import JsonResult
from mcl.core.errors import ReviewError
from mcl.core.yaml import FileFlaw as Flaw
from mcl.core.yaml import ListNode, MapNode, Node, ScalarNode, read_tree, text_of, written

Kind: TypeAlias = Literal["decisions", "boundaries", "philosophy", "rejected"]
Status: TypeAlias = Literal["proposed", "accepted", "superseded", "deprecated", "rejected"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
STATUSES: Final[tuple[Status, ...]] = get_args(Status)
STANDING: Final = frozenset(("proposed", "accepted"))  # what a review is told of
FOLDER: Final = "architecture_memory"
LONGEST_TITLE: Final = 200  # characters
LONGEST_BODY: Final = 14_000  # characters; with its title it fits into one memory
LONGEST_FILES: Final = 2_000  # characters of all patterns together
MOST_FILES: Final = 32
ID: Final = re.compile(r"ADR-(?!0000)([0-9]{4}|[1-9][0-9]{4,7})")
_DATE: Final = re.compile(r"[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])")
_ODD: Final = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
_SECTION: Final = re.compile(r"^##[ \t]+(.+?)[ \t#]*$")
_HEADING: Final = re.compile(r"^ {0,3}#{1,2}(?:[ \t]|$)", re.MULTILINE)
_SLUG: Final = 48  # characters of a file's name that come from the title
SECTIONS: Final = ("Context", "Decision", "Consequences")


@dataclass(frozen=True)
class ArchitectureDecision(JsonResult):
    """A decision, as it stands in its Markdown file.

    id: ADR-0001. files: patterns of the paths that it is about; none: all. date: of the decision, 2026-11-22.
    body: Markdown below the title, most often with the sections Context, Decision and Consequences. uri: of
    the memory, "" where there is none. sha256: of the file's bytes as they were written or read, "" where
    there never was one.
    """

    JSON: ClassVar = "id title kind status date files body path uri"
    id: str
    title: str
    body: str
    kind: Kind = "decisions"
    status: Status = "accepted"
    date: str = ""
    files: tuple[str, ...] = ()
    uri: str = ""
    sha256: str = ""

    @property
    def number(self) -> int:
        return int(self.id.removeprefix("ADR-"))

    @property
    def path(self) -> str:
        """Its file, relative to the workspace."""
        return f"{FOLDER}/{self.kind}/{self.id}-{name_part(self.title, _SLUG, 'decision')}.md"

    @property
    def says(self) -> tuple[object, ...]:
        """What it says: two decisions with the same say the same."""
        return (self.id, self.title, self.body, self.kind, self.status, self.date, self.files)

    def section(self, name: str) -> str:
        """The text of one section of the body; "" where there is none."""
        held: list[str] = []
        inside = False
        for line in self.body.split("\n"):
            if found := _SECTION.match(line):
                inside = found[1].strip().casefold() == name.casefold()
            elif inside:
                held.append(line)
        return "\n".join(held).strip()


def body_of(context: str, decision: str, consequences: str) -> str:
    """A body of these sections; those without text are left out.

    Raises ReviewError DECISION_SHAPE where one has a heading of the first or second level.
    """
    parts = []
    for name, text in zip(SECTIONS, (context, decision, consequences), strict=True):
        plain = text.replace("\r\n", "\n").replace("\r", "\n").strip()
        if _HEADING.search(plain):
            raise flaw("a heading of the first or second level in it", name.lower(), "begin it with ###")
        if plain:
            parts.append(f"## {name}\n\n{plain}")
    return "\n\n".join(parts)


def checked(decision: ArchitectureDecision) -> ArchitectureDecision:
    """The decision itself. Raises ReviewError DECISION_SHAPE with the field as its place."""
    for field, why, holds in _rules(decision):
        if not holds:
            raise flaw(why, field)
    for pattern in decision.files:
        try:
            Glob.read(pattern)
        except GlobError as error:
            raise flaw(f"{error.message}: {pattern}", "files", error.fix) from error
    return decision


def _rules(one: ArchitectureDecision) -> tuple[tuple[str, str, bool], ...]:
    texts = (("title", one.title), ("body", one.body.replace("\n", "")), ("files", "".join(one.files)))
    odd = next((name for name, text in texts if _ODD.search(text)), "")
    return (
        ("id", "an id is written ADR-0001", ID.fullmatch(one.id) is not None),
        ("kind", f"the kind is none of {', '.join(KINDS)}", one.kind in KINDS),
        ("status", f"the status is none of {', '.join(STATUSES)}", one.status in STATUSES),
        ("date", "the date is not written as 2026-11-22", _DATE.fullmatch(one.date) is not None),
        ("title", "the title is empty, or has several lines", _one_line(one.title)),
        ("title", f"the title has more than {LONGEST_TITLE} characters", len(one.title) <= LONGEST_TITLE),
        ("body", "it says nothing", bool(one.body.strip())),
        ("body", f"more than {LONGEST_BODY} characters", len(one.body) <= LONGEST_BODY),
        ("files", f"more than {MOST_FILES} patterns", len(one.files) <= MOST_FILES),
        ("files", f"more than {LONGEST_FILES} characters", len("\n".join(one.files)) <= LONGEST_FILES),
        ("files", "an empty pattern, or one with blanks around it", all(map(_one_line, one.files))),
        ("files", "a pattern is there twice", len(set(one.files)) == len(one.files)),
        (odd or "body", "a control character, or half a character", not odd),
    )


def _one_line(text: str) -> bool:
    return bool(text) and text == text.strip() and "\n" not in text and "\t" not in text


def flaw(why: str, place: str, fix: str = "") -> ReviewError:
    """The error for a decision that cannot be kept."""
    return ReviewError("DECISION_SHAPE", why, place=place, fix=fix or "correct it and decide it again")


# ---- The Markdown file of a decision: front matter in YAML, then title and body.

MAX_BYTES: Final = 64 << 10  # of a file
_MAX_HEAD: Final = 16 << 10  # characters of front matter
_FIELDS: Final = ("id", "title", "status", "kind", "date", "files")
_MARK: Final = "---"
_TITLE: Final = re.compile(r"^#[ \t]+(?P<title>.+?)[ \t]*$")


def write_adr(decision: ArchitectureDecision) -> bytes:
    """The file of a decision: the same bytes for the same decision, and it reads as it again.

    Raises ReviewError DECISION_SHAPE.
    """
    checked(decision)
    head = {name: getattr(decision, name) for name in _FIELDS} | {"files": list(decision.files)}
    text = f"{_MARK}\n{written(head)}{_MARK}\n\n# {decision.id}: {decision.title}\n\n{decision.body}\n"
    data = text.encode()
    if read_adr(data, decision.path).says != decision.says:
        raise ReviewError(
            "DECISION_SHAPE", "its file would not read as it", place=decision.id, fix="use plainer text"
        )
    return data


def read_adr(data: bytes, path: str) -> ArchitectureDecision:
    """The decision that a file says. path: its name, for messages.

    Raises ReviewError DECISION_FILE with path and line.
    """
    if len(data) > MAX_BYTES:
        raise _bad(path, 0, f"more than {MAX_BYTES:,} bytes")
    try:
        text = data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _bad(path, line, "not UTF-8 text") from error
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if lines[0].rstrip() != _MARK:
        raise _bad(path, 1, "it does not begin with front matter (a line ---)")
    end = next((at for at, line in enumerate(lines[1:], 1) if line.rstrip() == _MARK), 0)
    if not end:
        raise _bad(path, len(lines), "the front matter is not closed (a line ---)")
    head = _head("\n".join(lines[1:end]), path)
    body = lines[end + 1 :]
    while body and not body[0].strip():
        body = body[1:]
    named = _TITLE.match(body[0]) if body else None
    if named is None or named["title"] not in (head["title"], f"{head['id']}: {head['title']}"):
        at = len(lines) - len(body) + 1
        raise _bad(path, min(at, len(lines)), "below the front matter stands the title: # ADR-0001: Title")
    decision = ArchitectureDecision(
        body="\n".join(body[1:]).strip("\n").rstrip(), sha256=hashlib.sha256(data).hexdigest(), **head
    )
    try:
        return checked(decision)
    except ReviewError as error:
        line = next((at for at, one in enumerate(lines[:end], 1) if one.startswith(f"{error.place}:")), 1)
        raise _bad(path, line, f"{error.place}: {error.message}") from error


def _head(front: str, path: str) -> dict[str, Any]:
    """The fields of front matter, each of the right type."""
    if len(front) > _MAX_HEAD:
        raise _bad(path, 2, f"the front matter has more than {_MAX_HEAD:,} characters")
    text = text_of(front.encode())
    root, flaws = (None, (text,)) if isinstance(text, Flaw) else read_tree(text, anchors=False)
    if flaws:
        raise _bad(path, flaws[0].line + 1, flaws[0].message)
    if not isinstance(root, MapNode):
        raise _bad(path, 2, "the front matter is no map of fields")
    head: dict[str, Any] = {}
    for key, value in root.pairs:
        if key.text not in _FIELDS:
            raise _bad(path, key.line + 1, f"there is no field {key.text[:40]!r}; {', '.join(_FIELDS)}")
        if key.text == "files":
            listed = value.items if isinstance(value, ListNode) else [value]
            head["files"] = tuple(_text(one, path, "files") for one in listed)
        else:
            head[key.text] = _text(value, path, key.text)
    if missing := [name for name in _FIELDS if name not in head and name != "files"]:
        raise _bad(path, 2, f"the front matter lacks {', '.join(missing)}")
    return head


def _text(node: Node, path: str, field: str) -> str:
    if not isinstance(node, ScalarNode) or node.kind in ("null", "bool"):
        raise _bad(path, node.line + 1, f"{field} is no text")
    return node.text


def _bad(path: str, line: int, why: str) -> ReviewError:
    return ReviewError(
        "DECISION_FILE",
        f"no decision can be read from it: {why}",
        place=f"{path}:{line}" if line else path,
        fix="repair the file; docs/review-memory.md says what it holds",
    )
