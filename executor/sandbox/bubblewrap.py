"""A command behind bubblewrap: it sees the system's programs, the workspace, and nothing else of the machine.

No network, its own processes, an empty /tmp, no home. Secret files of the workspace are empty in there, and
what version control keeps cannot be written. Linux with user namespaces only.
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias

from anyio import to_thread

from executor.core.errors import ToolError
from executor.sandbox.files import PROTECTED_FOLDERS, is_protected
from executor.sandbox.history import places_elsewhere
from executor.sandbox.paths import Workspace
from executor.sandbox.process import run_command
from executor.sandbox.redaction import visible

Sandbox = Literal["bubblewrap", "none"]

_OWN_PLACES: Final = "/usr/bin:/bin:/usr/local/bin"  # where bwrap is looked for; a PATH can be led astray
_SYSTEM: Final = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_MORE: Final = ("/opt", "/nix/store", "/gnu/store")
_ETC: Final = (
    *("alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "passwd", "group", "nsswitch.conf"),
    *("hosts", "host.conf", "localtime", "timezone", "mime.types", "protocols", "services", "os-release"),
    *("ssl/certs", "ssl/openssl.cnf", "pki/tls/certs", "pki/ca-trust", "ca-certificates", "fonts"),
    *("java", "java-11-openjdk", "java-17-openjdk", "java-21-openjdk", "debian_version"),
)
# Where the machine itself is set. Root may write there even without any capability, by its number alone.
_KERNEL: Final = ("sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi", "mtrr", "mpt")
# What version control keeps: it names programs to run, and these files of it may name passwords.
_HISTORY: Final = (".git", ".hg", ".jj", ".svn")
_SETTINGS: Final = ("config", "config.worktree", "hgrc")
# Keys and certificates by their endings are the material of many tests.
_MATERIAL: Final = (".pem", ".key", ".p12", ".pfx", ".jks", ".keystore")
_MOST: Final = 1_000_000  # entries of the workspace that are looked at for secret files
_ALONE: Final = (
    *("--die-with-parent", "--unshare-user-try", "--unshare-pid", "--unshare-ipc", "--unshare-uts"),
    *("--unshare-cgroup-try", "--unshare-net"),
    *("--cap-drop", "ALL"),  # root keeps them otherwise, and takes the mounts away again
)
_MACHINE: Final = (
    *("--proc", "/proc", "--dev", "/dev"),
    *(part for name in _KERNEL for part in ("--ro-bind-try", f"/proc/{name}", f"/proc/{name}")),
    *("--tmpfs", "/tmp", "--symlink", "../tmp", "/var/tmp"),  # noqa: S108  # empty ones, of its own
)
_TRIAL: Final = 4096  # bytes kept of what a trial says


@dataclass(frozen=True, slots=True)
class SandboxView:
    """What a command sees besides the system, each at its own path.

    private: its home with its temporary files, which it may write; what is needed beside it is made in the
    folder above. writes: may it write in the workspace? outputs: folders of the workspace that it may write
    in any case. programs: folders with programs to run.
    """

    workspace: Workspace
    private: Path
    writes: bool
    outputs: tuple[Path, ...] = ()
    programs: tuple[Path, ...] = ()
    network: bool = False


def find_bubblewrap() -> str | None:
    """The program, None where there is none (or no Linux)."""
    return shutil.which("bwrap", path=_OWN_PLACES) if sys.platform == "linux" else None


async def confined(
    argv: list[str], cwd: Path, view: SandboxView, environment: Mapping[str, str]
) -> list[str] | None:
    """The argument list that runs a command behind bubblewrap; None where that does not work here.

    It is tried with the same view first: a machine may have the program and forbid what it needs. Whether it
    does is told without the workspace: nothing that lies in there can lead to a command without a sandbox.

    Raises:
        ToolError: SANDBOX_FAILED, bubblewrap works here but not with this workspace; TOO_MANY_FILES.
    """
    program = find_bubblewrap()
    if program is None or view.workspace.root == Path("/"):
        return None

    async def works(arguments: list[str]) -> str | None:
        trial = [program, *arguments, "--", "/bin/true"]
        tried = await run_command(
            trial, cwd=Path("/"), environment=environment, max_output=_TRIAL, alone=True
        )
        return None if tried.status == 0 else tried.err.decode("utf-8", "replace").strip() or "no message"

    head = [*await to_thread.run_sync(_arguments, view), "--chdir", str(cwd)]
    try:
        why = await works(head)
    except ToolError as problem:  # more arguments than a program may have
        why = problem.message
    if why is None:
        return [program, *head, "--", *argv]
    if await works([*_ALONE, *_system(), *_MACHINE]) is not None:
        return None
    raise ToolError(
        "SANDBOX_FAILED",
        f"bubblewrap cannot show this workspace to a command: {visible(why)}",
        place=str(view.workspace.root),
        fix="see what it says; nothing was run",
    )


def programs_of(places: Iterable[Path], root: Path) -> tuple[Path, ...]:
    """The folders that the programs in these folders (or these programs) live in, beyond the system's.

    A ``bin`` brings what is installed beside it, unless that is a person's own folder (``~``, ``~/.local``):
    then it comes alone. Folders that hold the workspace ``root`` or the person's home do not come at all.
    """
    found: dict[Path, None] = {}
    for place in places:
        for one in (place, place.resolve()):
            folder = one if one.is_dir() else one.parent
            for step in (folder, *_behind(folder)):
                if step.is_dir() and not any(step.is_relative_to(system) for system in (*_SYSTEM, *_MORE)):
                    found[_installed(step)] = None
    return tuple(one for one in found if not any(kept.is_relative_to(one) for kept in (root, Path.home())))


def _behind(folder: Path) -> Iterator[Path]:
    """Where the interpreter of a virtual environment really is."""
    if (folder.parent / "pyvenv.cfg").is_file() and (folder / "python").exists():
        yield (folder / "python").resolve().parent


def _installed(folder: Path) -> Path:
    above = folder.parent
    if folder.name not in ("bin", "sbin"):
        return folder
    if (above / "pyvenv.cfg").is_file() or (above / "conda-meta").is_dir():
        return above
    own = above.parent == Path.home() and above.name.startswith(".")
    return above if (above / "lib").is_dir() and not own else folder


def _arguments(view: SandboxView) -> list[str]:
    root = view.workspace.root
    said = [*_ALONE, *_system(), *_MACHINE]
    if view.network:
        said.remove("--unshare-net")
        said += ["--ro-bind-try", "/etc/resolv.conf", "/etc/resolv.conf"]
    for place in view.programs:
        said += ["--ro-bind-try", str(place), str(place)]
    said += ["--bind" if view.writes else "--ro-bind", str(root), str(root)]
    for place in view.outputs:
        said += ["--bind", str(place), str(place)]
    for closed in view.workspace.forbidden:  # our own home, wherever one of these brings it
        if any(closed.is_relative_to(place) for place in (root, *view.programs)):
            said += ["--tmpfs", str(closed)]
    empty = view.private.parent / "empty"
    empty.touch()
    elsewhere = places_elsewhere(view.workspace)
    if elsewhere is not None:  # as .git is seen: to be read, and its settings not even that
        own, common = elsewhere
        said += ["--ro-bind", str(common), str(common)]
        for place in dict.fromkeys((own, common)):
            settings = [place / name for name in _SETTINGS if (place / name).is_file()]
            said += [part for one in settings for part in ("--ro-bind", str(empty), str(one))]
    for path, kind in _kept(view.workspace):
        if kind == "file" and not (elsewhere is not None and path == f"{root}/.git"):
            said += ["--ro-bind", str(empty), path]
        elif kind == "folder":
            said += ["--tmpfs", path]
        else:
            said += ["--ro-bind", path, path]
    return [*said, "--bind", str(view.private), str(view.private)]


def _system() -> Iterator[str]:
    for place in _SYSTEM:
        if Path(place).is_symlink():
            yield from ("--symlink", str(Path(place).readlink()), place)
        elif Path(place).is_dir():
            yield from ("--ro-bind", place, place)
    for place in (*_MORE, *(f"/etc/{name}" for name in _ETC)):
        yield from ("--ro-bind-try", place, place)


def _kept(workspace: Workspace) -> Iterator[tuple[str, Literal["file", "folder", "history"]]]:
    """The places of a workspace that a command may not read, or (history) not write.

    Raises:
        ToolError: TOO_MANY_FILES. What is not looked at could be a secret that somebody moved there.
    """
    seen = 0
    for here, folders, files, descriptor in os.fwalk(workspace.root):
        entered: list[str] = []
        if (seen := seen + len(folders) + len(files)) > _MOST:
            raise ToolError(
                "TOO_MANY_FILES",
                f"the workspace holds more than {_MOST:,} files",
                place=str(workspace.root),
                fix="use a smaller workspace",
            )
        for name in sorted(folders):
            if not _is(stat.S_ISDIR, name, descriptor):
                continue
            if name in _HISTORY:
                yield f"{here}/{name}", "history"
                for settings in _SETTINGS:
                    if _is(stat.S_ISREG, f"{name}/{settings}", descriptor):
                        yield f"{here}/{name}/{settings}", "file"
            elif is_protected((name,)) and name.casefold() in PROTECTED_FOLDERS:
                yield f"{here}/{name}", "folder"
            elif Path(here, name) not in workspace.forbidden:
                entered.append(name)
        for name in sorted(files):
            secret = is_protected((name,)) and not name.casefold().endswith(_MATERIAL)
            if secret and _is(stat.S_ISREG, name, descriptor):
                yield f"{here}/{name}", "file"
        folders[:] = entered


def _is(kind: Callable[[int], bool], name: str, folder: int) -> bool:
    with suppress(OSError):  # gone, or not ours to look at
        return kind(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    return False


# ---- What a folder holds before and after a command: whether it kept its word to write nothing.


_WATCHED = 200_000  # entries
_TOLD = 5  # changed places that a message names

# Mode, size, times of writing and of the last change of any kind (which no program can set), inode.
Stamp: TypeAlias = tuple[int, int, int, int, int]
Listing: TypeAlias = Mapping[str, Stamp]


def listing(root: Path, apart: tuple[str, ...] = ()) -> Listing:
    """Everything below a folder, links not followed; ``apart``: paths that are left out, with all below.

    A folder counts as being there, not with its times: a file that came and went again is no change.

    Raises:
        ToolError: TOO_MANY_FILES.
    """
    seen: dict[str, Stamp] = {}
    for here, folders, files, descriptor in os.fwalk(root):
        below = os.path.relpath(here, root)
        kept: list[str] = []
        for name in (*folders, *files):
            path = os.path.normpath(f"{below}/{name}")
            if path in apart:
                continue
            try:
                status = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
            except FileNotFoundError:
                continue
            if stat.S_ISDIR(status.st_mode):
                kept.append(name)
                seen[path] = (status.st_mode, 0, 0, 0, status.st_ino)
            else:
                seen[path] = (
                    *(status.st_mode, status.st_size),
                    *(status.st_mtime_ns, status.st_ctime_ns, status.st_ino),
                )
        folders[:] = kept
        if len(seen) > _WATCHED:
            raise ToolError(
                "TOO_MANY_FILES",
                f"the workspace holds more than {_WATCHED:,} files, which is too many to watch a command by",
                place=str(root),
                fix="install bubblewrap, or use a smaller workspace",
            )
    return seen


def require_unchanged(before: Listing, after: Listing, command: str) -> None:
    """Refuse what wrote though it was declared to read.

    Raises:
        ToolError: WROTE_UNDECLARED, with the first places.
    """
    changed = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
    if changed:
        more = f" and {len(changed) - _TOLD} more" if len(changed) > _TOLD else ""
        raise ToolError(
            "WROTE_UNDECLARED",
            f"{command} is declared to read, but while it ran these changed: "
            f"{', '.join(map(repr, changed[:_TOLD]))}{more}",
            place=command,
            fix="declare it as writing, or name the folders it writes as its outputs",
            data={"changed": changed[:100]},
        )
