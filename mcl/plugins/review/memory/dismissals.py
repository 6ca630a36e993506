"""Findings that a person holds for false. Each is a memory of its own, so two writers lose nothing.

Nothing but `mcl review dismiss` and the library writes one: there is no tool for it, and the tools that write
memories refuse their names. Each has a seal made with a secret of the home, so no memory that was put or
imported otherwise counts as one.
"""

import hmac
import json
import re
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any, ClassVar, Final

from executor.sandbox.redaction import visible
from executor.store.home import Home
from executor.store.keys.keyfile import marking_secret
from ir.inline_secrets import without_secrets
from ir.results import JsonResult
from mcl.core.errors import ReviewError
from mcl.memory.memory import Memory
from mcl.memory.words import Memories as Remembered
from mcl.plugins.review.finding import ReviewFinding, normalised
from mcl.plugins.review.memory.place import TAG, WorkspaceMemory

if TYPE_CHECKING:
    from mcl.plugins.review.scan.weights import KnownMarks


# ---- What a finding is known by when it is found again: a mark, made with a secret of the home.

_DIGITS: Final = 16  # hexadecimal


class Marks:
    """Makes the marks of one workspace's findings. key: of the workspace."""

    def __init__(self, home: Home, key: str) -> None:
        self._secret = marking_secret(home.path / "keys")
        self._key = key

    def of_rule(self, file: str, rule: str, text: str, nth: int) -> str:
        """The mark of what a rule found, 16 hex digits. text: the lines that it is about, without the blanks
        around them. nth: which of the places in the file that have this text, from 1."""
        return self._made("rule", file, rule, text, str(nth))

    def of_said(self, finding: ReviewFinding) -> str:
        """The mark of what a model said of a file: its label and its body in `normalised` form."""
        return self._made("said", finding.file, finding.severity, normalised(finding.body))

    def seal(self, mark: str, why: str) -> str:
        """What a dismissal has that mcl made in this home: marks are told to many, the secret to none."""
        return self._made("dismissal", mark, why)

    def _made(self, *said: str) -> str:
        text = json.dumps([self._key, *said]).encode()  # ASCII, also of half characters
        return hmac.new(self._secret, text, sha256).hexdigest()[:_DIGITS]


LONGEST_WHY: Final = 1_000  # characters
_LONGEST_PATH: Final = 2_000
_LONGEST_SAID: Final = 300  # characters of what the finding said
_KIND: Final = f"{TAG}.dismissal"
_TYPE: Final = "Belief"
_MARK: Final = re.compile(r"[0-9a-f]{16}")
_NUMBER: Final = re.compile(r"[0-9]{1,9}")


@dataclass(frozen=True, slots=True)
class Dismissal(JsonResult):
    """A finding that does not count any more.

    mark: what it is known by. file, line, severity, rule, said: of the finding as it was when it was
    dismissed; rule is "" where a model said it. why: a person's words. by: the DID of the user. at: when.
    """

    JSON: ClassVar = "mark location line severity rule said why by at uri"
    mark: str
    file: str
    line: int
    severity: str
    rule: str
    said: str
    why: str
    by: str = ""
    at: str = ""
    uri: str = ""

    @property
    def location(self) -> str:
        """Where it stood: `file:line`."""
        return f"{self.file}:{self.line}"


class Dismissals:
    """What was dismissed in a workspace."""

    def __init__(self, place: WorkspaceMemory) -> None:
        self._place = place

    @cached_property
    def maker(self) -> Marks:
        """Makes the marks of this workspace."""
        return Marks(self._place.home, self._place.key)

    def dismiss(self, finding: ReviewFinding, why: str) -> Dismissal:
        """Dismiss a finding; one that is dismissed already gets these words. Secrets are taken out of them.

        Raises ReviewError NOT_DISMISSIBLE, DISMISSAL_SHAPE; MemoryStoreError, HomeError.
        """
        if not _MARK.fullmatch(finding.mark):
            raise ReviewError(
                "NOT_DISMISSIBLE",
                "what nobody could look at, search or read cannot be dismissed, nor what was found before"
                " findings had marks",
                place=finding.location,
                fix=f"mend it; or review the file again, then dismiss it: mcl review {finding.file}",
            )
        said = without_secrets(visible(" ".join(why.split())))
        if not said or len(said) > LONGEST_WHY:
            message = f"more than {LONGEST_WHY:,} characters" if said else "it says nothing"
            raise ReviewError(
                "DISMISSAL_SHAPE", message, place="why", fix="say in a few words why it is no fault"
            )
        first = finding.body.partition("\n")[0]
        data = {
            "mark": finding.mark,
            "file": visible(finding.file)[:_LONGEST_PATH],
            "line": str(finding.line),
            "severity": finding.severity,
            "rule": visible(finding.rule),
            "said": without_secrets(visible(first))[:_LONGEST_SAID],
            "by": self._place.home.keyring.user.did,
            "seal": self.maker.seal(finding.mark, said),
        }
        given = {"type": _TYPE, "id": f"dismissal.{finding.mark}", "text": said, "data": data}
        made = self._place.made(given, kind=_KIND)
        return _read(self._place.store.write([made])[0])

    def forget(self, mark: str) -> None:
        """Let a finding count again. Raises ReviewError DISMISSAL_UNKNOWN."""
        if mark not in self.all():
            fix = "mcl review dismissals"
            raise ReviewError("DISMISSAL_UNKNOWN", "nothing is dismissed under it", place=mark, fix=fix)
        id = self._place.id(f"dismissal.{mark}")
        self._place.store.forget(f"matrix://cortex/{_TYPE}/{id}")

    def all(self) -> dict[str, Dismissal]:
        """What is dismissed now, by mark, in the order of places."""
        return self._in(self._place.now())

    def at(self, root: str) -> dict[str, Dismissal]:
        """What was dismissed in the snapshot of the memories with this root; nothing where this home never
        had it, or the root is empty."""
        snapshot = self._place.store.snapshot_of(root) if root else None
        return self._in(self._place.store.memories(snapshot)) if snapshot else {}

    def known(self, root: str | None = None) -> "KnownMarks":
        """What the search needs of the memories with this root; None: as they are now, and no marks
        where nothing is dismissed."""
        from mcl.plugins.review.scan.weights import KnownMarks

        if root is not None:
            return KnownMarks(self.maker.of_rule, self.at(root).keys())
        now = self.all()
        return KnownMarks(self.maker.of_rule, now.keys()) if now else KnownMarks()

    def root(self) -> str:
        """The root of the memories as they are, 64 hex digits; "" where nothing is dismissed."""
        snapshot = self._place.store.snapshot()
        return snapshot.root if self._in(self._place.store.memories(snapshot)) else ""

    def _in(self, then: Remembered) -> dict[str, Dismissal]:
        found = then.find(type=_TYPE, tags=(_KIND, self._place.tag), limit=max(1, then.size))
        read = [_read(one) for one in found if self._is_ours(one)]
        return {one.mark: one for one in sorted(read, key=lambda one: (one.file, one.line, one.mark))}

    def _is_ours(self, memory: Memory) -> bool:
        mark, data = memory.id.rpartition(".")[2], dict(memory.data)
        named = memory.id == self._place.id(f"dismissal.{mark}") and _MARK.fullmatch(mark) is not None
        return named and data.get("seal", "") == self.maker.seal(mark, memory.text)


def dismissed_json(finding: ReviewFinding, dismissal: Dismissal) -> dict[str, object]:
    """A finding that is dismissed, with why, by whom and when, as a JSON object."""
    said = finding.to_json()
    return {**said, "why": dismissal.why, "by": dismissal.by, "at": dismissal.at}


def _read(memory: Memory) -> Dismissal:
    data: dict[str, Any] = dict(memory.data)
    line = data.get("line", "")
    return Dismissal(
        mark=memory.id.rpartition(".")[2],
        file=data.get("file", ""),
        line=int(line) if _NUMBER.fullmatch(line) else 0,
        severity=data.get("severity", ""),
        rule=data.get("rule", ""),
        said=data.get("said", ""),
        why=memory.text,
        by=data.get("by", ""),
        at=memory.at,
        uri=memory.uri,
    )
