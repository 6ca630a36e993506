"""The signed work of a home: which folders have it, and what was signed for each.

Read from the journal, every signature checked; files in the folder itself are never asked.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping, Set
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Final, cast

from executor.core.errors import HomeError
from executor.store.home import Home
from executor.store.journal.record import Record, seal_record
from executor.store.lifecycle.events import fold
from ir import Envelope, IntentAcceptBody, MclError
from mcl.core.errors import WorkError
from mcl.plugins.agents.file.document import NAME as FILE
from mcl.plugins.agents.file.rules import STATUSES, Status
from mcl.plugins.agents.work.item import TRANSITIONS, WorkItem, WorkStanding, is_work, item_of

# ---- How leases, and the way to the signed work of each folder, lie in the home's database.

COMPONENT: Final = "work"
# work_roots leads to the row of the journal that says what was signed for a folder; that row is checked when
# it is read. work_patterns: what its work may change, to find what a message names without reading all of it;
# what is found is checked against what was signed. agent_leases: one holder a label, one label a holder.
# number: of the lease, never used twice.
TABLES: Final = (
    """
    CREATE TABLE work_roots (root TEXT PRIMARY KEY, row TEXT NOT NULL) STRICT;
    CREATE TABLE agent_leases (
        root TEXT NOT NULL, label TEXT NOT NULL, intent_id TEXT NOT NULL, agent TEXT NOT NULL,
        since TEXT NOT NULL, expires_at TEXT NOT NULL, number INTEGER NOT NULL,
        PRIMARY KEY (root, label), UNIQUE (root, agent)
    ) STRICT;
    CREATE TABLE agent_lease_numbers (one INTEGER PRIMARY KEY CHECK (one = 1), last INTEGER NOT NULL) STRICT;
    INSERT INTO agent_lease_numbers VALUES (1, 0);
    """,
    """
    CREATE TABLE work_patterns (root TEXT PRIMARY KEY, row TEXT NOT NULL, patterns TEXT NOT NULL) STRICT;
    """,
)

# ---- Linked work trees of git (`git worktree add`), as far as they tell which signed work a folder stands
# under.

_LONGEST: Final = 8192  # bytes of a file that names a folder
_MOST: Final = 1000  # work trees of a repository
_POINTER: Final = "gitdir: "


def trees_above(place: Path) -> Iterator[tuple[Path, Path]]:
    """Each linked work tree that a place (a real path) lies in, the nearest first, and the main one of its
    repository. Repositories within one are passed over: whoever may write there could make one."""
    for tree in (place, *place.parents):
        if not (said := _line(tree / ".git")).startswith(_POINTER):
            continue
        own = Path(os.path.realpath(tree / said.removeprefix(_POINTER)))
        if own.parent.name == "worktrees" and own.parent.parent.name == ".git":
            yield tree, own.parent.parent.parent


def trees_of(folder: Path) -> Iterator[Path]:
    """What answers to a folder in each linked work tree of a repository that it lies in."""
    for main in (folder, *folder.parents):
        try:
            names = sorted(os.listdir(main / ".git/worktrees"))[:_MOST]  # noqa: PTH208 - of names alone
        except OSError:  # none, or no repository of its own
            continue
        for name in names:
            own = main / ".git/worktrees" / name
            if said := _line(own / "gitdir"):
                yield Path(os.path.realpath(own / said)).parent / folder.relative_to(main)


def _line(file: Path) -> str:
    """What a plain file says, without the end of its line; "" where it is none."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return ""
        said = os.fsdecode(os.read(descriptor, _LONGEST))
    except OSError:
        return ""
    finally:
        os.close(descriptor)
    return "" if "\0" in said else said.removesuffix("\n").removesuffix("\r")


SIGNED: Final = "record.work.signed"  # of a folder: the labels that count now, each with its intent
STATUS: Final = "record.work.status"  # of an intent: how far it is
REFUSED: Final = "record.work.refused"  # what an agent, or a person, could not have done with it
_MAX_ITEMS: Final = 4096  # kept in memory
# The rows of an intent that say what it is and how far: not what agents wrote under it, which are many.
_TELLING: Final = f"(kind NOT LIKE 'record.%' OR kind = '{STATUS}')"


class SignedWork:
    """The signed work of a home. What others sign meanwhile is seen at the next question."""

    def __init__(self, home: Home) -> None:
        home.db.migrate(COMPONENT, TABLES)
        self._home = home
        self._stamp: tuple[object, object] | None = None
        self._signed: dict[str, tuple[str, Mapping[str, str]]] = {}  # root -> row, label -> intent
        self._items: dict[str, WorkItem | None] = {}
        self._read_to = 0  # the rows up to here are in what is remembered
        self._lock = Lock()  # so that no thread keeps what another has just found to be old

    @property
    def home(self) -> Home:
        return self._home

    def root_of(self, place: Path) -> Path | None:
        """The folder whose rules hold at a place; None where there is none.

        The nearest at or above it that work was signed for; else, in a linked work tree, what answers there
        to such a folder of the main one.
        """
        governed = {root for (root,) in self._home.db.read("SELECT root FROM work_roots")}
        if not governed:
            return None
        real = Path(os.path.realpath(place))
        return self._nearest(real, governed) or self._in_linked_tree(real, governed)

    def governed(self, root: Path | str) -> bool:
        """Whether the rules hold for exactly this folder: work was signed for it, done or not, or for the one
        that answers to it in the main work tree.

        It counts as governed where what was signed cannot be believed any more: nothing is let go by damage.
        """
        return self._signed_for(root) or self.root_of(Path(root)) == Path(root)

    def trees(self) -> tuple[Path, ...]:
        """What answers to governed folders in linked work trees that git knows of."""
        rows = self._home.db.read("SELECT root FROM work_roots ORDER BY root")
        return tuple(one for (root,) in rows for one in trees_of(Path(root)))

    def _nearest(self, real: Path, governed: Set[str]) -> Path | None:
        above = (one for one in (real, *real.parents) if str(one) in governed)
        return next((one for one in above if self._signed_for(one)), None)

    def _in_linked_tree(self, real: Path, governed: Set[str]) -> Path | None:
        for tree, main in trees_above(real):
            root = self._nearest(main / real.relative_to(tree), governed)
            if root is not None:
                own = tree / root.relative_to(main) if root.is_relative_to(main) else tree
                return None if str(own) in governed else own  # a person said of it that there is no work
        return None

    def _signed_for(self, root: Path | str) -> bool:
        try:
            return bool(self.labels(root))
        except HomeError:
            raise
        except MclError:
            return True

    def labels(self, root: Path | str) -> Mapping[str, str]:
        """The labels that count in a folder, each with the ULID of its intent, in the order of the file.

        Raises what `Journal.open` raises where the row that says so cannot be believed.
        """
        text = str(root)
        found = self._home.db.read("SELECT row FROM work_roots WHERE root = ?", (text,))
        if not found:
            return {}
        row, known = found[0][0], self._signed.get(text)
        if known is None or known[0] != row:
            record = self._home.journal.open(self._home.journal.row(row).wire)
            known = row, _labels(record, text)
            self._signed[text] = known
        return known[1]

    def items(self, root: Path | str) -> tuple[WorkItem, ...]:
        """The work of a folder that counts, in the order of the file. Cancelled work is left out.

        What cannot be believed is left out too: `mcl log verify` tells of it.
        """
        found = []
        for label, intent in self.labels(root).items():
            with suppress(MclError):
                if (item := self.by_id(intent)) is not None and (item.root, item.label) == (str(root), label):
                    found.append(item)
        return tuple(found)

    def item(self, root: Path | str, label: str) -> WorkItem | None:
        """The work under a label; None where there is none that counts. Raises what `by_id` raises."""
        intent = self.labels(root).get(label)
        item = self.by_id(intent) if intent else None
        return item if item is not None and (item.root, item.label) == (str(root), label) else None

    def by_id(self, intent: str) -> WorkItem | None:
        """The work that an intent (ULID) stands for; None where it is none or was cancelled.

        Raises what `Journal.open` raises, LifecycleError where its rows cannot have happened.
        """
        if self._home.db.writing:  # nothing is certain yet, so nothing is remembered
            return self._read(intent)
        with self._lock:
            stamp = self._home.db.stamp("journal")
            if stamp != self._stamp:
                self._forget()
                self._stamp = stamp
            if intent not in self._items:
                if len(self._items) >= _MAX_ITEMS:
                    self._items.clear()
                self._items[intent] = self._read(intent)
            return self._items[intent]

    def _forget(self) -> None:
        """Let go of what newer rows are about."""
        size = self._home.journal.size()
        if self._items and size > self._read_to:
            sql = f"SELECT DISTINCT intent FROM journal WHERE seq > ? AND {_TELLING}"  # noqa: S608  # fixed
            for (intent,) in self._home.db.read(sql, (self._read_to,)):
                self._items.pop(intent, None)
        self._read_to = size

    def _read(self, intent: str) -> WorkItem | None:
        journal, standing, accepted_at = self._home.journal, WorkStanding("DRAFT", ""), ""
        envelopes = []
        sql = f"SELECT wire FROM journal WHERE intent = ? AND {_TELLING} ORDER BY seq"  # noqa: S608  # fixed
        for (wire,) in self._home.db.read(sql, (intent,)):
            message = journal.open(wire)
            if isinstance(message, Envelope):
                envelopes.append(message)
                if isinstance(message.body, IntentAcceptBody):
                    accepted_at = message.body.accepted_at
            elif message.kind == STATUS:
                standing = _standing(message) or standing
        view = fold(envelopes)
        return item_of(view, standing, accepted_at) if is_work(view) else None


def _labels(message: object, root: str) -> Mapping[str, str]:
    if not isinstance(message, Record) or message.kind != SIGNED or message.body.get("root") != root:
        return {}
    pairs = message.body.get("intents")
    return {str(label): str(intent) for label, intent in pairs} if isinstance(pairs, list) else {}


def _standing(record: Record) -> WorkStanding | None:
    said = record.body
    if said.get("to") not in STATUSES:
        return None
    return WorkStanding(
        cast(Status, said["to"]), str(said.get("updated_at", record.at)), str(said.get("why", ""))
    )


# ---- Which folder is meant where none is named.


def find_root(work: SignedWork, place: Path) -> Path:
    """The folder whose work is meant at a place: the nearest at or above it that work was signed for, else
    the nearest that has the file, else the place itself. Links are followed."""
    real = Path(os.path.realpath(place))
    if (governed := work.root_of(real)) is not None:
        return governed
    return _with_file(real) or real


def root_to_sign(work: SignedWork, place: Path) -> Path:
    """The folder whose file a person means to sign at a place: the nearest at or above it that has one, so
    that a part of a folder may have work of its own."""
    return _with_file(Path(os.path.realpath(place))) or find_root(work, place)


def _with_file(real: Path) -> Path | None:
    return next((one for one in (real, *real.parents) if (one / FILE).is_file()), None)


# ---- What is refused of a piece of work.


def require_counting(item: WorkItem, at: str) -> None:
    """Raise WorkError INTENT_EXPIRED for work whose Intent counts no longer at a moment (ISO 8601)."""
    if item.is_expired(at):
        raise WorkError(
            "INTENT_EXPIRED",
            f"Intent '{item.label}' was to count until {item.expires_at}. It is neither activated nor"
            " completed any more. A person signs it anew: mcl work import.",
            place=item.label,
            fix="give it up (mcl work release), and ask a person to sign it anew (mcl work import)",
            data={"expires_at": item.expires_at},
        )


def keep_refusal(home: Home, act: str, label: str, agent: str, problem: WorkError, intent: str = "") -> None:
    """Record that an act on a piece of work was refused. agent: "" for a person; intent: its ULID, where it
    is known."""
    body = {"act": act, "label": label[:80], "agent": agent, "code": problem.code}
    with suppress(MclError):  # of a sealed key, above all; it is refused all the same
        home.journal.record(REFUSED, body, intent=intent or None)


# ---- How far a piece of work is: which status may follow which, and the record that says so.


def require_legal(label: str, before: Status, after: str) -> None:
    """Raise WorkError INVALID_TRANSITION unless `after` is `before` or may follow it."""
    if after == before or after in TRANSITIONS[before]:
        return
    following = " or ".join(TRANSITIONS[before])
    then = f"after {before} comes {following}" if following else "give more work an id of its own"
    fix = f"{then}; mcl work export writes the file as it was signed"
    raise WorkError(
        "INVALID_TRANSITION",
        f"{label} is {before} and cannot become {after}",
        place=label,
        fix=fix,
        data={"from": before, "to": after, "legal": [before, *TRANSITIONS[before]]},
    )


def status_record(
    home: Home,
    intent: str,
    label: str,
    *,
    before: str,
    after: str,
    at: str,
    by: str,
    why: str = "",
    updated_at: str = "",
) -> Record:
    """The record of a change of status, which nobody has stored yet.

    by: did of the person, or name of the agent. why: of BLOCKED, what blocks it. updated_at: what the file
    says of when ("": at).
    """
    body = {
        "label": label,
        "from": before,
        "to": after,
        "by": by,
        "why": why,
        "updated_at": updated_at or at,
    }
    uri = f"matrix://intent/{intent}"
    return seal_record(STATUS, body, id=home.clock.new_id(), at=at, intent=uri, signer=home.keyring.agent)
