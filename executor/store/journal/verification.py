"""Checking a journal again from its bytes; nothing that is stored beside them is believed."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Self

from executor.core.errors import LifecycleError
from executor.store.journal.bodies import BodyCheck
from executor.store.journal.merkle import Frontier, Head, leaf_hash
from executor.store.journal.record import Record, is_record, open_record
from executor.store.journal.rows import BREAK_ACCEPTED, CHAINED, RESTORED, Links, Message
from executor.store.journal.standing import (
    CODE,
    KINDS,
    POLICY,
    TABLES_RESTORED,
    Standing,
    lines_of,
    refused,
    unlike,
)
from executor.store.journal.witness import REWRITTEN, ROLLED_BACK, UNSEEN, Witness, subject
from executor.store.keys.keyring import Keyring
from executor.store.lifecycle.events import View, advance, intent_id
from executor.store.lifecycle.firings import is_child, require_fired
from ir import Envelope, MclError, PublicKey, key_of, open_envelope
from ir.findings import Finding

_MOST: Final = 1000  # findings in one report
_INTENT_FIELD: Final = b"\x07\x78\x2a"  # key 7 of an envelope or record, then a text of 42 bytes


@dataclass(frozen=True, slots=True)
class JournalFinding(Finding):
    """A flaw. seq: the row, 0 for the journal as a whole."""

    JSON: ClassVar = "code seq message"
    seq: int = field(kw_only=True)

    @classmethod
    def of(cls, code: str, seq: int, message: str) -> Self:
        """The flaw of a row."""
        return cls(code, message, f"row {seq}" if seq else "", seq=seq)


@dataclass(slots=True)
class Report:
    """What was checked and found; `root`: 32 bytes, computed from the rows (b"" for one intent).

    notes: what is no flaw and is shown ever after, with its row: breaks that a person accepted, a backup that
    was restored, when the rows of a journal of before were bound, or nothing was known of it.
    For one intent also the last of its rows, and the view that they add up to unless something was found.
    """

    rows: int = 0
    root: bytes = b""
    findings: list[JournalFinding] = field(default_factory=list)
    notes: list[tuple[int, str]] = field(default_factory=list)
    last: int = 0
    view: View | None = field(default=None, repr=False)

    @property
    def ok(self) -> bool:
        return not self.findings

    def add(self, code: str, seq: int, message: str) -> None:
        """Note a flaw; after the first thousand only their existence matters."""
        if len(self.findings) < _MOST:
            self.findings.append(JournalFinding.of(code, seq, message))

    def to_json(self) -> dict[str, object]:
        """The report as a JSON object."""
        findings = [finding.to_json() for finding in self.findings]
        notes = [{"seq": seq, "message": message} for seq, message in self.notes]
        whole = {"ok": self.ok, "rows": self.rows, "root": self.root.hex(), "findings": findings}
        return {**whole, "notes": notes}


def verify_rows(
    connection: sqlite3.Connection,
    keyring: Keyring,
    *,
    only: str | None,
    heads: Iterable[Head],
    witness: Witness | None = None,
    standing: Standing | None = None,
) -> Report:
    """Check the journal that `connection` sees (a snapshot); see Journal.verify.

    witness: what this machine has seen of it. standing: of one intent, what the rows say of keys.
    """
    connection.text_factory = bytes  # a flipped byte may no longer be UTF-8
    check = _Check(connection, keyring, witness, standing)
    try:
        if only is not None:
            check.one_intent(only)
        else:
            check.file()
            check.whole(list(heads))
    except sqlite3.Error as error:
        check.report.add("DATABASE_CORRUPT", check.seq, f"the file cannot be read any further: {error}")
    return check.report


class _Check:
    def __init__(
        self,
        connection: sqlite3.Connection,
        keyring: Keyring,
        witness: Witness | None,
        standing: Standing | None,
    ) -> None:
        self._keyring, self._standing = keyring, standing or Standing()
        self._of_before: list[tuple[int, Message]] = []  # rows that are not chained
        self._witness = witness
        self._accepted: list[tuple[int, int]] = []  # a row, and how many there were
        self.report = Report()
        self.seq = 0
        self._connection = connection
        self._bodies = BodyCheck.of(connection)
        self._entries = {entry.did: entry for entry in keyring.entries()}
        # Revocation is judged by the date of a row, so that what was signed before it stays good.
        self._keys = {did: PublicKey(did, entry.role, key_of(did)) for did, entry in self._entries.items()}
        self._views: dict[str, View | None] = {}  # None: a row of it is broken, so its story cannot be told
        self._ids: set[str] = set()
        self._many = self._chained = False

    def file(self) -> None:
        """What SQLite says about its pages and indexes."""
        for (line,) in self._connection.execute("PRAGMA integrity_check"):
            if line != b"ok":
                self._add("DATABASE_CORRUPT", line.decode(errors="replace"), seq=0)

    def one_intent(self, intent: str) -> None:
        """The rows of one intent, and that no row is missing anywhere; of a firing also those of its
        schedule, whose accept is its own."""
        if above := self._fired_by(intent):
            self._one_story(above)
        self._one_story(intent)
        self._compare_bodies()
        self.report.last, self.report.view = self.seq, self._views.get(intent)
        # What was seen was counted then; a row that is gone since is found where it is looked for.
        count = "count(*)" if self._witness is None else "max(seq)"
        count, last, size = self._connection.execute(
            f"SELECT {count}, max(seq), (SELECT size FROM tree) FROM journal"  # noqa: S608  # fixed texts
        ).fetchone()
        if not (count or 0) == (last or 0) == size:
            self._add("SEQUENCE", f"{count} rows, the last is {last}, the tree has {size}", seq=0)

    def _fired_by(self, intent: str) -> str:
        """The schedule that an intent names in its first row, which is checked with the others."""
        for (wire,) in self._connection.execute(
            "SELECT wire FROM journal WHERE intent = ? AND kind = 'intent.dispatch' ORDER BY seq LIMIT 1",
            (intent,),
        ):
            with suppress(MclError):
                body: Any = open_envelope(bytes(wire), self._keys.get).body
                return intent_id(body.scope_uri) if body.plan_json else ""
        return ""

    def _one_story(self, intent: str) -> None:
        if self._witness is None:
            # The column is not believed alone: a row that says elsewhere that it is about it counts too.
            claim = _INTENT_FIELD + f"matrix://intent/{intent}".encode()
            for row in self._rows("NOT INDEXED WHERE intent = ? OR instr(wire, ?) > 0", (intent, claim)):
                self._row(leaf_hash(bytes(row[7])), *row)
        else:
            self._as_seen(intent, self._witness)

    def _as_seen(self, intent: str, witness: Witness) -> None:
        """The rows of an intent are those that this machine has seen, and those that came since."""
        seen, size = witness.about(subject(intent, "")), witness.size()
        there: set[int] = set()
        where = "WHERE intent = ? OR seq IN (SELECT value FROM json_each(?))"
        for row in self._rows(where, (intent, json.dumps(list(seen)))):
            true = leaf_hash(bytes(row[7]))
            there.add(row[0])
            self._row(true, *row)
            if row[0] <= size and seen.get(row[0]) != true:
                self._add(REWRITTEN, "it is not the row that this machine has seen there")
        for seq in sorted(seen.keys() - there):
            self._add(REWRITTEN, "the row that this machine has seen there is gone", seq=seq)

    def whole(self, heads: list[Head]) -> None:
        """All rows, the sequence, the tree, the heads."""
        self._many = True
        roots = self._read_heads(heads)
        tree, links, seen = Frontier(), Links(), self._witness.leaves() if self._witness else []
        other = 0  # the first row that is not the one that was seen
        self._compare_heads(roots.pop(0, []), tree)
        # NOT INDEXED: the rows themselves are asked, not an index that may have been changed beside them.
        for row in self._rows("NOT INDEXED", ()):
            if row[0] != tree.size + 1:
                self._add(
                    "SEQUENCE", f"row {row[0]} stands where {tree.size + 1} should be", seq=tree.size + 1
                )
            leaf = leaf_hash(bytes(row[7]))
            message = self._row(leaf, *row)
            self._links(links.next(message, leaf, tree))
            if isinstance(message, Record):
                self._note(message, tree)
            if not other and tree.size < len(seen) and seen[tree.size] != leaf:
                other = tree.size + 1
            tree.append(leaf)
            if tree.size in roots:
                self._compare_heads(roots.pop(tree.size), tree)
        self._links(links.end())
        self._compare_bodies()
        if other:
            self._add(REWRITTEN, "it is not the row that this machine has seen there", seq=other)
        if len(seen) > tree.size:
            self._add(
                ROLLED_BACK,
                f"this machine has seen {len(seen)} rows; there are {tree.size}",
                seq=tree.size + 1,
            )
        self.report.root = tree.root()
        for size in sorted(roots):
            self._add("TRUNCATED", f"a signed head says {size} rows; there are {tree.size}", seq=tree.size)
        self._compare_tree(tree)
        self._chained = links.chained or not tree.size
        self._compare_keys()
        self._compare_tables()
        self._pass_accepted()

    def _note(self, message: Record, tree: Frontier) -> None:
        """What is shown ever after. tree: of the rows before."""
        body, seq = message.body, tree.size + 1
        if message.kind == CHAINED:
            self.report.notes.append((seq, f"the {body.get('size')} rows before were bound here, once"))
        elif message.kind == UNSEEN:
            self.report.notes.append((seq, f"nothing was known of the {body.get('rows')} rows before"))
        elif message.kind == RESTORED:
            told = f"a person restored a backup of {body.get('size')} rows; there had been {body.get('seen')}"
            self.report.notes.append((seq, told))
        elif message.kind == TABLES_RESTORED:
            many = len(body.get("differences", ()))
            differed = "a line" if many == 1 else f"{many} lines"
            told = f"a person had the tables made what rows say; {differed} differed"
            self.report.notes.append((seq, told))
        elif message.kind == BREAK_ACCEPTED:
            row, codes = body.get("row"), ", ".join(map(str, body.get("codes", ())))
            fits = body.get("size") == tree.size and body.get("root") == tree.root()
            if fits and type(row) is int:
                self._accepted.append((row, tree.size))
            told = f"a person accepted that row {row} does not hold ({codes})"
            self.report.notes.append((seq, told if fits else f"{told}; the rows are others since"))

    def _pass_accepted(self) -> None:
        """What a person accepted, of just these rows, is shown as that and is no flaw any more."""
        heads = ("HEAD_MISMATCH", "TRUNCATED")

        def passed(one: JournalFinding) -> bool:
            return any(
                one.seq == row or (one.code in heads and row <= one.seq <= size)
                for row, size in self._accepted
            )

        self.report.findings = [one for one in self.report.findings if not passed(one)]

    def _rows(self, where: str, values: tuple[object, ...]) -> Iterator[tuple[Any, ...]]:
        columns = "seq, id, kind, intent, at, self_hash, leaf, wire"
        sql = f"SELECT {columns} FROM journal {where} ORDER BY seq"  # noqa: S608  # fixed texts
        yield from self._connection.execute(sql, values)

    def _row(
        self,
        true_leaf: bytes,
        seq: int,
        id: bytes,
        kind: bytes,
        intent: bytes,
        at: bytes,
        hash: bytes,
        leaf: bytes,
        wire: bytes,
    ) -> Message | None:
        self.seq = seq
        self.report.rows += 1
        if leaf != true_leaf:
            self._add("LEAF_MISMATCH", "the leaf is not the hash of the row's bytes")
        try:
            message = (open_record if is_record(wire) else open_envelope)(wire, self._keys.get)
        except MclError as error:
            self._add(error.code, str(error))
            self._views[(intent or b"").decode(errors="replace")] = None
            return None
        about = intent_id(message.intent) or None
        stated = (id, kind, intent, at, hash)
        true = (message.id, message.kind, about, message.at, message.self_hash)
        if stated != tuple([one.encode() if one is not None else None for one in true]):
            self._compare_columns(stated, true)
        if message.id in self._ids:
            self._add("ID_REUSED", f"the id {message.id} was used before")
        self._ids.add(message.id)
        if self._many:
            self._judge_key(message)
        elif refused(message, seq, self._standing, self._keyring):
            self._add("KEY_REVOKED", f"the key {message.from_} was revoked")
        if isinstance(message, Envelope):
            self._transition(message)
        if flaw := self._bodies.row(seq, message):
            self._add("BODY_CHANGED", flaw)
        return message

    def _judge_key(self, message: Message) -> None:
        """Whether the key may sign here, by the rows before this one; and what this one says of keys."""
        if not message.previous:
            self._of_before.append((self.seq, message))
        if isinstance(message, Record) and message.kind == POLICY:
            opened = [one for one in self._standing.denied if one not in message.body.get("deny", ())]
            if opened:
                told = f"from here on policy.toml denies no more: {', '.join(opened)}"
                self.report.notes.append((self.seq, told))
        if self._standing.refuses(message.from_, self.seq, message.at):
            self._add("KEY_REVOKED", f"the key {message.from_} was revoked before this row")
            return
        if isinstance(message, Record) and message.kind in KINDS:
            self._standing.hear(self.seq, message)

    def _compare_bodies(self) -> None:
        """Bodies that are gone: forgotten, which is shown ever after, or missing."""
        if not self._many:
            self._bodies.hear(self._connection, lambda wire: open_record(wire, self._keys.get))
        for seq, by in self._bodies.forgotten():
            self.report.notes.append((seq, f"what lay beside it was forgotten by a person (row {by})"))
        for seq in self._bodies.missing():
            self._add(
                "BODY_MISSING", "what lay beside it is gone, and no row says that it was to go", seq=seq
            )

    def _compare_keys(self) -> None:
        """The rows of before by their moment; and what files say of keys against what rows say."""
        for seq, message in self._of_before:
            if message.from_ not in self._standing.revoked:
                late = self._keyring.revoked_by(message.from_, message.at)
            else:
                said = self._standing.revoked[message.from_]
                late = seq < said.seq and self._standing.refuses(message.from_, seq, message.at)
            if late:
                self._add("KEY_REVOKED", f"the key {message.from_} was revoked before this moment", seq=seq)
        if self._chained:
            for seq, told in self._standing.unlike(self._keyring.in_files()):
                self._add("TRUST_CHANGED", told, seq=seq)

    def _compare_tables(self) -> None:
        """What stands in the tables beside the rows against what the rows say."""
        if self._chained:
            self._connection.text_factory = str
            try:
                told = unlike(
                    self._standing.tables, lines_of(lambda sql, _: self._connection.execute(sql).fetchall())
                )
            except sqlite3.OperationalError as error:  # a text that is none
                told = [str(error)]
            for one in told:
                self._add(CODE, one, seq=0)

    def _links(self, flaws: list[tuple[int, str]]) -> None:
        for seq, flaw in flaws:
            self._add("CHAIN_BROKEN", flaw, seq=seq)

    def _compare_columns(self, stated: tuple[bytes | None, ...], true: tuple[str | None, ...]) -> None:
        names = ("id", "kind", "intent", "at", "self_hash")
        for column, stored, said in zip(names, stated, true, strict=True):
            if stored != (said.encode() if said is not None else None):
                self._add("COLUMN_MISMATCH", f"column {column} says {stored!r}, the signed bytes {said!r}")

    def _transition(self, envelope: Envelope) -> None:
        intent = intent_id(envelope.intent)
        view = self._views.get(intent, View())
        if view is None:
            return
        try:
            began, view = view, advance(view, envelope)
            if is_child(began, envelope):
                require_fired(view, envelope, self._views.get(view.fired_by))
        except LifecycleError as error:
            self._add(error.code, str(error))
            self._views[intent] = None
        else:
            # Most stories are over: of many intents only what a late event could still ask about is kept.
            # A run that failed may be corrected and go on, so of it everything is kept.
            ended = view.state == "completed" or (view.state == "failed" and not view.begun)
            over = self._many and ended
            self._views[intent] = View(state=view.state, nodes=view.nodes) if over else view

    def _read_heads(self, given: list[Head]) -> dict[int, list[bytes]]:
        roots: dict[int, list[bytes]] = {}
        if (kept := self._witness.head() if self._witness else None) is not None:
            try:
                given = [*given, Head.from_json(kept, self._keys.get)]
            except MclError as error:
                self._add(
                    "HEAD_" + error.code.removeprefix("HEAD_"), f"the head kept outside: {error}", seq=0
                )
        for head in given:
            roots.setdefault(head.size, []).append(head.root)
        for size, wire in self._connection.execute("SELECT size, wire FROM heads ORDER BY size"):
            try:
                head = Head.of(open_record(wire, self._keys.get))
            except MclError as error:
                self._add(
                    "HEAD_" + error.code.removeprefix("HEAD_"),
                    f"the saved head of {size} rows: {error}",
                    seq=size,
                )
                continue
            if head.size != size:
                self._add("HEAD_SIZE", f"the head saved for {size} rows says {head.size}", seq=size)
            roots.setdefault(head.size, []).append(head.root)
        return roots

    def _compare_heads(self, roots: list[bytes], tree: Frontier) -> None:
        if any(root != tree.root() for root in roots):
            self._add(
                "HEAD_MISMATCH", f"the first {tree.size} rows are not those of a signed head", seq=tree.size
            )

    def _compare_tree(self, tree: Frontier) -> None:
        stored = self._connection.execute("SELECT size, peaks, root FROM tree").fetchall()
        true = [(tree.size, tree.to_bytes(), tree.root())]
        if stored == true:
            return
        names = ("size", "peaks", "root")
        wrong = (
            [name for name, *pair in zip(names, *stored, *true, strict=True) if pair[0] != pair[1]]
            if len(stored) == 1
            else names
        )
        self._add("TREE_MISMATCH", f"the stored {' and '.join(wrong)} of the tree do not fit the rows", seq=0)

    def _add(self, code: str, message: str, *, seq: int | None = None) -> None:
        self.report.add(code, self.seq if seq is None else seq, message)
