"""What lies in a folder, so that two looks at it can be compared: whoever changed it, and by whatever way."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import stat
from collections.abc import Mapping
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final, TypeAlias
from urllib.parse import urlsplit

Snapshot: TypeAlias = Mapping[str, str]  # path below the folder -> what is there

_BESIDE_A_DATABASE = ("-wal", "-shm", "-journal")


def look(folder: Path) -> Snapshot:
    """Every file, folder and link below a folder; no link is followed. "" is the folder itself."""
    found: dict[str, str] = {}
    for here, folders, files in os.walk(folder):
        for name in (*folders, *files):
            place = Path(here, name)
            found[str(place.relative_to(folder))] = _told(place)
    return found


def look_at_home(folder: Path) -> Snapshot:
    """As ``look``, of a home of mcl: of a database its rows count, not its bytes; an empty table is none."""
    found: dict[str, str] = {}
    for path, told in look(folder).items():
        if path.endswith(".db"):
            found |= {f"{path}:{table}": rows for table, rows in _tables(folder / path).items()}
        elif not path.endswith(_BESIDE_A_DATABASE) and told != "folder":
            found[path] = told
    return found


def changes(before: Snapshot, after: Snapshot) -> tuple[str, ...]:
    """The paths at which two looks differ, sorted."""
    return tuple(sorted(path for path in {*before, *after} if before.get(path, "") != after.get(path, "")))


def _told(place: Path) -> str:
    status = place.lstat()
    if stat.S_ISLNK(status.st_mode):
        return f"link to {place.readlink()}"
    if stat.S_ISDIR(status.st_mode):
        return "folder"
    mode = f"{stat.S_IMODE(status.st_mode):o}"
    if not stat.S_ISREG(status.st_mode):
        return f"special {mode}"
    return f"file {mode} {hashlib.sha256(place.read_bytes()).hexdigest()}"


def _tables(place: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    with closing(sqlite3.connect(f"file:{place}?mode=ro", uri=True)) as database:
        names = database.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
            " AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name"  # their rows lie in tables of their own
        ).fetchall()
        for (name,) in names:
            quoted = '"' + name.replace('"', '""') + '"'
            rows = database.execute(f"SELECT * FROM {quoted}").fetchall()  # noqa: S608  # names of its own
            if rows:
                found[name] = hashlib.sha256(repr(sorted(map(repr, rows))).encode()).hexdigest()
    return found


# ---- A server of this machine that stands in for every host that an example names.

_PAGE: Final = b"<!doctype html><title>Shop</title><p>Open.</p>\n"
_KINDS: Final = {  # by what the caller takes: content type and body
    "application/cbor": ("application/cbor", b"\xa0"),
    "application/json": ("application/json", b'{"id": 1}\n'),
}


def listen() -> ThreadingHTTPServer:
    """A server on a free port; ``serve_forever`` of it answers."""
    return ThreadingHTTPServer(("127.0.0.1", 0), _Answer)


def origin(server: ThreadingHTTPServer) -> str:
    """Where it listens: http://127.0.0.1:12345."""
    return "http://{}:{}".format(*server.server_address[:2])


def moved(url: str, host: str) -> str:
    """An address of an example, on this server. host: as ``origin``."""
    there = urlsplit(url)
    return f"{host}{there.path or '/'}{'?' + there.query if there.query else ''}"


class _Answer(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self._tell()

    do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_GET  # noqa: N815  # names of the library

    def _tell(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        kind, body = _KINDS.get(self.headers.get("Accept", ""), ("text/html; charset=utf-8", _PAGE))
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is logged."""

    def handle(self) -> None:
        try:
            super().handle()
        except OSError:  # whoever asked has gone
            return
