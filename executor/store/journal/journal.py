"""The journal: envelopes and records in order, append-only, each commit durable, under a Merkle tree."""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from executor.core.clock import Clock
from executor.core.errors import JournalError, KeyringError
from executor.store.database import Database
from executor.store.journal.bodies import FORGOTTEN, Bodies, names_body, no_body
from executor.store.journal.merkle import Frontier, consistency_path, inclusion_path, leaf_hash
from executor.store.journal.record import role_of, seal_record
from executor.store.journal.rows import (
    BREAK_ACCEPTED,
    COLUMNS,
    RESTORED,
    End,
    Maker,
    Message,
    Row,
    begun,
    bound,
    insert,
    is_chained,
    opened,
    placed,
    read_end,
    read_tree,
    refit,
    row_of,
)
from executor.store.journal.standing import CODE, Standing, Tables, refused, stated, stated_now
from executor.store.journal.witness import REWRITTEN, ROLLED_BACK, UNSEEN, Witness, heard, look, subject
from executor.store.keys.keyring import KeyEntry, Keyring
from executor.store.lifecycle.events import View, advance, fold, intent_id
from executor.store.lifecycle.firings import is_child, require_fired
from ir import ROLE_OF_KIND, Body, Envelope, Header, PublicKey, key_of, open_envelope, seal
from ir.errors import REFUSED

if TYPE_CHECKING:  # proving and verifying are fetched when they are asked for: a compile only appends
    from executor.store.journal.merkle import ConsistencyProof, Head, InclusionProof
    from executor.store.journal.verification import Report

_ENDINGS: Final = ("intent.attest", "intent.fail")
_REMEMBERED: Final = 128  # views kept in memory
# Kinds whose body holds only texts and numbers, so that what was sealed is what would be read back.
_PLAIN: Final = ("plan.step", "plan.output")
Stamp: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Statement:
    """What is to be said: the body of an envelope, or of a record (a map).

    at: when it was so ("": when it is told). id: of the envelope or record ("": a new one). beside: the body
    that `body` names by its sha256 (`bodies.set_beside`), kept in the same commit.
    """

    kind: str
    body: Body | Mapping[str, Any]
    at: str = ""
    id: str = ""
    beside: bytes = b""


@dataclass(frozen=True, slots=True)
class _Seen:
    """A view, its last row, and the stamp at which no later row was about the intent (None: unknown)."""

    stamp: Stamp | None = None
    seq: int = 0
    view: View = field(default_factory=View)


class Journal:
    """The journal of a home. Intents may be named by URI or ULID."""

    def __init__(self, database: Database, keyring: Keyring, clock: Clock) -> None:
        self._database = database
        self._keyring = keyring
        self._clock = clock
        self._views: OrderedDict[str, _Seen] = OrderedDict()
        self._end: tuple[Stamp | None, End] = (None, End())  # as it was at that stamp
        self._witness: Witness | None = None
        self._standing: tuple[Stamp, int, Standing] | None = None  # at that stamp, of so many rows
        self._chained = False
        self._bodies = Bodies(database)
        self.tables = Tables(self, database)
        self.trouble: JournalError | None = None  # why nothing is written or run until a person says so
        self.notice = ""  # what a person is told once of it

    # ---- what this machine has seen of it ----

    def watch(self, witness: Witness, *, writable: bool = True) -> None:
        """From now on hold the journal against what this machine has seen of it, and see what is new.

        What does not fit is kept in `trouble`: nothing is appended then, and no run begins.
        """
        try:
            size = self.size()  # before: who writes has begun before
            unseen = witness.begin() if writable else False
            if writable or witness.known:
                self._witness = witness
                self._look()
            if unseen and self.trouble is None and size and self._end_of_now().chained:
                witness.unsaid = size
                self.notice = (
                    f"nothing was known here of this home's journal, which has {size} rows: it is a copy,"
                    " or the folder of states was lost; it is kept from now on (mcl log verify checks it)"
                )
        except OSError as problem:  # then each run checks from row 1
            self._witness = None
            self.notice = f"what this machine has seen of the journal cannot be kept: {problem}"

    def standing(self, entries: Mapping[str, KeyEntry] | None = None) -> Standing:
        """What the rows say of keys (who is trusted, and who was revoked where) and of the stated tables.
        entries: of the own keys."""
        stamp, known = self._database.stamp("journal"), self._standing
        if known is not None and known[0] == stamp:
            return known[2]
        own = {one.did: one for one in self._keyring.entries()} if entries is None else entries
        keys = {
            one.did: PublicKey(one.did, one.role, key_of(one.did))
            for one in own.values()
            if one.origin != "trusted"
        }
        rows, standing = heard(self._database.read, self._witness, keys.get, known[1:] if known else None)
        if not self._database.writing:  # within a transaction nothing is certain yet
            self._standing = stamp, rows, standing
        return standing

    def merged(self, entries: dict[str, KeyEntry]) -> dict[str, KeyEntry]:
        """What files say of keys, with what the rows say of them."""
        return self.standing(entries).merged(entries)

    def _end_of_now(self) -> End:
        with self._database.snapshot() as connection:
            return read_end(connection)

    def _look(self, connection: sqlite3.Connection | None = None) -> None:
        """See what is new since this machine looked last; `trouble` is what does not fit."""
        if self._witness is None:
            return
        try:
            if connection is not None:
                look(_reading(connection), self._witness, self._keyring.past_resolver)
            else:
                with self._database.snapshot() as moment:
                    look(_reading(moment), self._witness, self._keyring.past_resolver)
        except JournalError as problem:
            self.trouble = problem
        else:
            self.trouble = None

    def _require_seen(self, connection: sqlite3.Connection, end: End) -> None:
        """That the rows to write behind are those that were seen; the lock is held. Raises JournalError."""
        if self._witness is None:
            return
        with suppress(OSError):
            if self.trouble is not None or self._witness.last() != (
                end.tree.size,
                end.leaf if end.tree.size else b"",
            ):
                self._look(connection)
        if self.trouble is not None:
            raise self.trouble

    def _saw(self, rows: Sequence[Row], head: Head | None = None) -> None:
        """These rows, and this head over them, were committed."""
        if self._witness is None:
            return
        with suppress(OSError):
            if rows:
                self._witness.unsaid = 0
                self._witness.add(rows[0].seq, [(row.leaf, subject(row.intent, row.kind)) for row in rows])
            if head is not None:
                self._witness.keep_head(head.to_json())

    def accept_break(self, seq: int) -> Row:
        """A person goes on though the journal does not hold in row `seq`; signed, and shown ever after.

        The rows as they are now are numbered anew where one is missing, and the tree is made to fit them.
        Raises JournalError NO_BREAK; KeyringError where the user's key is sealed.
        """
        report = self.verify()
        codes = sorted({one.code for one in report.findings if one.seq == seq})
        if not codes:
            raise JournalError(
                "NO_BREAK",
                f"nothing is wrong in row {seq}",
                place=f"journal:{seq}",
                fix="mcl log verify tells the rows",
            )
        with self._anew(), self._database.write() as connection:
            refit(connection)
            end = read_end(connection)
            body = {"row": seq, "codes": codes, "size": end.tree.size, "root": end.tree.root()}
            return self.record(BREAK_ACCEPTED, body)

    def restored(self) -> Row:
        """A person says that the older journal is meant, as a backup of it was restored; signed, and shown
        ever after.

        Raises JournalError NOT_ROLLED_BACK, JOURNAL_DAMAGED; KeyringError where the user's key is sealed.
        """
        self._look()
        if self._witness is None or self.trouble is None or self.trouble.code not in (ROLLED_BACK, REWRITTEN):
            raise JournalError(
                "NOT_ROLLED_BACK",
                "the journal is not older than what this machine has seen",
                place="journal",
                fix="nothing to do",
            )
        seen, leaf = self._witness.last()
        report = self.verify()
        if flaws := [one for one in report.findings if one.code not in (ROLLED_BACK, REWRITTEN, "TRUNCATED")]:
            raise JournalError(
                "JOURNAL_DAMAGED",
                f"what was restored does not hold: {flaws[0].code} in row {flaws[0].seq}",
                place=f"journal:{flaws[0].seq}",
                fix="restore another backup, or see mcl log verify",
            )
        with self._anew():
            return self.record(RESTORED, {"size": report.rows, "seen": seen, "leaf": leaf})

    @contextmanager
    def _anew(self) -> Iterator[None]:
        """While a person says that the journal is meant as it is; then what was seen of it is what it is."""
        witness, self._witness, trouble, self.trouble = self._witness, None, self.trouble, None
        self._end, self._standing = (None, End()), None
        try:
            yield
        except BaseException:
            self.trouble = trouble
            raise
        finally:
            self._witness, self._standing = witness, None
            self._views.clear()
        if witness is not None:
            with suppress(OSError):
                witness.forget()
                rows = self.rows()
                witness.add(1, [(leaf_hash(one.wire), subject(one.intent, one.kind)) for one in rows])

    # ---- writing ----

    def append(self, message: Message) -> Row:
        """Check and store one envelope or record, durably, or not at all.

        Checked: form, key, signature, role, single use of the id, and the lifecycle of its intent as it is at
        that moment, whatever other processes do. What a key of this home signed is signed anew with its place
        in the chain; behind what others signed stands a record that binds it. Raises ir.EnvelopeError,
        ir.CborError, JournalError ID_REUSED or JOURNAL_DAMAGED, LifecycleError, HomeError.
        """
        return self.append_many((message,))[0]

    def receive(self, envelope: Envelope) -> Row:
        """Append an envelope that was handed in: the same, and it must be fresh.

        Raises what `append` raises; ir.EnvelopeError STALE, FROM_FUTURE where it was signed more than 15
        minutes ago or lies more than 2 minutes ahead.
        """
        open_envelope(envelope.wire, self._keyring.resolver, now=self._clock.now())
        return self.append(envelope)

    def append_many(self, messages: Sequence[Message]) -> tuple[Row, ...]:
        """The same for several, in order, in one commit: all of them or none."""
        checked = [opened(message.wire, self._keyring.resolver) for message in messages]
        return tuple(row for row, _ in self._store(checked))

    def tell(
        self, intent: str, *statements: Statement, holds: Callable[[View], None] | None = None
    ) -> tuple[Envelope, ...]:
        """Sign statements about an intent and append them, in order, in one commit: all of them or none.
        Gives the envelopes among them.

        holds: looks at the intent as it is in that commit before them, and raises where they no longer fit.
        Each is signed with the own key of the role that may say it. What was just signed here is not opened
        again to be checked; the lifecycle is, as in `append`.
        Raises what `append` and `ir.seal` raise, KeyringError where the key is sealed.
        """
        uri = f"matrix://intent/{intent_id(intent)}"
        bodies = [said.beside for said in statements if said.beside]
        if bodies:
            self._bodies.make_ready()

        def keep(connection: sqlite3.Connection, rows: Sequence[Row]) -> None:
            for body in bodies:
                self._bodies.keep(connection, body)

        makers = [self._maker(said, uri) for said in statements]
        stored = self._store(makers, holds, beside=keep if bodies else None)
        return tuple(message for _, message in stored if isinstance(message, Envelope))

    def _maker(self, said: Statement, uri: str = "") -> Maker:
        """What signs a statement at its place. Raises JournalError RECORD_SHAPE, KeyringError."""
        id, at, body = said.id or self._clock.new_id(), said.at or self._clock.now(), said.body
        if isinstance(body, Mapping):
            pair = self._keyring.user if role_of(said.kind) == "user" else self._keyring.agent
        else:
            pair = self._keyring.user if ROLE_OF_KIND.get(said.kind) == "user" else self._keyring.agent
        _ = pair.signing_key  # a sealed one is opened before the database is held

        def make(previous: bytes) -> Message:
            if isinstance(body, Mapping):
                return seal_record(said.kind, body, id=id, at=at, intent=uri, signer=pair, previous=previous)
            header = Header(id, at, pair.did, uri, previous=previous)
            envelope = seal(said.kind, body, header, pair.signing_key)
            if said.kind not in _PLAIN:
                envelope = open_envelope(envelope.wire, self._keyring.resolver)
            return envelope

        return make

    def record_many(
        self,
        statements: Sequence[Statement],
        *,
        beside: Callable[[sqlite3.Connection, Sequence[Row]], None] | None = None,
    ) -> tuple[Row, ...]:
        """Sign records about no intent and append them, in order, in one commit: all of them or none.

        statements: each of a kind `record.<name>` with a map. beside: writes in the same commit what belongs
        to the rows. What was just signed here is not opened again.
        Raises JournalError, ir.CborError, KeyringError where the key is sealed, HomeError.
        """
        for said in statements:
            if not isinstance(said.body, Mapping):
                raise JournalError("RECORD_SHAPE", f"{said.kind} is not told as a record", place=said.kind)
        stored = self._store([self._maker(said) for said in statements], beside=beside)
        return tuple(row for row, _ in stored)

    def _store(
        self,
        messages: Sequence[Message | Maker],
        holds: Callable[[View], None] | None = None,
        *,
        beside: Callable[[sqlite3.Connection, Sequence[Row]], None] | None = None,
    ) -> list[tuple[Row, Message]]:
        """Store messages, in one commit; gives the rows and messages, but for those that bind others."""
        views: dict[str, _Seen] = {}
        stored: list[tuple[Row, Message]] = []
        with self._database.write("journal") as connection:
            nested = self._database.within
            # The lock is held: until the commit nobody else writes, so what was so at `before` is so now.
            others, own = now = self._database.stamp("journal")
            before = None if nested else (others, own - 1)
            end = self._end_at(connection, before)
            if not nested:
                self._require_seen(connection, end)
            tree, all_rows, head = end.tree, list[Row](), None
            for message, said in self._in_place(messages, end):
                row = row_of(message, tree.size + 1)
                if isinstance(message, Envelope):
                    intent = intent_id(message.intent)
                    seen = views.get(intent) or self._read_on(intent, before)
                    if holds is not None:
                        holds(seen.view)
                        holds = None
                    view = advance(seen.view, message)
                    if is_child(seen.view, message):
                        above = views.get(view.fired_by) or self._read_on(view.fired_by, before)
                        require_fired(view, message, above.view)
                    views[intent] = _Seen(now, row.seq, view)
                insert(connection, row)
                end.add(row.leaf)
                all_rows.append(row)
                if said:
                    stored.append((row, message))
            connection.execute(
                "UPDATE tree SET size = ?, peaks = ?, root = ?", (tree.size, tree.to_bytes(), tree.root())
            )
            if beside is not None:
                beside(connection, [row for row, _ in stored])
            if any(row.kind in _ENDINGS for row, _ in stored):
                # Of a sealed agent key the head is signed when somebody asks for it.
                with suppress(KeyringError):
                    head = self._sign_head(tree)
                    self._save_head(connection, head)
        if not nested:  # inside a larger transaction nothing is certain yet
            self._saw(all_rows, head)
            self._end = now, end
            for intent, seen in views.items():
                self._remember(intent, seen)
        return stored

    def _in_place(self, messages: Sequence[Message | Maker], end: End) -> Iterator[tuple[Message, bool]]:
        """Each message as it is said at the end, and whether it is one of these or binds others."""
        if not end.chained and (binding := self._binding(end)) is not None:
            end.chained = True
            yield binding, False
        if end.chained and self._witness is not None and (rows := self._witness.unsaid):
            with suppress(KeyringError):
                yield self._maker(Statement(UNSEEN, {"rows": rows}))(end.leaf), False
        for given in messages:
            previous = end.leaf if end.chained else b""
            if callable(given):
                yield given(previous), True
                continue
            message = placed(given, previous, self._keyring) if previous else given
            yield message, True
            if previous and not message.previous:
                yield bound(end.tree.size, end.leaf, self._keyring, self._clock), False

    def _binding(self, end: End) -> Message | None:
        beside = {"keys": stated(self._keyring.entries()), "tables": stated_now(self.tables.lines())}
        return begun(end, self._keyring, self._clock, beside)

    @property
    def chained(self) -> bool:
        """Whether its rows are chained; those of a journal of before are once something is told in it."""
        if self._chained:
            return True
        last = self._database.read("SELECT wire FROM journal ORDER BY seq DESC LIMIT 1")
        chained = not last or is_chained(last[0][0])
        self._chained = chained and not self._database.writing  # what is not committed may be undone
        return chained

    @contextmanager
    def beginning(self, component: str) -> Iterator[sqlite3.Connection]:
        """A transaction in which other tables are written to and records told that belong to that, behind
        rows that were seen and are chained. Raises as `record`."""
        _ = self._keyring.agent.signing_key  # a sealed one is opened before the database is held
        with self._database.write(component) as connection:
            nested = self._database.within
            before = read_tree(connection).size
            if not nested:
                self._require_seen(connection, read_end(connection))
            if not self.chained:
                self._store(())
            yield connection
            rows = self.rows(after=before)
        if not nested:
            self._saw(rows)

    def _end_at(self, connection: sqlite3.Connection, stamp: Stamp | None) -> End:
        """The end to add to: the one that we wrote last where nobody wrote since, else read and checked."""
        known, end = self._end
        return end.copy() if stamp is not None and known == stamp else read_end(connection)

    def record(
        self,
        kind: str,
        body: Mapping[str, Any],
        *,
        intent: str | None = None,
        at: str = "",
    ) -> Row:
        """Sign a record with the agent's key and append it.

        kind: `record.<name>`; body: CBOR values under text keys; at: from the clock where not given.
        Raises what `append` and `seal_record` raise.
        """
        uri = f"matrix://intent/{intent_id(intent)}" if intent else ""
        said = Statement(kind, body, at)
        return self._store([self._maker(said, uri)])[0][0]

    def forget(self, seq: int) -> Row:
        """Remove the body beside a row, for good; its hash stays in the row. Signed by the person, and shown
        ever after.

        Raises JournalError ROW_UNKNOWN, NO_BODY (the row has none beside it, or it is gone), BODY_IN_USE (a
        run may go on with it); KeyringError where the user's key is sealed; HomeError.
        """
        row = self.numbered(seq)
        told = names_body(opened(row.wire, self._keyring.past_resolver))
        if told is None:
            raise no_body(seq, f"no body lies beside row {seq}: all that it says stands in it")
        if self._bodies.find(told.sha256) is None:
            raise no_body(seq, f"the body of row {seq} is not here any more")
        if busy := [one for one in self._bodies.users(told.sha256) if not self.view(one).terminal]:
            raise JournalError(
                "BODY_IN_USE",
                f"a run may go on with it: {busy[0]}",
                place=f"journal:{seq}",
                fix=f"let it end, or cancel it: mcl cancel {busy[0]}",
                exit=REFUSED,
            )
        body = {"row": seq, "sha256": told.sha256, "size": told.size}

        def remove(connection: sqlite3.Connection, rows: Sequence[Row]) -> None:
            self._bodies.forget(connection, told.sha256)

        maker = self._maker(Statement(FORGOTTEN, body), f"matrix://intent/{row.intent}")
        said = self._store([maker], beside=remove)[0][0]
        self._bodies.settle()
        return said

    def forgotten(self, intent: str) -> tuple[int, ...]:
        """The rows of an intent whose body is not here any more. Raises as `open`."""
        told = ((row.seq, names_body(self._open(row.wire, row.seq))) for row in self.rows(intent))
        return tuple(seq for seq, one in told if one is not None and self._bodies.find(one.sha256) is None)

    # ---- reading ----

    def rows(
        self, intent: str | None = None, after: int = 0, *, kind: str | None = None, limit: int = -1
    ) -> list[Row]:
        """Rows in order, with seq > after; of one intent, of one kind, the first `limit` (-1: all)."""
        where, values = "seq > ?", list[object]([after])
        for column, wanted in (("intent", intent_id(intent) if intent else None), ("kind", kind)):
            if wanted is not None:
                where, values = f"{where} AND {column} = ?", [*values, wanted]
        sql = f"SELECT {COLUMNS} FROM journal WHERE {where} ORDER BY seq LIMIT ?"  # noqa: S608  # fixed texts
        return [Row(*found) for found in self._database.read(sql, (*values, limit))]

    def row(self, id: str) -> Row:
        """The row of an envelope or record. Raises JournalError ROW_UNKNOWN."""
        found = self._database.read(f"SELECT {COLUMNS} FROM journal WHERE id = ?", (id,))  # noqa: S608  # fixed
        if not found:
            raise JournalError("ROW_UNKNOWN", "no row has this id", place=id, fix="mcl log lists the rows")
        return Row(*found[0])

    def numbered(self, seq: int) -> Row:
        """The row of a number. Raises JournalError ROW_UNKNOWN."""
        found = self.rows(after=seq - 1, limit=1)
        if not found or found[0].seq != seq:
            raise _no_such_row(f"there is no row {seq}; there are {self.size()}", seq)
        return found[0]

    def open(self, wire: bytes, seq: int = 0) -> Message:
        """Read the bytes of a row and check form, key, signature and role; with the body that lies beside
        it, where that was not forgotten.

        seq: where it stands; then also that its key was not revoked in a row before it (0: not judged, as
        what was appended was). Raises ir.CborError, ir.EnvelopeError, JournalError, HomeError.
        """
        return self._bodies.whole(self._open(wire, seq))

    def _open(self, wire: bytes, seq: int) -> Message:
        """The same without its body, which says nothing of how an intent stands."""
        message = opened(wire, self._keyring.past_resolver)
        if seq and refused(message, seq, self.standing(), self._keyring):
            raise JournalError("KEY_REVOKED", f"the key {message.from_} was revoked", place=message.id)
        return message

    def envelopes(self, intent: str) -> tuple[Envelope, ...]:
        """The envelopes of an intent in order, each checked as `open` does."""
        opened = (self.open(row.wire, row.seq) for row in self.rows(intent))
        return tuple(message for message in opened if isinstance(message, Envelope))

    def intents(self, prefix: str = "") -> tuple[str, ...]:
        """The ULIDs of all intents that begin with `prefix`, the one last written about first."""
        sql = """SELECT intent FROM journal WHERE intent >= ? AND intent < ?
                 GROUP BY intent ORDER BY max(seq) DESC"""
        return tuple(found for (found,) in self._database.read(sql, (prefix, prefix + "\uffff")))

    def view(self, intent: str, *, fresh: bool = False) -> View:
        """What the journal says about an intent now; the state "new" where it says nothing.

        fresh: read and check every row again instead of only those that are new to this process.
        Raises what `open` raises, LifecycleError where the rows cannot have happened.
        """
        intent = intent_id(intent)
        # Asked before the rows are: who writes in between is seen next time. Within a transaction nothing
        # that is seen is certain, so nothing is remembered.
        stamp = None if self._database.writing else self._database.stamp("journal")
        seen = self._read_on(intent, stamp, fresh=fresh)
        if stamp is not None and seen.seq:
            self._remember(intent, seen)
        return seen.view

    def _read_on(self, intent: str, stamp: Stamp | None, *, fresh: bool = False) -> _Seen:
        """What is remembered of an intent, where it is of this stamp; else with the rows since, checked."""
        seen = None if fresh else self._views.get(intent)
        if seen is None:
            seen = _Seen()
        elif stamp is not None and seen.stamp == stamp:
            return seen
        rows = self.rows(intent, after=seen.seq)
        messages = [self._open(row.wire, row.seq) for row in rows]
        envelopes = [message for message in messages if isinstance(message, Envelope)]
        view = fold(envelopes, seen.view)
        return _Seen(stamp, rows[-1].seq if rows else seen.seq, view)

    # ---- the tree ----

    def size(self) -> int:
        return int(self._database.read("SELECT size FROM tree")[0][0])

    def head(self) -> Head:
        """Sign the tree as it is now; also kept in the journal, so that truncation below it is found, but
        where that cannot be written to.

        Raises KeyringError where the agent's key is sealed.
        """
        if self._database.read_only:
            with self._database.snapshot() as connection:
                return self._sign_head(read_tree(connection))
        with self._database.write("journal") as connection:
            head = self._sign_head(read_tree(connection))
            self._save_head(connection, head)
        self._saw((), head)
        return head

    def prove(self, seq: int, *, size: int | None = None) -> InclusionProof:
        """That row `seq` is in the tree of the first `size` rows (default: all).

        Raises JournalError ROW_UNKNOWN.
        """
        from executor.store.journal.merkle import InclusionProof

        leaves = self._leaves(size)
        try:
            path = inclusion_path(leaves, seq - 1)
        except IndexError as error:
            raise _no_such_row(str(error), seq) from error
        return InclusionProof(seq - 1, len(leaves), leaves[seq - 1], path)

    def consistency(self, old_size: int, new_size: int | None = None) -> ConsistencyProof:
        """That the first `new_size` rows (default: all) begin with the first `old_size`.

        Raises JournalError ROW_UNKNOWN.
        """
        from executor.store.journal.merkle import ConsistencyProof

        leaves = self._leaves(new_size)
        try:
            path = consistency_path(leaves, old_size)
        except IndexError as error:
            raise _no_such_row(str(error), old_size) from error
        return ConsistencyProof(old_size, len(leaves), path)

    def verify(self, *, intent: str | None = None, heads: Iterable[Head] = ()) -> Report:
        """Check everything again from the bytes: rows, signatures, transitions, tree, saved heads.

        intent: only the rows of one intent, without the tree. heads: more heads to hold the journal against,
        such as one kept elsewhere. Flaws are in the report; raises HomeError only where the file cannot be
        opened.
        """
        from executor.store.journal.verification import verify_rows

        if intent:
            self._look()
        with self._database.snapshot() as connection:
            only = intent_id(intent) if intent else None
            standing = self.standing() if only else None
            report = verify_rows(
                connection, self._keyring, only=only, heads=heads, witness=self._witness, standing=standing
            )
        if only is not None:
            for told in self.tables.differences():
                report.add(CODE, 0, told)
        if only is not None and self.trouble is not None:
            report.add(self.trouble.code, int(self.trouble.place.rpartition(":")[2]), self.trouble.message)
        if only is not None and report.ok and report.view is not None:  # `view` goes on from there
            self._remember(only, _Seen(None, report.last, report.view))
        return report

    def _leaves(self, size: int | None) -> list[bytes]:
        limit = -1 if size is None else size
        leaves = [
            leaf for (leaf,) in self._database.read("SELECT leaf FROM journal ORDER BY seq LIMIT ?", (limit,))
        ]
        if size is not None and len(leaves) != size:
            raise _no_such_row(f"the journal has {len(leaves)} rows, not {size}", size)
        return leaves

    def _sign_head(self, tree: Frontier) -> Head:
        from executor.store.journal.merkle import HEAD_KIND, Head

        body = {"size": tree.size, "root": tree.root()}
        at, id = self._clock.now(), self._clock.new_id()
        return Head.of(seal_record(HEAD_KIND, body, id=id, at=at, signer=self._keyring.agent))

    def _save_head(self, connection: sqlite3.Connection, head: Head) -> None:
        connection.execute("INSERT OR REPLACE INTO heads VALUES (?, ?)", (head.size, head.record.wire))

    def _remember(self, intent: str, seen: _Seen) -> None:
        self._views[intent] = seen
        self._views.move_to_end(intent)
        while len(self._views) > _REMEMBERED:
            self._views.popitem(last=False)


def _reading(connection: sqlite3.Connection) -> Callable[[str, tuple[object, ...]], list[tuple[object, ...]]]:
    return lambda sql, values: connection.execute(sql, values).fetchall()


def _no_such_row(message: str, seq: int) -> JournalError:
    return JournalError("ROW_UNKNOWN", message, place=f"journal:{seq}", fix="mcl log lists the rows")
