"""One example, run in its place: signed, judged by the gate and walked as any call, with the tool watched."""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Final, cast

import anyio

from executor.sandbox.paths import Workspace
from executor.store.home import Home
from executor.tools.manifest import Effect, Manifest
from executor.tools.registry import Registry
from executor.walker import Walker
from executor.walker.people import AlwaysApprove
from ir import IntentAcceptBody, MclError
from mcl.core.seal import sealed
from mcl.plugins.probing.folder import environment_of, settle
from mcl.plugins.probing.judging import is_declared
from mcl.plugins.probing.server import moved
from mcl.plugins.probing.snapshot import Snapshot, changes, look_at_home
from mcl.plugins.probing.watching import Seen, Watch
from mcl.usecases.direct import direct_call, texts_of

LETTER: Final = b"\xa0"  # what a tool that sends a signed letter is given to send


class Tools:
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
    tools: Tools, manifest: Manifest, given: Mapping[str, object], place: Path, host: str
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
    args = {**given, **{name: moved(str(given[name]), host) for name in manifest.scope.urls if name in given}}
    effect = _effect(manifest, args, place / "work")
    watch = Watch(_limits(manifest, place, host))
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

    def __init__(self, registry: Registry, watch: Watch, look: Callable[[], Snapshot]) -> None:
        self._registry, self._watch, self._look = registry, watch, look
        self.before: Snapshot = {}
        self.after: Snapshot = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._registry, name)

    async def invoke(self, *args: Any, **more: Any) -> dict[str, object]:
        """As the registry's."""
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
        proposed = made.envelopes(home, at)
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


def _effect(manifest: Manifest, args: Mapping[str, object], work: Path) -> Effect:
    workspace = Workspace(work)

    def exists(path: str) -> bool:
        try:
            return workspace.check(path) is not None
        except MclError:
            return True

    try:
        return manifest.effect(manifest.complete(args), exists)
    finally:
        workspace.close()
