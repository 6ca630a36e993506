"""What reviews found: each review of a file is a version of that file's memory.

Kept are the findings, how many there were of each severity, mode, model, skill, intent and moment; never
what the file holds: code that a finding quotes is left out.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from itertools import takewhile
from pathlib import Path
from typing import Any, Final

from executor.sandbox.redaction import visible
from executor.store.home import Home
from ir.inline_secrets import without_secrets
from mcl.core.errors import ReviewError
from mcl.core.text import cut
from mcl.memory.memory import LONGEST_TEXT, Memory
from mcl.plugins.review.finding import BLOCKING, SEVERITIES, ReviewFinding, Severity, in_order
from mcl.plugins.review.memory.decisions import Decisions
from mcl.plugins.review.memory.dismissals import Dismissals
from mcl.plugins.review.memory.meanings import Meanings, plain_lines
from mcl.plugins.review.memory.place import TAG, WorkspaceMemory, file_name

# ---- Bodies of findings without the code that they quote.

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


NEWEST: Final = 10  # reviews of a file that are looked back at
TOP: Final = 5  # findings of the last one that the next is told
LONGEST_BODY: Final = 600  # characters
_LONGEST_PATH: Final = 2_000  # characters of a path; it is known by its hash, whatever its length
_LONGEST_NAME: Final = 200  # characters of a mode, model or skill
_CUT: Final = " … [cut]"
_KIND: Final = f"{TAG}.history"
_TYPE: Final = "Event"
_HISTORY_NUMBER: Final = re.compile(r"[0-9]{1,9}")


@dataclass(frozen=True)
class Review:
    """One review of a file, as it is remembered.

    file: relative to the workspace. at: the moment. model, skill, intent: "" where there was none.
    severities: how many findings there were of each severity that occurred, the most severe first. left_out:
    how many of them did not fit. uri: of the memory. kept: its text, of which the findings are read. gone:
    marks of what is dismissed by now, which is not among the findings and not counted.
    """

    file: str
    mode: str
    at: str
    severities: tuple[tuple[Severity, int], ...] = ()
    left_out: int = 0
    model: str = ""
    skill: str = ""
    intent: str = ""
    uri: str = ""
    kept: str = field(default="", repr=False)
    gone: Collection[str] = field(default=(), repr=False, compare=False)

    @cached_property
    def findings(self) -> tuple[ReviewFinding, ...]:
        """The findings that fitted, in order of severity."""
        return in_order(one for one in _findings(self.file, self.kept) if not one.marked_in(self.gone))

    @cached_property
    def dismissed(self) -> tuple[ReviewFinding, ...]:
        """What was found and is dismissed by now."""
        return tuple(one for one in _findings(self.file, self.kept) if one.marked_in(self.gone))

    @property
    def blocking(self) -> int:
        """How many of its findings block."""
        return sum(number for severity, number in self.severities if severity in BLOCKING)

    @property
    def total(self) -> int:
        return sum(number for _, number in self.severities)

    def to_json(self) -> dict[str, object]:
        """The review as a JSON object."""
        return {
            "file": self.file,
            "mode": self.mode,
            "at": self.at,
            "findings": self.findings,
            "severities": dict(self.severities),
            "left_out": self.left_out,
            "blocking": self.blocking,
            "dismissed": self.dismissed,
            "model": self.model,
            "skill": self.skill,
            "intent": self.intent,
            "uri": self.uri,
        }


class ReviewHistory:
    """The reviews of a workspace's files. Nothing of it is ever purged, and it never leaves this machine."""

    def __init__(self, place: WorkspaceMemory, gone: Callable[[], Collection[str]] = tuple) -> None:
        """gone: gives the marks of what is dismissed now."""
        self._place, self._gone = place, gone

    def record(
        self,
        file: str,
        *,
        findings: Sequence[ReviewFinding],
        mode: str,
        model: str = "",
        skill: str = "",
        intent: str = "",
        at: str = "",
        content: str = "",
    ) -> Review:
        """Remember a review of a file, one without findings too. No two are taken for one another.

        file: relative to the workspace. at: the moment (default: now). content: what was reviewed; lines of
        it that a finding quotes are left out. Secrets are taken out. Raises ReviewError REVIEW_PATH,
        MemoryStoreError MEMORY_SHAPE, HomeError.
        """
        name, gone = file_name(file), self._gone()
        there = in_order(one for one in findings if not one.marked_in(gone))
        ordered = (*there, *in_order(one for one in findings if one.marked_in(gone)))
        text, kept = _written(name, mode, ordered, len(there), content)
        counts = Counter(one.severity for one in (*there, *ordered[len(there) : kept]))
        severities = {one: counts[one] for one in SEVERITIES if counts[one]}
        with self._place.home.db.write():
            before = self._place.now().version(f"matrix://cortex/{_TYPE}/{self._id(name)}")
            data = {
                "file": cut(name, _LONGEST_PATH),
                **{"mode": _named(mode), "model": _named(model), "skill": _named(skill)},
                "nth": str(before.version + 1 if before else 1),  # so that each is a version of its own
                "severities": json.dumps(severities),
                "left_out": str(max(0, len(there) - kept)),
                **({"intent": intent} if intent else {}),
            }
            given = {"type": _TYPE, "id": self._file(name), "text": text, "data": data}
            given |= {"source": f"matrix://intent/{intent}"} if intent else {}
            memory = self._place.made(given, kind=_KIND, at=at)
            return _read(self._place.store.write([memory])[0], gone)

    def last(self, file: str, n: int = NEWEST) -> tuple[Review, ...]:
        """The newest reviews of a file, the newest first; never more than 10. Raises ReviewError
        REVIEW_PATH."""
        uri = f"matrix://cortex/{_TYPE}/{self._id(file_name(file))}"
        newest = reversed(self._place.now().history(uri, newest=max(0, min(n, NEWEST))))
        there, gone = takewhile(lambda memory: not memory.forgotten, newest), self._gone()
        return tuple(_read(memory, gone) for memory in there)

    def files(self) -> tuple[Review, ...]:
        """The last review of each file, in the order of their names."""
        gone = self._gone()
        found = (_read(one, gone) for one in self._place.all(_TYPE, _KIND))
        return tuple(sorted(found, key=lambda one: one.file))

    def moments(self) -> dict[str, str]:
        """When each file was reviewed last, ISO 8601 UTC by path."""
        return {one.file: one.at for one in self.files()}

    def open(self) -> tuple[Review, ...]:
        """The last reviews that found what blocks, in the order of their files."""
        return tuple(one for one in self.files() if one.blocking)

    def _file(self, name: str) -> str:
        return sha256(name.encode()).hexdigest()[:24]

    def _id(self, name: str) -> str:
        return self._place.id(self._file(name))


def _written(
    file: str, mode: str, findings: Sequence[ReviewFinding], counted: int, content: str
) -> tuple[str, int]:
    """The text of a memory: a line for people, then an object a finding; and how many of them fit. counted:
    as many of them are not dismissed, the first."""
    blocking = sum(one.blocking for one in findings[:counted])
    said_of = f"{counted} findings, {blocking} of them blocking"
    said_of += f", {len(findings) - counted} dismissed" if len(findings) > counted else ""
    text = visible(f"{mode} review of {file}: {said_of}")
    kept = 0
    for one in findings:
        body = plain_lines(without_secrets(without_quotes(one.body, content)))
        said: dict[str, Any] = {"severity": one.severity, "line": one.line, "body": _short(body)}
        said |= {"file": visible(one.file)} if one.file != file else {}
        said |= {"rule": visible(one.rule)} if one.rule else {}
        said |= {"mark": one.mark} if one.mark else {}
        line = json.dumps(said, ensure_ascii=False, sort_keys=True)
        if without_secrets(line) != line:  # a secret that was taken apart
            line = json.dumps(said | {"body": "[redacted]"}, ensure_ascii=False, sort_keys=True)
        if len(text) + 1 + len(line) > LONGEST_TEXT:
            break
        text += f"\n{line}"
        kept += 1
    return text, kept


def _named(name: str) -> str:
    return visible(name)[:_LONGEST_NAME]


def _short(body: str) -> str:
    return body if len(body) <= LONGEST_BODY else body[: LONGEST_BODY - len(_CUT)].rstrip() + _CUT


def _read(memory: Memory, gone: Collection[str]) -> Review:
    data = dict(memory.data)
    file, counts = data.get("file", ""), Counter(dict(_counts(data.get("severities", ""))))
    if gone:
        counts.subtract(one.severity for one in _findings(file, memory.text) if one.marked_in(gone))
    return Review(
        file=file,
        mode=data.get("mode", ""),
        at=memory.at,
        severities=tuple((one, counts[one]) for one in SEVERITIES if counts[one] > 0),
        left_out=int(left) if _HISTORY_NUMBER.fullmatch(left := data.get("left_out", "")) else 0,
        model=data.get("model", ""),
        skill=data.get("skill", ""),
        intent=data.get("intent", ""),
        uri=memory.uri,
        kept=memory.text,
        gone=gone,
    )


def _counts(text: str) -> tuple[tuple[Severity, int], ...]:
    try:
        said = json.loads(text)
        return tuple((one, int(said[one])) for one in SEVERITIES if one in said)
    except (ValueError, TypeError, RecursionError):
        return ()


def _findings(file: str, text: str) -> Iterator[ReviewFinding]:
    """The findings of a text; what a person wrote between them is passed by."""
    for line in text.split("\n")[1:]:
        try:
            said = json.loads(line)
            severity = next(one for one in SEVERITIES if one == said["severity"])
            named = str(said.get("file", file))
            more = (str(said.get(name, "")) for name in ("rule", "mark"))
            yield ReviewFinding(severity, named, int(said["line"]), str(said["body"]), *more)
        except (ValueError, TypeError, KeyError, StopIteration, AttributeError, RecursionError, ReviewError):
            continue


# ---- The memories of a workspace.


class ReviewMemories:
    """What reviews remember of the workspace in a folder: history, decisions, meanings, what was dismissed.

    All of it lies among the home's memories, under the key of the workspace's real path: typed, versioned,
    journalled, without secrets, and safe to write from several processes at once.
    """

    def __init__(self, home: Home, root: Path) -> None:
        self._place = WorkspaceMemory.of(home, root)

    @property
    def key(self) -> str:
        """The key of the workspace, 16 hex digits."""
        return self._place.key

    @cached_property
    def history(self) -> ReviewHistory:
        return ReviewHistory(self._place, lambda: self.dismissals.all().keys())

    @cached_property
    def dismissals(self) -> Dismissals:
        return Dismissals(self._place)

    @cached_property
    def decisions(self) -> Decisions:
        return Decisions(self._place)

    @cached_property
    def meanings(self) -> Meanings:
        return Meanings(self._place)
