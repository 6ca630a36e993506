"""The folder that examples of tools run in: a small project with a history, and what lies around it.

A probe has a place of its own: ``work`` is the workspace; in ``beside`` and ``home`` no tool has any
business; ``mcl`` is the home of mcl; ``tmp`` is for temporary files.
"""

from __future__ import annotations

import hashlib
import os
import select
import shutil
import sqlite3
import stat
from collections.abc import Iterable, Mapping
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

from executor.core.tables import table_beside
from executor.gate.grants import Grants
from executor.sandbox.environment import safe_path
from executor.sandbox.process import run_command
from executor.store.home import Home
from ir import SIDE_EFFECTS
from mcl.core.repositories import Repositories
from mcl.memory import MemoryStore

AROUND: Final = ("beside", "home")
AREAS: Final = ("work", *AROUND, "tmp")
DISK: Final = "/srv/"  # what an example has there lies in the place
BIN: Final = "stand-ins"  # their folder, beside all places
REAL: Final = frozenset({"git", "rg"})  # programs that are not stood in for where they are installed
EDITOR: Final = "editor"

_STAND_IN: Final = "#!/bin/sh\nexit 0\n"
_AUTHOR: Final = {"NAME": "Ada", "EMAIL": "ada@example.org"}


async def make_template(place: Path, *, host: str) -> None:
    """Make what every probe gets a copy of. host: the one that is granted in the home of mcl."""
    said = table_beside(__file__, "data/shop")
    for area in AREAS:
        (place / area).mkdir(parents=True)
    for area in AROUND:
        _write(place / area, said[area])
    work = place / "work"
    git = shutil.which("git", path=safe_path(os.environ.get("PATH", ""), place))
    for number, (message, moment) in enumerate(said["commits"].items()):
        _write(work, {path: texts[number] for path, texts in said["files"].items() if number < len(texts)})
        if git is not None:
            if not number:
                await _git(git, work, "init", "--quiet", "--initial-branch", said["branch"])
            await _git(git, work, "add", "--all")
            await _git(git, work, "commit", "--quiet", "--message", message, at=moment)
    if git is not None:
        await _branch_off(git, work, said)
        await _git(git, place, "init", "--quiet", "--bare", f"{place}{DISK}shop.git")
    for folder in (work / ".git" / "hooks", work / ".git" / "branches"):
        shutil.rmtree(folder, ignore_errors=True)
    _write(work, said["staged"])
    if git is not None:
        await _git(git, work, "add", "--all")
    _write(work, said["unstaged"])
    _make_home(place / "mcl", said, host)


async def _branch_off(git: str, work: Path, said: Mapping[str, Any]) -> None:
    """Make the further branches and the one that is ready, and say who commits and where it would go."""
    for name, value in said["config"].items():
        await _git(git, work, "config", name, value)
    for name, commit in said["branches"].items():
        await _git(git, work, "branch", name, commit)
    await _git(git, work, "checkout", "--quiet", "-b", "ready")
    _write(work, said["ready"])
    await _git(git, work, "add", "--all")
    await _git(
        git, work, "commit", "--quiet", "--message", "Add a shelf", at=list(said["commits"].values())[-1]
    )
    await _git(git, work, "checkout", "--quiet", said["branch"])


def make_stand_ins(place: Path, programs: Iterable[str]) -> None:
    """Programs that do nothing, for all those that tools may start and whose work does not matter here."""
    folder = place / BIN
    folder.mkdir()
    wanted = {name for name in programs if not name.startswith("$")}
    for name in sorted(wanted - {name for name in REAL if shutil.which(name)} | {EDITOR}):
        (folder / name).write_text(_STAND_IN)
        (folder / name).chmod(0o755)


def take_place(template: Path, place: Path) -> None:
    """Copy the template to a place of its own."""
    shutil.copytree(template, place, symlinks=True)


def settle(place: Path, home: Home) -> None:
    """Tell the home in a place of the repositories there, which only now have paths."""
    said = table_beside(__file__, "data/shop")
    for key, path in said["repositories"].items():
        Repositories(home.path).add(key, place / "work" / path)


def environment_of(place: Path) -> dict[str, str]:
    """All the variables that a probe sees."""
    tools = place.parents[1] / BIN
    return {
        "PATH": os.pathsep.join((str(tools), os.environ.get("PATH", "/usr/bin:/bin"))),
        "HOME": str(place / "home"),
        "MCL_HOME": str(place / "mcl"),
        "MCL_STATE": str(place / "states"),
        "TMPDIR": str(place / "tmp"),
        "EDITOR": str(tools / EDITOR),
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
    }


def _make_home(place: Path, said: Mapping[str, Any], host: str) -> None:
    with Home.open(place) as home:
        grants, agent = Grants(home), home.keyring.agent.did
        grants.grant(agent, SIDE_EFFECTS)
        grants.grant_hosts(agent, [host, host.replace("http://", "smtp://")])
        (place / "mail.toml").write_text(said["mail"], encoding="utf-8")
        store = MemoryStore(home)
        for memory in said["memories"]:
            store.put(memory["type"], memory["text"])


def _write(folder: Path, files: Mapping[str, str]) -> None:
    for path, text in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.encode())


async def _git(program: str, folder: Path, *arguments: str, at: str = "") -> None:
    both = ("AUTHOR", "COMMITTER")
    people = {f"GIT_{who}_{what}": value for who in both for what, value in _AUTHOR.items()}
    environment = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(folder),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        **people,
        **({"GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at} if at else {}),
    }
    argv = [program, "-c", "commit.gpgsign=false", "-c", "gc.auto=0", *arguments]
    await run_command(argv, cwd=folder, environment=environment, max_output=1 << 12, alone=True)


# ---- What lies in a folder, so that two looks at it can be compared: whoever changed it, and by whatever
# way.

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

_GREETED: Final = 0.5  # seconds without a word, after which who came is greeted
_PAGE: Final = b"<!doctype html><title>Shop</title><p>Open.</p>\n"
_KINDS: Final = {  # by what the caller takes: content type and body
    "application/cbor": ("application/cbor", b"\xa0"),
    "application/json": ("application/json", b'{"id": 1}\n'),
}
# What takes commits that are pushed: by the end of the address, content type and body.
_NOTHING_YET: Final = "0" * 40 + " capabilities^{}\0report-status ofs-delta object-format=sha1\n"


def _lines(*texts: str) -> bytes:
    """Lines as git's protocol frames them."""
    return "".join(f"{len(one) + 4:04x}{one}" if one else "0000" for one in texts).encode()


_GIT: Final = {
    "/info/refs?service=git-receive-pack": (
        "application/x-git-receive-pack-advertisement",
        _lines("# service=git-receive-pack\n", "", _NOTHING_YET, ""),
    ),
    "/git-receive-pack": (
        "application/x-git-receive-pack-result",
        _lines("unpack ok\n", "ok refs/heads/main\n", ""),
    ),
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
    if there.scheme.startswith("smtp"):
        return host.replace("http://", "smtp://")
    return f"{host}{there.path or '/'}{'?' + there.query if there.query else ''}"


class _Answer(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self._tell()

    do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_GET  # noqa: N815  # names of the library

    def _tell(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        pushed = next((said for end, said in _GIT.items() if self.path.endswith(end)), None)
        kind, body = pushed or _KINDS.get(self.headers.get("Accept", ""), ("text/html; charset=utf-8", _PAGE))
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _take_mail(self) -> None:
        self.wfile.write(b"220 here\r\n")
        while line := self.rfile.readline():
            word = line[:4].strip().upper()
            self.wfile.write(
                {b"DATA": b"354 go on\r\n", b"QUIT": b"221 bye\r\n"}.get(word, b"250 so be it\r\n")
            )
            if word == b"DATA":
                while self.rfile.readline().rstrip() != b".":
                    pass
                self.wfile.write(b"250 taken\r\n")

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is logged."""

    def handle(self) -> None:
        try:
            # Who asks for a page begins; who brings a mail waits to be greeted.
            if select.select([self.connection], [], [], _GREETED)[0]:
                super().handle()
            else:
                self._take_mail()
        except OSError:  # whoever asked has gone
            return
