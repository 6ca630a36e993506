"""The home: one folder with the keys and the one database, opened once at the edge and passed in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from nacl.exceptions import BadSignatureError
from nacl.signing import VerifyKey

from executor.core.clock import Clock, SystemClock
from executor.core.errors import HomeError, KeyringError
from executor.store.database import Database, explain_os, is_writable
from executor.store.journal.journal import Journal
from executor.store.journal.rows import TABLES
from executor.store.journal.witness import Witness, state_folder
from executor.store.keys.keyfile import exclusive
from executor.store.keys.keyring import Keyring
from ir import Envelope, MclError, key_of
from ir.errors import REFUSED

UNATTENDED: Final = "record.home.unattended"  # the first row of a home that no person sits at


def _said_at_birth(user: str, agent: str) -> bytes:
    return f"mcl/0.1 unattended home\0{user}\0{agent}".encode()


class Home:
    """An open home: its folder (`path`) and parts. Close it, or use it as a context.

    allowed: folders, as they were named, that tools may read beside the workspace while this home is open.
    repositories: gives the folders that a person named as repositories.
    """

    def __init__(
        self,
        path: Path,
        db: Database,
        journal: Journal,
        keyring: Keyring,
        clock: Clock,
        allowed: tuple[str, ...] = (),
        repositories: Callable[[], tuple[str, ...]] = tuple,
    ) -> None:
        self.path = path
        self.repositories = repositories
        self.allowed = allowed
        self.db = db
        self.journal = journal
        self.keyring = keyring
        self.clock = clock
        self._unattended: bool | None = None

    @property
    def unattended(self) -> bool:
        """Whether this home was made for programs: then nobody need have looked at what it signs.

        Its first row says so, signed with both its keys; no later one can. Raises HomeError where the
        database cannot be read.
        """
        if self._unattended is None and self.journal.size():
            self._unattended = self._begins_unattended()
        return bool(self._unattended)

    @property
    def marks(self) -> Mapping[str, object]:
        """What goes into all that is told of this home's signatures: `unattended`, where it is."""
        return {"unattended": True} if self.unattended else {}

    def unseen(self, given: bool = False) -> bool:
        """Whether what is signed now says that nobody looked: as it was given, and always where this home is
        unattended."""
        return given or self.unattended

    def _begins_unattended(self) -> bool:
        for row in self.journal.rows(limit=1):
            if row.kind != UNATTENDED:
                return False
            try:
                record = self.journal.open(row.wire)
                if isinstance(record, Envelope):
                    return False
                user, signature = str(record.body["user"]), record.body["signature"]
                VerifyKey(key_of(user)).verify(_said_at_birth(user, record.from_), signature)
            except (MclError, KeyError, TypeError, ValueError, BadSignatureError):
                return False  # nobody's word
            own = [one for one in self.keyring.entries() if one.origin != "trusted"]
            return row.seq == 1 and any((one.did, one.role) == (user, "user") for one in own)
        return False

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        passphrase: bytes | None = None,
        unattended: bool = False,
        clock: Clock | None = None,
        allowed: tuple[str, ...] = (),
        repositories: Callable[[], tuple[str, ...]] = tuple,
        state: Path | None = None,
    ) -> Home:
        """Open the home in folder `path`; make it (0700), its database and keys where they are missing.

        Several processes may do so at once, also the first time: all get the same keys. passphrase: seals new
        keys, opens sealed ones. unattended: a home that is made now is for programs, and says so for good.
        allowed: folders that tools may read beside the workspace; they are judged when a call is
        (``sandbox.reach``). repositories: as of the class. state: the folder where this machine keeps
        what it has seen of journals (else $MCL_STATE, or the user's folder for it). A home that cannot be
        written to can be read; writing to it raises HOME_READ_ONLY. Raises HomeError HOME_ATTENDED where the
        home was there, and was made for a person, HOME_READ_ONLY, HOME_UNREADABLE, DISK_FULL,
        DATABASE_CORRUPT, DATABASE_NEWER, DATABASE_BUSY; KeyringError KEY_MISSING, KEY_FILE_CORRUPT,
        KEY_FILE_EXPOSED.
        """
        clock = clock or SystemClock()
        path, keys = path.absolute(), path.absolute() / "keys"
        try:
            complete = path.is_dir() and Keyring.complete(keys)
        except OSError as error:  # a folder on the way that may not be entered, a name too long
            raise explain_os(error, path) from error
        if not complete:
            _make(path, keys, clock, passphrase, state, unattended=unattended)
        writable = is_writable(path)
        db = Database.open(path / "mcl.db") if writable else Database.open_read_only(path / "mcl.db")
        try:
            db.migrate("journal", TABLES)
            keyring = Keyring.open(keys, clock=clock, passphrase=passphrase)
            journal = Journal(db, keyring, clock)
            journal.watch(Witness(state or state_folder(), path, keyring.first), writable=writable)
            keyring.follow(journal.merged, journal.record)
        except BaseException:
            db.close()
            raise
        home = cls(path, db, journal, keyring, clock, allowed, repositories)
        if unattended and not home.unattended:
            home.close()
            raise HomeError(
                "HOME_ATTENDED",
                "this home was made for a person; only a new one can be made without",
                place=str(path),
                fix="name a folder that is not there yet, MCL_HOME=./other mcl init --unattended, or leave "
                "--unattended out",
                exit=REFUSED,
            )
        return home

    def close(self) -> None:
        self.db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _make(
    path: Path, keys: Path, clock: Clock, passphrase: bytes | None, state: Path | None, *, unattended: bool
) -> None:
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        keys.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise explain_os(error, path) from error
    with exclusive(path):
        if Keyring.complete(keys):
            return
        db = Database.open(path / "mcl.db")
        try:
            db.migrate("journal", TABLES)
            written = db.read("SELECT size FROM tree")[0][0]
            if written:
                raise KeyringError(
                    "KEY_MISSING",
                    f"the journal of this home has {written} rows, but its keys are gone",
                    place=str(keys),
                    fix="restore the keys folder from a backup, or start with an empty home (MCL_HOME)",
                )
            keyring = Keyring.create(keys, clock=clock, passphrase=passphrase)
            if unattended:  # whoever dies or is overtaken before this has made a home for a person
                user = keyring.user
                signature = user.signing_key.sign(_said_at_birth(user.did, keyring.agent.did)).signature
                journal = Journal(db, keyring, clock)
                journal.watch(Witness(state or state_folder(), path, keyring.first))
                journal.record(UNATTENDED, {"user": user.did, "signature": signature})
        finally:
            db.close()
