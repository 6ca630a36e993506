"""One example, run in its place: signed, judged by the gate and walked as any call, with the tool watched."""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Literal, cast

import anyio

from executor import Walker
from executor.sandbox.child import unlaunched
from executor.store.home import Home
from executor.tools.manifest import Effect, Manifest
from executor.tools.registry import Registry
from executor.walker.questions import AlwaysApprove
from ir import IntentAcceptBody, MclError
from mcl.core.home import sealed
from mcl.plugins.probing.folder import DISK, Snapshot, changes, environment_of, look_at_home, moved, settle
from mcl.plugins.probing.judgement import is_declared
from mcl.usecases.direct import direct_call, effect_in, proposal, texts_of

# ---- What a process does while a tool works in it: files that are opened and changed, programs,
# connections.

Kind = Literal["read", "write", "start", "connect"]

_WRITES: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_FOLDER: Final = os.O_DIRECTORY
# Events about paths: where each path stands among the arguments, and the descriptor it is relative to.
_CHANGES: Final[Mapping[str, tuple[tuple[int, int], ...]]] = {
    "os.remove": ((0, 1),),
    "os.rmdir": ((0, 1),),
    "os.mkdir": ((0, 2),),
    "os.rename": ((0, 2), (1, 3)),
    "os.link": ((1, 3),),
    "os.symlink": ((1, 2),),
    "os.truncate": ((0, -1),),
    "os.chmod": ((0, 2),),
    "os.chown": ((0, 3),),
    "os.utime": ((0, 3),),
    "os.setxattr": ((0, -1),),
    "os.removexattr": ((0, -1),),
}
_LOOKS: Final = ("os.listdir", "os.scandir")
# Events about programs: where the program and its arguments stand.
_STARTS: Final[Mapping[str, tuple[int, int]]] = {
    "subprocess.Popen": (0, 1),
    "os.exec": (0, 1),
    "os.posix_spawn": (0, 1),
    "os.spawn": (1, 2),
}
_SHELLS: Final = ("os.system", "pty.spawn", "os.startfile")
_FORKS: Final = ("os.fork", "os.forkpty")  # what the other process does would not be told
_HOSTS: Final = ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr")
_SOCKETS: Final = ("socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg")


@dataclass(frozen=True, slots=True)
class Seen:
    """One thing that was done. what: an absolute path, the argument list of a program, or host and port."""

    kind: Kind
    what: str | tuple[str, ...]


class ForbiddenError(PermissionError):
    """What a probe does not let a tool do; it was seen all the same."""


class ProbeWatch:
    """Sees what this process does between ``on`` and ``off``. It cannot be taken out of the process again.

    allowed: asked of each thing before it is done; where it says no, it is not done.
    """

    def __init__(self, allowed: Callable[[Seen], bool]) -> None:
        self.seen: dict[Seen, None] = {}
        self._allowed = allowed
        self._watching = False
        self._here = threading.local()
        self._keep_descriptors()
        self._keep_forks()
        sys.addaudithook(self._told)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """While this is open, all threads are watched."""
        self._watching = True
        try:
            yield
        finally:
            self._watching = False

    def _told(self, event: str, args: tuple[Any, ...]) -> None:
        if not self._watching or getattr(self._here, "busy", False):
            return
        self._here.busy = True  # what is done in here to find out is not the tool's
        try:
            found = list(self._found(event, args))
            for one in found:
                self.seen[one] = None
            refused = [one for one in found if not self._allowed(one)]
        finally:
            self._here.busy = False
        if refused:
            raise ForbiddenError(f"{refused[0].kind} {refused[0].what}: the probe does not let this happen")

    def _found(self, event: str, args: tuple[Any, ...]) -> Iterator[Seen]:
        if event == "open":
            yield from self._opened(*args[:3])
        elif event in _CHANGES:
            for path, folder in _CHANGES[event]:
                yield from _at("write", args[path], args[folder] if folder >= 0 else -1)
        elif event in _LOOKS:
            yield from _at("read", args[0] if args[0] is not None else ".", -1)
        elif event == "sqlite3.connect":
            yield from _at("write", args[0], -1) if args[0] != ":memory:" else ()
        elif event in _STARTS:
            program, given = (args[place] for place in _STARTS[event])
            yield Seen("start", unlaunched(_argv(program, given)))
        elif event in _SHELLS:
            yield Seen("start", ("sh", _text(args[0])))
        elif event in _FORKS:
            yield Seen("start", ("fork",))
        elif event in _HOSTS:
            if args[0] is not None:
                port = args[1] if event == "socket.getaddrinfo" else ""
                yield Seen("connect", f"{_text(args[0])}:{port}")
        elif event in _SOCKETS:
            yield from _address(args[1])

    def _opened(self, path: Any, mode: str | None, flags: int | None) -> Iterator[Seen]:
        if isinstance(path, int):  # a descriptor that is open already
            return
        flags = flags or 0
        writes = any(letter in mode for letter in "wax+") if mode else bool(flags & _WRITES)
        if flags & _FOLDER and not writes:  # a step on the way; looking into it is another event
            return
        yield from _at("write" if writes else "read", path, getattr(self._here, "folder", -1))

    def _keep_descriptors(self) -> None:
        """The event of an open does not tell the folder that a path is relative to: the call does."""
        import posix

        real, here = posix.open, self._here

        def noted(path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
            before = getattr(here, "folder", -1)
            here.folder = -1 if dir_fd is None else dir_fd
            try:
                return real(path, flags, mode, dir_fd=dir_fd)
            finally:
                here.folder = before

        posix.open = os.open = noted

    def _keep_forks(self) -> None:
        """multiprocessing starts programs by a door that tells nobody."""
        try:
            import _posixsubprocess
        except ImportError:
            return
        real = _posixsubprocess.fork_exec

        def noted(args: Any, executables: Any, *more: Any) -> Any:
            self._told("subprocess.Popen", ("", [_text(one) for one in args], None, None))
            return real(args, executables, *more)

        _posixsubprocess.fork_exec = noted


def _at(kind: Kind, path: Any, folder: int) -> Iterator[Seen]:
    place = _place(path, folder)
    if place is not None:
        yield Seen(kind, place)


def _place(path: Any, folder: int) -> str | None:
    """A path in full, as far as links of folders on the way are known; None for what is no path."""
    if isinstance(path, int):
        return _descriptor(path)
    try:
        text = os.fsdecode(os.fspath(path))
    except TypeError:
        return None
    if not text.startswith("/"):
        text = f"{_descriptor(folder) if folder >= 0 else Path.cwd()}/{text}"
    above, _, name = text.rpartition("/")
    # The last part is not followed: a link is itself taken away or put there.
    return os.path.normpath(os.path.join(os.path.realpath(above or "/"), name))  # noqa: PTH118  # "" too


def _descriptor(number: int) -> str:
    if sys.platform == "linux":
        return str(Path(f"/proc/self/fd/{number}").readlink()).removesuffix(" (deleted)")
    import fcntl

    return fcntl.fcntl(number, 50, b"\0" * 1024).rstrip(b"\0").decode()  # F_GETPATH


def _argv(program: Any, given: Any) -> tuple[str, ...]:
    """The argument list, with the program in full where it is known."""
    said = (given,) if isinstance(given, str | bytes) or not isinstance(given, Sequence) else tuple(given)
    texts = tuple(_text(one) for one in said)
    return (_text(program) or texts[0], *texts[1:])


def _address(address: Any) -> Iterator[Seen]:
    if isinstance(address, tuple) and len(address) >= 2:
        yield Seen("connect", f"{_text(address[0])}:{address[1]}")
    elif address is not None:
        yield Seen("connect", f"unix:{_text(address)}")


def _text(value: Any) -> str:
    if value is None:
        return ""
    try:
        return os.fsdecode(os.fspath(value))
    except TypeError:
        return str(value)


LETTER: Final = b"\xa0"  # what a tool that sends a signed letter is given to send


class ProbedTools:
    """The tools of a source, made once for the processes of all examples; each opens a home of its own."""

    def __init__(self, source: str) -> None:
        """source: "module:function"; called with what opens a home, it gives the registry."""
        module, _, name = source.partition(":")
        self._home: Home | None = None
        self.registry: Registry = getattr(import_module(module), name)(self._opened)

    def open(self, place: Path) -> Home:
        """Open the home that the tools find from now on."""
        self._home = Home.open(place)
        return self._home

    def _opened(self) -> Home:
        assert self._home is not None, "no tool is run to see which there are"
        return self._home


def run_example(
    tools: ProbedTools, manifest: Manifest, given: Mapping[str, object], place: Path, host: str
) -> dict[str, Any]:
    """Run one example in this process, which is for nothing else: it ends as whatever the tool made of it.

    given: the example's arguments. place: where it runs, as ``folder`` makes it. host: where addresses lead.

    Returns a JSON object: state (ran or failed), code and message of the failure, effects and operation of
    the call, given and args (with addresses as they were asked), seen, and what changed in the home of mcl
    (home).
    """
    os.environ.clear()
    os.environ.update(environment_of(place))
    os.chdir(place / "beside")
    tempfile.tempdir = None
    home = tools.open(place / "mcl")
    settle(place, home)
    args = {name: f"{place}{one}" if str(one).startswith(DISK) else one for name, one in given.items()}
    args |= {name: moved(str(given[name]), host) for name in manifest.scope.urls if name in given}
    effect = effect_in(place / "work", manifest, args)
    watch = ProbeWatch(_limits(manifest, place, host))
    watched = _Watched(tools.registry, watch, lambda: look_at_home(place / "mcl"))
    said = _called(home, cast("Registry", watched), manifest, args, effect, place / "work")
    return {
        **said,
        "effects": sorted(effect.classes),
        "operation": effect.operation,
        "given": dict(given),
        "args": args,
        "seen": [[one.kind, one.what] for one in watch.seen],
        "home": list(changes(watched.before, watched.after)),
    }


class _Watched:
    """A registry whose tools are watched while they work, and no longer."""

    def __init__(self, registry: Registry, watch: ProbeWatch, look: Callable[[], Snapshot]) -> None:
        self._registry, self._watch, self._look = registry, watch, look
        self.before: Snapshot = {}
        self.after: Snapshot = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._registry, name)

    async def invoke(self, *args: Any, **more: Any) -> dict[str, object]:
        self.before = self._look()
        more["letter"] = more.get("letter") or LETTER
        try:
            with self._watch.watching():
                return await self._registry.invoke(*args, **more)
        finally:
            self.after = self._look()


def _called(
    home: Home, registry: Registry, manifest: Manifest, args: Mapping[str, object], effect: Effect, work: Path
) -> dict[str, Any]:
    try:
        texts = texts_of(args, manifest)
        made = direct_call(home, manifest, texts, effect, prose=f"probe {manifest.name}")
        at, id = home.clock.now(), made.intent.id
        proposed = proposal(home, made.intent, made.plan, at)
        body = IntentAcceptBody(intent_hash=made.intent.hash, accepted_at=at, plan_hash=made.plan.hash)
        accepted = sealed(home, "intent.accept", body, intent=id, at=at, causation=proposed[-1].id)
        home.journal.append_many([*proposed, accepted])

        async def walk() -> dict[str, Any]:
            async with Walker(home, registry, workspace=work, people=AlwaysApprove()) as walker:
                outcome = await walker.run(id)
            if outcome.failure is None:
                return {"state": "ran", "code": "", "message": ""}
            return {"state": "failed", "code": outcome.failure.code, "message": outcome.failure.message}

        return anyio.run(walk)
    except MclError as problem:
        return {"state": "failed", "code": problem.code, "message": problem.message}


def _limits(manifest: Manifest, place: Path, host: str) -> Callable[[Seen], bool]:
    """What is let happen: nothing changes outside the place, nothing undeclared starts, nobody else is
    asked."""
    programs = [*manifest.programs, *(manifest.command.argv[:1] if manifest.command else ())]
    editors = {name: shlex.split(os.environ.get(name[1:], ""))[:1] for name in programs if name[0] == "$"}
    names = [one for name in programs for one in (editors.get(name, [name]))]
    there = host.removeprefix("http://")

    def allowed(one: Seen) -> bool:
        if one.kind == "write":
            return f"{one.what}/".startswith((f"{place}/", "/dev/", "/proc/"))
        if one.kind == "start":
            return is_declared(cast("tuple[str, ...]", one.what), names, "shell" in manifest.effects)
        if one.kind == "connect":
            return one.what == there
        return True

    return allowed
