"""One regular file in an open folder: names that no tool may use, and opening it without following a link."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
import unicodedata
from collections.abc import Callable
from typing import Final, NoReturn

from executor.core.errors import ScopeError
from ir.characters import INVISIBLE, without

# ---- Names that no tool may read or write, whatever its grants.


PROTECTED_FOLDERS: Final = frozenset(
    {
        *(".git", "git~1", ".hg", ".jj", ".svn"),  # their settings name programs to run; ~1 is a short name
        *(".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".password-store", ".terraform.d"),
        ".orchestration",
    }
)
PROTECTED_FILES: Final = frozenset(
    {
        *(".env", ".envrc", ".dev.vars", ".secrets", ".netrc", "_netrc", ".pgpass", "pgpass.conf"),
        *(".npmrc", ".pypirc", ".htpasswd", ".git-credentials", ".vault-token", ".my.cnf", ".mylogin.cnf"),
        *(".dockercfg", ".dockerconfigjson", ".boto", ".s3cfg", ".terraformrc", "kubeconfig"),
        *("id_rsa", "id_dsa", "id_ecdsa", "id_ecdsa_sk", "id_ed25519", "id_ed25519_sk", "secring.gpg"),
        *("credentials", "credentials.json", "credentials.toml", "credentials.tfrc.json"),
        *("secrets.json", "secrets.toml", "secrets.yaml", "secrets.yml"),
        *("client_secret.json", "service-account.json", "service_account.json", "serviceaccountkey.json"),
        *(".bash_history", ".zsh_history", ".psql_history", ".mysql_history", ".python_history"),
    }
)
PROTECTED_ENDINGS: Final = (
    *(".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk", ".keytab"),
    *(".env", ".tfstate"),
)
PROTECTED_BEGINNINGS: Final = (".env.", "client_secret_", "gha-creds-")
# Files that exist to be read by strangers and hold no secret, though their names look like it.
TEMPLATES: Final = frozenset(
    {
        *(".env.example", ".env.sample", ".env.template", ".env.dist"),
        *("example.env", "sample.env", "template.env"),
    }
)
# What editors and people add to the name of a file when they keep an older version of it.
_KEPT = re.compile(r"(?:~|\.(?:bak|backup|old|orig|save|copy|tmp|sw[a-p]|[0-9]{1,3}))+\Z")


def is_protected(parts: tuple[str, ...]) -> bool:
    """Tell whether one of the path's components is a protected name, or an older version of one.

    Names are compared as case-insensitive, compatibility-normalised text without invisible characters,
    trailing dots and spaces and what follows a colon, so that ``.ENV``, a full-width spelling or
    ``.env::$DATA`` is no way round on a file system that folds them.
    """
    return any(_named(name) for part in parts for name in readings(part))


def readings(part: str) -> tuple[str, ...]:
    """How a file system may read a component: folded, and also without what follows a colon."""
    if not part.isascii():
        part = unicodedata.normalize("NFKC", part)
        part = without(part, INVISIBLE | {"format"})
    name = part.casefold().rstrip(". ")
    return (name, name.partition(":")[0].rstrip(". ")) if ":" in name else (name,)


def _named(name: str) -> bool:
    if _listed(name):
        return True
    older = _KEPT.sub("", name.strip("#")).removeprefix(".#")
    # Vim hides what it keeps of a visible file behind one more dot.
    return older != name and older not in TEMPLATES and (_listed(older) or _listed(older.removeprefix(".")))


def _listed(name: str) -> bool:
    if name in TEMPLATES:
        return False
    return (
        name in PROTECTED_FOLDERS
        or name in PROTECTED_FILES
        or name.endswith(PROTECTED_ENDINGS)
        or name.startswith(PROTECTED_BEGINNINGS)
    )


# ---- One regular file in an open folder: looked at and opened without ever following a link.


def status_of(name: str, folder: int) -> os.stat_result | None:
    """What has this name in a folder (by descriptor), without following a link; None where nothing has."""
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def open_plain(name: str, folder: int, path: str, mode: int = os.O_RDONLY) -> int:
    """Open a regular file (for reading, if ``mode`` says nothing else); ``path`` is what messages call it.

    Raises ScopeError, OSError.
    """
    # Looked at before it is opened: opening a FIFO would wait, opening a device can have effects.
    before = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if stat.S_ISDIR(before.st_mode):
        raise ScopeError("NOT_A_FILE", f"{path!r} is a folder", place=path, fix="name a file in it")
    require_plain(before, path)
    flags = mode | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    descriptor = os.open(name, flags, dir_fd=folder)
    try:
        require_plain(os.fstat(descriptor), path)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def require_plain(status: os.stat_result, path: str) -> None:
    """Refuse links, hard links and whatever is no regular file (ScopeError OUT_OF_SCOPE)."""
    if stat.S_ISLNK(status.st_mode):
        out_of_scope(path, "it is a symbolic link")
    if not stat.S_ISREG(status.st_mode):
        out_of_scope(path, "it is no regular file (a device, FIFO, socket or folder)")
    if status.st_nlink > 1:
        out_of_scope(path, "the file has several hard links, one of which may lie outside the workspace")


def read_up_to(descriptor: int, limit: int) -> bytes:
    """At most ``limit`` bytes from where the descriptor stands."""
    pieces: list[bytes] = []
    left = limit
    while left > 0 and (piece := os.read(descriptor, min(left, 1 << 20))):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


def digest_of(descriptor: int, check: Callable[[], None] = lambda: None) -> str:
    """sha256 (hex) of all that follows where the descriptor stands; ``check`` may stop it by raising."""
    total = hashlib.sha256()
    while piece := os.read(descriptor, 1 << 20):
        check()
        total.update(piece)
    return total.hexdigest()


def refuse_existing(path: str) -> NoReturn:
    """ScopeError EXISTS."""
    raise ScopeError(
        "EXISTS",
        f"{path!r} exists already",
        place=path,
        fix="choose another name, give the base of the version you read, or ask to overwrite it",
    )


def out_of_scope(path: str, why: str) -> NoReturn:
    """ScopeError OUT_OF_SCOPE."""
    raise ScopeError(
        "OUT_OF_SCOPE",
        f"{path!r} is outside what tools may touch: {why}",
        place=path,
        fix="use a plain path inside the workspace, such as 'docs/notes.md'",
    )


_REFUSALS: dict[int, tuple[str, str, str]] = {
    errno.ENOENT: ("NOT_FOUND", "does not exist", "look at the folder with fs/list first"),
    errno.ENOTDIR: ("NOT_A_FOLDER", "is no folder, or has none on its way", "name a folder"),
    errno.EISDIR: ("NOT_A_FILE", "is a folder", "name a file in it"),
    errno.EACCES: ("UNREADABLE", "may not be opened by this user", "change its permissions"),
    errno.EPERM: ("UNREADABLE", "may not be opened by this user", "change its permissions"),
    errno.ENOSPC: ("DISK_FULL", "could not be written: the disk is full", "make room and run it again"),
    errno.EDQUOT: ("DISK_FULL", "could not be written: the quota is used up", "make room and run it again"),
    errno.EROFS: ("READ_ONLY", "lies on a read-only file system", "choose another place"),
}


def explain(problem: OSError, path: str) -> NoReturn:
    """The ScopeError that an error of the operating system amounts to."""
    if problem.errno == errno.ELOOP:
        out_of_scope(path, "there is a symbolic link on its way")
    code, what, fix = _REFUSALS.get(
        problem.errno or 0, ("IO_ERROR", f"could not be used: {problem.strerror}", "try again")
    )
    raise ScopeError(code, f"{path!r} {what}", place=path, fix=fix) from problem


# ---- Paths by their text alone: what is no plain path of a folder, and no secret, is refused before a
# look.

MAX_PATH = 4096  # bytes, as PATH_MAX
MAX_COMPONENT = 255  # bytes, as NAME_MAX


def components(path: str, *, absolute: bool = False) -> tuple[str, ...]:
    """The components of a path by its text alone; one that may be ``absolute`` loses its first slash.

    Raises ScopeError as ``Workspace.split``.
    """
    if len(path.encode("utf-8", "replace")) > MAX_PATH:
        out_of_scope(path[:60] + "…", "the path is longer than 4,096 bytes")
    if any(ord(char) < 32 or ord(char) == 127 or 0xD800 <= ord(char) <= 0xDFFF for char in path):
        out_of_scope(path, "the path holds a control character or is no valid text")
    if not absolute and (path.startswith(("/", "~/")) or path == "~"):
        out_of_scope(path, "the path is not relative to the workspace")
    parts = tuple(part for part in path.split("/") if part not in ("", "."))
    if ".." in parts:
        out_of_scope(path, "the path goes up with '..'")
    if any(len(part.encode()) > MAX_COMPONENT for part in parts):
        out_of_scope(path[:60] + "…", "a component of the path is longer than 255 bytes")
    if is_protected(parts):
        raise ScopeError(
            "PROTECTED_PATH",
            f"{path!r} is a protected path (secrets, keys, .git, …)",
            place=path,
            fix="leave secret files alone; no grant opens them",
        )
    return parts
