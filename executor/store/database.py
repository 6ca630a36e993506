"""The one SQLite file of a home: one connection a process, WAL, every commit durable."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from executor.core.errors import HomeError
from executor.store.schema import VERSIONS, Schema, statements
from ir.errors import UNVERIFIED

BUSY_TIMEOUT_S = 30.0

_PAGE = 4096  # bytes
_PAGES_OF_LOG = 1000  # SQLite's own: a commit beyond writes them back, and the log begins anew
_PAGES_A_COMMIT = 5  # of a row or two: the table, its two indexes, the tree
_CHANGED = "PRAGMA data_version"


class Database:
    """A connection that threads share under a lock. Open it again after a fork; close it when done."""

    def __init__(self, path: Path, connection: sqlite3.Connection, *, read_only: bool = False) -> None:
        self.path = path
        self.read_only = read_only
        self._connection = connection
        self._lock = threading.RLock()
        self._owner = os.getpid()
        self._copied = False  # of a file that cannot be written to: whether this is a copy in memory
        self._depth = 0  # of `write`s that are under way, one within the other
        self._writes: dict[str, int] = {}  # component -> how many `write`s were begun for it
        self._schema, self._schema_number = Schema(), -1  # what may be there, and SQLite's number when it was
        self._others = 0  # commits of others when that was looked at
        self._moment = threading.local()  # known: what this thread was answered, while it is in a moment

    @classmethod
    def open(cls, path: Path) -> Database:
        """Open or create the file (mode 0600). Raises HomeError (see `explain`)."""
        try:
            if not path.exists():
                # SQLite gives its WAL and index files the mode of the database file.
                os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
            return cls(path, _connect(path))
        except OSError as error:
            raise explain_os(error, path) from error
        except sqlite3.Error as error:
            raise explain(error, path) from error

    @classmethod
    def open_read_only(cls, path: Path) -> Database:
        """Open a file whose folder cannot be written to, such as a copy kept as evidence.

        What still stands in its log counts too: then a private copy of both is read. Raises HomeError.
        """
        try:
            log = path.with_name(f"{path.name}-wal")
            if log.exists() and log.stat().st_size:
                with tempfile.TemporaryDirectory(prefix="mcl-read-") as folder:
                    for one in (path, log):
                        shutil.copy(one, folder)
                    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
                    with closing(sqlite3.connect(Path(folder) / path.name)) as copy:
                        copy.backup(connection)
            else:
                connection = _read_only(path)
            return cls(path, connection, read_only=True)
        except OSError as error:
            raise explain_os(error, path) from error
        except sqlite3.Error as error:
            raise explain(error, path) from error

    @contextmanager
    def write(self, component: str = "") -> Iterator[sqlite3.Connection]:
        """A transaction that holds the write lock from its start; commits durably, or leaves no trace.

        component: whose tables alone are written to, as in `migrate`; "": any. See `stamp`.
        Inside another `write` of the same thread it is a savepoint of that one. Never await inside: other
        tasks of the thread would join the transaction. Raises HomeError; constraint violations
        (sqlite3.IntegrityError) pass through to the caller, who knows what they mean.
        """
        if self.read_only:
            raise HomeError(*_MEANING[sqlite3.SQLITE_READONLY][:2], place=str(self.path), fix=_READ_ONLY_FIX)
        try:
            with self._lock:
                connection = self._here()
                nested = connection.in_transaction
                self._begun(component)
                connection.execute("SAVEPOINT inner" if nested else "BEGIN IMMEDIATE")
                self._depth += 1
                try:
                    if not nested:
                        self._require_schema(connection)
                    yield connection
                    connection.execute("RELEASE inner" if nested else "COMMIT")
                except BaseException:
                    if connection.in_transaction:  # a full disk may have rolled everything back already
                        connection.execute("ROLLBACK TO inner" if nested else "ROLLBACK")
                        if nested:
                            connection.execute("RELEASE inner")
                    raise
                finally:
                    self._depth -= 1
        except sqlite3.IntegrityError:
            raise
        except sqlite3.Error as error:
            raise explain(error, self.path) from error

    @contextmanager
    def derive(self, component: str) -> Iterator[sqlite3.Connection]:
        """`write` for tables that only repeat what the rows of the journal say, and are made when they are
        asked for. Where the file cannot be written to they are made in memory, for this process alone."""
        if not self.read_only:
            with self.write(component) as connection:
                yield connection
            return
        with self._lock, self._explained():
            connection = self._private()
            self._begun(component)
            connection.execute("BEGIN")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                connection.execute("ROLLBACK")
                raise

    def _begun(self, component: str) -> None:
        if getattr(self._moment, "known", None):
            self._moment.known.clear()
        # Counted before anything is written, so that no interruption leaves a commit uncounted.
        self._writes[component] = self._writes.get(component, 0) + 1

    def _private(self) -> sqlite3.Connection:
        """The connection of a file that cannot be written to, from now on to a copy in memory."""
        if self._copied:
            return self._here()
        copy = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        with closing(self._here()) as connection:
            connection.backup(copy)
        self._connection, self._copied = copy, True
        return copy

    @property
    def writing(self) -> bool:
        """Whether a `write` is under way, so that what is read may still be undone. Raises HomeError."""
        try:
            return self._connection.in_transaction
        except sqlite3.Error as error:
            raise explain(error, self.path) from error

    @property
    def within(self) -> bool:
        """Within a `write`: whether it is part of another one of this thread, which may still be undone."""
        return self._depth > 1

    def read(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """All rows of one query. Raises HomeError."""
        known: dict[tuple[object, ...], list[tuple[Any, ...]]] | None
        known = getattr(self._moment, "known", None)
        if known is not None:
            if (answered := known.get((sql, *parameters))) is not None:
                return list(answered)
            if not known and sql != _CHANGED:
                self.read(_CHANGED)  # first, so that no answer is older than the stamp it is kept under
        try:
            with self._lock:
                connection = self._here()
                rows = connection.execute(sql, parameters).fetchall()
                if known is not None and not connection.in_transaction:
                    known[(sql, *parameters)] = list(rows)
                return rows
        except sqlite3.IntegrityError:
            raise
        except sqlite3.Error as error:
            raise explain(error, self.path) from error

    def make_room(self, commits: int) -> None:
        """Let the log have room for so many small commits that follow, or for as many as it ever holds.

        A commit into a log that has to grow waits for the file system to note the new length, which takes as
        long again as its bytes. So the log is filled once with pages that are then rolled back: it keeps its
        length, and what follows is written over them. Where that cannot be, nothing is lost but time.
        """
        pages = min(commits * _PAGES_A_COMMIT, _PAGES_OF_LOG)
        try:
            if self.writing or os.stat(f"{self.path}-wal").st_size >= pages * _PAGE:  # noqa: PTH116
                return
            with self._lock:
                connection = self._here()
                kept = connection.execute("PRAGMA cache_size").fetchone()[0]
                # In pages: what does not fit goes to the log at once.
                connection.execute("PRAGMA cache_size = 8")
                try:
                    connection.execute("BEGIN IMMEDIATE")
                    connection.execute("CREATE TABLE room (filled BLOB) STRICT")
                    connection.execute("INSERT INTO room VALUES (zeroblob(?))", (pages * _PAGE,))
                finally:
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                    connection.execute(f"PRAGMA cache_size = {int(kept)}")
        except (OSError, sqlite3.Error):  # no log yet, a full disk, a writer that does not end
            return

    @contextmanager
    def moment(self) -> Iterator[None]:
        """Within it this thread asks each question once: many small decisions are made of one state.

        A `write` begins a new moment. Never await inside: the moment would last for as long.
        """
        if getattr(self._moment, "known", None) is not None:
            yield
            return
        self._moment.known = {}
        try:
            yield
        finally:
            self._moment.known = None

    def stamp(self, component: str) -> tuple[int, int]:
        """A mark of the component's tables: two equal marks, and nothing was committed there in between.

        The first number is SQLite's and differs after a commit of any other connection or process; the second
        counts the `write`s of this object, begun for this component or for any.
        """
        with self._lock:
            others = self.read(_CHANGED)[0][0]
            if others != self._others:
                self._require_schema(self._here())
                self._others = others
            return others, self._writes.get(component, 0) + self._writes.get("", 0)

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """A second connection that sees one moment of the file, whatever others write. Raises HomeError."""
        if self.read_only:
            with self._lock:
                yield self._here()
                self._connection.text_factory = str
            return
        with self._explained():
            connection = _connect(self.path)
            try:
                connection.execute("BEGIN")
                yield connection
            finally:
                connection.close()

    def migrate(self, component: str, steps: Sequence[str]) -> None:
        """Bring the tables of `component` to version len(steps).

        Step n (SQL, several statements allowed) leads to version n+1 and never changes once released.
        Safe when several processes do it at once. Of a file that cannot be written to, a copy in memory is
        brought there.

        Raises HomeError DATABASE_NEWER where the file was written by a later program, SCHEMA_CHANGED where
        somebody else put something there.
        """
        with self._lock:
            self._migrate(component, steps)
            with self._explained():
                self._schema.meet(component, steps)
                self._schema_number = -1
                self._require_schema(self._here())

    def _migrate(self, component: str, steps: Sequence[str]) -> None:
        if self._version(component) == len(steps):
            return
        with self.derive("") as connection:
            connection.execute(VERSIONS)
            version = self._version(component)
            if version > len(steps):
                raise HomeError(
                    "DATABASE_NEWER",
                    f"the tables of {component} have version {version}; this program knows {len(steps)}",
                    place=str(self.path),
                    fix="use the newer mcl that wrote this home, or another home (MCL_HOME)",
                )
            for step in steps[version:]:
                for statement in statements(step):
                    connection.execute(statement)
            connection.execute("INSERT OR REPLACE INTO components VALUES (?, ?)", (component, len(steps)))

    def _require_schema(self, connection: sqlite3.Connection) -> None:
        """That nobody else put a trigger, a view or another table in place of one. Raises HomeError."""
        number = connection.execute("PRAGMA schema_version").fetchone()[0]
        if number == self._schema_number:
            return
        if flaw := self._schema.flaw(Schema.objects(connection)):
            raise HomeError(
                "SCHEMA_CHANGED",
                f"the database was changed by another program: {flaw}",
                place=str(self.path),
                fix="keep the file, and restore mcl.db from a backup; then run mcl log verify",
                exit=UNVERIFIED,
            )
        self._schema_number = number

    def close(self) -> None:
        """Close the connection; what was committed stays."""
        with self._lock:
            self._connection.close()

    def _version(self, component: str) -> int:
        known = self.read("SELECT count(*) FROM sqlite_schema WHERE name = 'components'")
        if not known[0][0]:
            return 0
        rows = self.read("SELECT version FROM components WHERE name = ?", (component,))
        return int(rows[0][0]) if rows else 0

    def _here(self) -> sqlite3.Connection:
        if os.getpid() != self._owner:
            raise HomeError(
                "DATABASE_FORKED",
                "this database was opened before the process was forked",
                place=str(self.path),
                fix="open the home again in the child process",
            )
        return self._connection

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.IntegrityError:
            raise
        except sqlite3.Error as error:
            raise explain(error, self.path) from error


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False)
    try:
        if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            connection.execute("PRAGMA journal_mode = WAL")
        for pragma in ("synchronous = FULL", "foreign_keys = ON", "trusted_schema = OFF"):
            connection.execute(f"PRAGMA {pragma}")
    except BaseException:
        connection.close()
        raise
    return connection


def _read_only(path: Path) -> sqlite3.Connection:
    # immutable: where no file can be made beside it, SQLite cannot lock, and nobody else can write either.
    address = f"file:{quote(str(path))}?immutable=1"
    return sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False)


def explain(error: sqlite3.Error, path: Path) -> HomeError:
    """What an SQLite error means for the person: one code, the place, a way out."""
    number = getattr(error, "sqlite_errorcode", None) or 0
    primary = number & 0xFF
    if primary == sqlite3.SQLITE_IOERR and _is_full(path):
        primary = sqlite3.SQLITE_FULL
    if primary in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM) and not os.access(path.parent, os.W_OK):
        primary = sqlite3.SQLITE_READONLY
    code, meaning, fix, exit_code = _MEANING.get(primary, _OTHER)
    name = getattr(error, "sqlite_errorname", None) or type(error).__name__
    return HomeError(code, f"{meaning} ({name}: {error})", place=str(path), fix=fix, exit=exit_code)


def explain_os(error: OSError, path: Path) -> HomeError:
    """The same for an error of the file system."""
    primary = _ERRNO.get(error.errno or 0, 0)
    code, meaning, fix, exit_code = _MEANING.get(primary, _OTHER)
    return HomeError(code, f"{meaning} ({error.strerror or error})", place=str(path), fix=fix, exit=exit_code)


def is_writable(folder: Path) -> bool:
    """Whether files in the folder can be made and changed."""
    return os.access(folder, os.W_OK | os.X_OK)


def _is_full(path: Path) -> bool:
    try:
        return os.statvfs(path.parent).f_bavail == 0
    except OSError:
        return False


_READ_ONLY_FIX = "make the folder writable, or choose another home (MCL_HOME)"
_OTHER = ("DATABASE_FAILED", "the home cannot be used", "see the message; try another home (MCL_HOME)", None)
_MEANING: dict[int, tuple[str, str, str, int | None]] = {
    sqlite3.SQLITE_FULL: (
        "DISK_FULL",
        "the disk is full; nothing was written",
        "free some space and try again",
        None,
    ),
    sqlite3.SQLITE_READONLY: (
        "HOME_READ_ONLY",
        "the home cannot be written to",
        _READ_ONLY_FIX,
        None,
    ),
    sqlite3.SQLITE_CANTOPEN: (
        "HOME_UNREADABLE",
        "the home cannot be opened",
        "check that the path is a folder of yours, or choose another home (MCL_HOME)",
        None,
    ),
    sqlite3.SQLITE_CORRUPT: (
        "DATABASE_CORRUPT",
        "the database file is damaged",
        "keep the file, restore it from a backup, then run `mcl log verify`",
        UNVERIFIED,
    ),
    sqlite3.SQLITE_BUSY: (
        "DATABASE_BUSY",
        f"another process held the database for more than {BUSY_TIMEOUT_S:.0f} s",
        "end the other mcl process, or try again",
        None,
    ),
}
_MEANING[sqlite3.SQLITE_NOTADB] = _MEANING[sqlite3.SQLITE_CORRUPT]
_MEANING[sqlite3.SQLITE_PERM] = _MEANING[sqlite3.SQLITE_CANTOPEN]
_MEANING[sqlite3.SQLITE_LOCKED] = _MEANING[sqlite3.SQLITE_BUSY]

_ERRNO = {
    errno.ENOSPC: sqlite3.SQLITE_FULL,
    errno.EDQUOT: sqlite3.SQLITE_FULL,
    errno.EROFS: sqlite3.SQLITE_READONLY,
    errno.EACCES: sqlite3.SQLITE_READONLY,
    errno.EPERM: sqlite3.SQLITE_READONLY,
    errno.ENOTDIR: sqlite3.SQLITE_CANTOPEN,
    errno.EEXIST: sqlite3.SQLITE_CANTOPEN,  # a file where the folder should be
    errno.EISDIR: sqlite3.SQLITE_CANTOPEN,
    errno.ENOENT: sqlite3.SQLITE_CANTOPEN,
    errno.ELOOP: sqlite3.SQLITE_CANTOPEN,
    errno.ENAMETOOLONG: sqlite3.SQLITE_CANTOPEN,
}
