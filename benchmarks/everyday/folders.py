"""Folders that people type goals in: each is a text file here, built anew for every goal."""

from __future__ import annotations

import io
import os
import struct
import subprocess
import tomllib
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

HERE = Path(__file__).parent / "folders"
ZONE = ZoneInfo("Europe/Stockholm")
_MARK = "=== "
_MAKERS = ("jpeg", "pdf", "fill", "copy", "zip")
_MARKS_OF_GIT = ("untracked", "ignored")
_IDENTITY = {"GIT_COMMITTER_NAME": "Alex Berg", "GIT_COMMITTER_EMAIL": "alex@tidbok.example"}


@dataclass(frozen=True)
class File:
    """One file of a folder. made: how it is made where it is not plain text, with what that needs."""

    path: str
    when: datetime
    text: str
    made: tuple[str, ...] = ()

    @property
    def tracked(self) -> bool:
        return not set(self.made) & set(_MARKS_OF_GIT)


def files_of(name: str) -> tuple[File, ...]:
    """The files of a folder in the order they are written; an unknown name is a FileNotFoundError."""
    found: list[File] = []
    head: tuple[str, ...] = ()
    lines: list[str] = []
    for line in [*(HERE / f"{name}.txt").read_text(encoding="utf-8").splitlines(), f"{_MARK}."]:
        if not line.startswith(_MARK):
            lines.append(line)
            continue
        if head:
            found.append(_file(head[0], lines))
        head, lines = (line[len(_MARK) :],), []
    return tuple(found)


def _file(head: str, lines: list[str]) -> File:
    words = head.split(" ")
    at = next(at for at, word in enumerate(words) if len(word) == 10 and word[:2] == "20" and word[4] == "-")
    when = datetime.strptime(f"{words[at]} {words[at + 1]}", "%Y-%m-%d %H:%M").replace(tzinfo=ZONE)
    return File(" ".join(words[:at]), when, "".join(f"{line}\n" for line in lines), tuple(words[at + 2 :]))


def content(file: File, earlier: Mapping[str, bytes]) -> bytes:
    """The bytes of a file; earlier: those of the files written before it."""
    made = [word for word in file.made if word not in _MARKS_OF_GIT]
    if not made:
        return file.text.encode()
    maker, given = made[0], " ".join(made[1:])
    if maker == "copy":
        return earlier[given]
    if maker == "fill":
        return (file.path.encode() + b"\0\x01\xfe") * (int(given) // (len(file.path.encode()) + 3) + 1)
    if maker == "jpeg":
        return _jpeg(file.when, file.path)
    if maker == "pdf":
        return _pdf(file.text.strip())
    if maker == "zip":
        return _zip({path: earlier[path] for path in made[1:]})
    raise ValueError(f"{file.path}: nothing makes {maker}; one of {', '.join(_MAKERS)}")


def _jpeg(when: datetime, name: str) -> bytes:
    """A picture of one grey dot whose EXIF data says when it was taken."""
    date = when.strftime("%Y:%m:%d %H:%M:%S").encode() + b"\0"
    # A directory with a pointer to the Exif directory, and that one with DateTimeOriginal.
    head = b"II*\0" + struct.pack("<I", 8)
    first = struct.pack("<HHHIII", 1, 0x8769, 4, 1, 26, 0)
    second = struct.pack("<HHHIII", 1, 0x9003, 2, len(date), 44, 0)
    exif = b"Exif\0\0" + head + first + second + date
    comment = name.encode()
    table = bytes([16] * 64)
    return b"".join(
        (
            b"\xff\xd8",
            b"\xff\xe1" + struct.pack(">H", len(exif) + 2) + exif,
            b"\xff\xfe" + struct.pack(">H", len(comment) + 2) + comment,
            b"\xff\xdb" + struct.pack(">HB", 67, 0) + table,
            b"\xff\xc0" + struct.pack(">HBHHBBBB", 11, 8, 1, 1, 1, 1, 0x11, 0),
            b"\xff\xc4" + struct.pack(">HB", 20, 0) + bytes([1] + [0] * 15) + b"\0",
            b"\xff\xc4" + struct.pack(">HB", 20, 0x10) + bytes([1] + [0] * 15) + b"\0",
            b"\xff\xda" + struct.pack(">HBBBBBB", 8, 1, 1, 0, 0, 63, 0) + b"\x3f",
            b"\xff\xd9",
        )
    )


def _pdf(text: str) -> bytes:
    """One page with one line of text."""
    drawn = f"BT /F1 12 Tf 40 700 Td ({text}) Tj ET".encode("latin-1")
    objects = (
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R"
        b" /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(drawn), drawn),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    )
    out, places = io.BytesIO(b"%PDF-1.4\n"), []
    out.seek(0, io.SEEK_END)
    for number, body in enumerate(objects, start=1):
        places.append(out.tell())
        out.write(b"%d 0 obj\n%s\nendobj\n" % (number, body))
    start = out.tell()
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    out.write(b"".join(b"%010d 00000 n \n" % place for place in places))
    out.write(b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start))
    return out.getvalue()


def _zip(members: Mapping[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in members.items():
            archive.writestr(zipfile.ZipInfo(path, (2025, 11, 2, 9, 0, 0)), data)
    return out.getvalue()


def build(name: str, place: Path) -> None:
    """Make the folder in `place`, which is made; a bare repository beside it where its history says so."""
    files, written = files_of(name), {}
    place.mkdir(parents=True)
    for file in files:
        written[file.path] = content(file, written)
        target = place / file.path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(written[file.path])
    history = HERE / f"{name}.toml"
    if history.exists():
        _commit_all(place, tomllib.loads(history.read_text(encoding="utf-8")))
    for file in files:
        os.utime(place / file.path, (file.when.timestamp(), file.when.timestamp()))
    if history.exists():
        for change in tomllib.loads(history.read_text(encoding="utf-8"))["changed"]:
            (place / change["file"]).write_text(change["text"], encoding="utf-8")
            when = datetime.strptime(change["date"], "%Y-%m-%d %H:%M").replace(tzinfo=ZONE).timestamp()
            os.utime(place / change["file"], (when, when))
    for folder in sorted((path for path in place.rglob("*") if path.is_dir()), reverse=True):
        if ".git" not in folder.parts:
            newest = max((path.stat().st_mtime for path in folder.iterdir()), default=0.0)
            os.utime(folder, (newest, newest))


def _commit_all(place: Path, history: Mapping[str, Any]) -> None:
    git(place, "init", "-q", "-b", "main")
    git(place, "config", "user.name", "Alex Berg")
    git(place, "config", "user.email", "alex@tidbok.example")
    made: dict[str, str] = {}
    for commit in history["commits"]:
        git(place, "add", "--", *commit["files"])
        made[commit["message"]] = _commit(place, commit)
        if "tag" in commit:
            git(place, "tag", commit["tag"])
    for branch in history["branches"]:
        git(place, "branch", branch["name"], made[branch["from"]])
        if "file" not in branch:
            continue
        # What stands in the folder and is not committed would be in the way of a switch: a tree of its own.
        aside = place.parent / f".{place.name}-aside"
        git(place, "worktree", "add", "-q", str(aside), branch["name"])
        (aside / branch["file"]).write_text(branch["text"], encoding="utf-8")
        git(aside, "add", "--", branch["file"])
        _commit(aside, branch)
        git(place, "worktree", "remove", "--force", str(aside))
    if history.get("origin"):
        bare = place.parent / "origin.git"
        git(place.parent, "init", "-q", "--bare", "-b", "main", str(bare))
        git(place, "remote", "add", "origin", "../origin.git")
        git(place, "push", "-q", "origin", "main")


def _commit(place: Path, commit: Mapping[str, Any]) -> str:
    dates = {"GIT_AUTHOR_DATE": commit["date"], "GIT_COMMITTER_DATE": commit["date"]}
    git(place, "commit", "-q", "-m", commit["message"], "--author", commit["author"], more=dates)
    return git(place, "rev-parse", "HEAD").strip()


def git(place: Path, *words: str, more: Mapping[str, str] | None = None) -> str:
    """What git says, with no configuration but the folder's own."""
    quiet = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "GIT_TERMINAL_PROMPT": "0"}
    env = {**os.environ, **quiet, **_IDENTITY, **(more or {})}
    return subprocess.run(
        ["git", "-c", "gc.auto=0", *words], cwd=place, env=env, check=True, capture_output=True, text=True
    ).stdout
