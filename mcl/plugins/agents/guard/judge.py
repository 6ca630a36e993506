"""Whether the call that a host tells of may be made."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from executor.core.errors import ScopeError
from executor.gate.breaker import SHARED, Breaker, same_call
from executor.gate.checkout import (
    Checkout,
    Violation,
    circuit_open,
    names_programs,
    no_intent_declared,
    out_of_scope,
)
from executor.gate.policy import Policy
from executor.sandbox.paths import Workspace
from executor.store.home import Home
from executor.tools.manifest import Mode
from ir import MclError
from mcl.plugins.agents.guard import dirty, refusals
from mcl.plugins.agents.guard.calls import Pending, PendingCalls, opened
from mcl.plugins.agents.guard.lines import NotPlainError, read_line
from mcl.plugins.agents.guard.places import (
    Reach,
    below,
    by_process,
    is_below,
    is_own,
    lexical,
    reach_of,
    read_otherwise,
)
from mcl.plugins.agents.guard.plain import Shell, look_at
from mcl.plugins.agents.guard.reaching import names_mcl, reached
from mcl.plugins.agents.hosts.event import Event, Verdict
from mcl.plugins.agents.work.leases import BoundCheckouts, Leases
from mcl.plugins.agents.work.store import Work
from mcl.plugins.agents.writes.callers import Callers, recover
from mcl.plugins.agents.writes.images import Seen, keep

REFUSED: Final = "record.agent.refused"
SHELL_RAN: Final = "what a process does is not undone"
_NAMES_MCL: Final = "This command names mcl, and more of it cannot be read. Allow it?"
_STRICTER: Final[tuple[Verdict | str, ...]] = ("allow", "leave", "ask", "deny")


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls. agent: its name; told: do commands that it starts know it (MCL_AGENT)? project: the folder
    that the host was started for, "" where it does not say; search: the PATH of its shell."""

    agent: str
    told: bool = False
    project: str = ""
    search: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    """What becomes of a call. leave: it is none of ours, the host's own rules decide. violation: of deny."""

    verdict: Verdict
    reason: str = ""
    violation: Violation | None = None


_LEAVE: Final = Decision("leave")


@dataclass(frozen=True, slots=True)
class _Here:
    """A governed folder, the agent's checkouts in it, and what it holds."""

    root: Path
    checkouts: BoundCheckouts
    held: Checkout | None


class Judge:
    """Decides about calls, by the signed work of a home. For one thread at a time."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._work = Work(home)
        self._leases = Leases(home, self._work)
        self._seen, self._denials, self._calls = Seen(home), Breaker(home), PendingCalls(home)
        self._callers = Callers(home)
        self._followed = ""  # the version of the policy that was found sound

    def decide(self, event: Event, caller: Caller) -> Decision:
        """What becomes of the call that an event tells of. Raises MclError, OSError: then it is not made."""
        if event.does == "nothing":
            return _LEAVE
        if event.does == "ours":
            here = self.governed(event, caller)
            return Decision("allow", "mcl judges its own tools") if here is not None else _LEAVE
        if event.does in ("reads", "searches"):
            return self._read(event, caller)
        if event.does == "writes":
            return self._write(event, caller)
        return self._other(event, caller)

    def governed(self, event: Event, caller: Caller) -> Path | None:
        """The governed folder that a call is made in: of the host's folder, else of its project."""
        for place in (event.cwd, caller.project):
            if place.startswith("/") and (root := self._root_of(place)) is not None:
                return root
        return None

    # ---- reading ----

    def _read(self, event: Event, caller: Caller) -> Decision:
        here = self.governed(event, caller)
        verdicts: list[Decision] = []
        for path in event.paths:
            whole = os.path.join(event.cwd, path)  # noqa: PTH118
            root = self._root_of(whole) or here
            if root is None:
                verdicts.append(_LEAVE)
                continue
            reach, _ = reach_of(path, event.cwd, root, self._home.path)
            if reach is Reach.PROTECTED:
                what = f"{refusals.shown(path)} is protected: secrets, keys, .git or .orchestration"
                return Decision("ask", f"{what}. May {event.tool} read it?")
            allowed = (
                reach is Reach.INSIDE and event.does == "reads" and not _is_read_in_two_ways(path, event)
            )
            verdicts.append(Decision("allow", "reading needs no intent") if allowed else _LEAVE)
        return next((one for one in verdicts if one.verdict == "leave"), verdicts[0] if verdicts else _LEAVE)

    # ---- writing ----

    def _write(self, event: Event, caller: Caller) -> Decision:
        if all(self._is_the_hosts(path, event) for path in event.paths):
            return _LEAVE
        working_in = self.governed(event, caller)
        targets: list[tuple[_Here, str]] = []
        for path in event.paths:
            place = lexical(path, event.cwd)
            root = self._target_root(place, path, event.cwd)
            if root is None and (other := read_otherwise(path)) is not None:
                root = self._target_root(lexical(other, event.cwd), other, event.cwd)
            root = root or working_in
            if root is None:
                if self._in_home(path, event.cwd):
                    return Decision("deny", violation=refusals.protected_path(path))
                continue
            here = self._here(root, caller.agent)
            inside = (below(place, root) if place is not None else None) or ""
            if refused := self._circuit(event, here, inside):
                return refused
            if violation := self._flaw(event, here, path, place):
                return self._refuse(event, here, violation, path, inside)
            assert place is not None
            targets.append((here, inside))
        if not targets:
            return _LEAVE
        here = targets[0][0]
        if any(one.root != here.root for one, _ in targets):
            several = refusals.link_on_the_way(event.paths[-1])
            return self._refuse(event, here, several, event.paths[-1])
        assert here.held is not None
        with suppress(MclError):  # what a killed server owes the trace; what cannot be added stays owed
            recover(self._home, here.root, self._callers)
        with opened(here.root, self._home) as workspace:
            node, intent = self._home.clock.new_id(), here.held.intent_id
            written: list[tuple[str, Mode]] = [(path, "write") for _, path in targets]
            keep(self._home, workspace, written, intent=intent, node=node, tool=event.tool[:200])
        self._remember(event, here, here.held, node)
        if event.planning:  # that it may be written later is no leave to write it now
            return _LEAVE
        return Decision("allow", f"{targets[0][1]} is in the scope of {here.held.label}")

    def _flaw(self, event: Event, here: _Here, path: str, place: str | None) -> Violation | None:
        """Why a file may not be written; None where it may."""
        inside = below(place, here.root) if place is not None else None
        if inside is not None and names_programs(inside):
            return refusals.protected_path(inside)
        if self._in_home(path, event.cwd):
            return refusals.protected_path(path)
        if _is_read_in_two_ways(path, event):
            return refusals.read_in_two_ways(path)
        if inside is None and here.held is not None:
            patterns = here.held.scope.texts
            return out_of_scope(refusals.shown(path), here.held.label, patterns, ())
        try:
            with opened(here.root, self._home) as workspace:
                if inside is not None:
                    workspace.split(inside)
                if here.held is None:
                    return no_intent_declared(event.tool, here.checkouts.labels())
                assert inside is not None
                if not here.held.scope.matches(inside):
                    owners = here.checkouts.owners(inside)
                    return out_of_scope(inside, here.held.label, here.held.scope.texts, owners)
                if workspace.check(inside) is not None:
                    return self._stale(here, workspace, inside)
        except ScopeError as error:
            if error.code == "PROTECTED_PATH":
                return refusals.protected_path(inside or path)
            return (
                refusals.link_on_the_way(inside or path)
                if error.code == "OUT_OF_SCOPE"
                else refusals.of_error(error)
            )
        return None

    def _stale(self, here: _Here, workspace: Workspace, path: str) -> Violation | None:
        known = self._seen.of(here.root, here.checkouts.agent, path)
        if known is None or workspace.digest(path)[0] == known:
            return None
        return refusals.stale_file(path)

    # ---- everything else ----

    def _other(self, event: Event, caller: Caller) -> Decision:
        root = self.governed(event, caller)
        if root is not None:
            return self._judged(event, caller, root)
        return self._outside(event, caller) if event.does == "shell" else _LEAVE

    def _judged(self, event: Event, caller: Caller, root: Path) -> Decision:
        here = self._here(root, caller.agent)
        if refused := self._circuit(event, here):
            return refused
        if event.does == "shell" and (known := self._command(event, caller, here)) is not None:
            return known
        if here.held is None:
            violation = no_intent_declared(event.tool, here.checkouts.labels())
            return self._refuse(event, here, violation, "")
        node = self._home.clock.new_id()
        with opened(root, self._home) as workspace:
            state = dirty.look(root)
            intent, tool = here.held.intent_id, event.tool[:200]
            keep(self._home, workspace, (), intent=intent, node=node, tool=tool, why_not=SHELL_RAN)
        self._remember(event, here, here.held, node, {"state": state})
        what = "This command" if event.does == "shell" else event.tool
        return Decision("ask", f"{what} may change more than the files of {here.held.label}. Allow it?")

    def _outside(self, event: Event, caller: Caller) -> Decision:
        """What becomes of a line that is run in no governed folder: it is judged by each that it reaches.

        What names mcl is looked at wherever it stands; what only stands above a folder, where it may be read.
        """
        cwd, roots = os.path.join(event.cwd, event.folder), self._roots()  # noqa: PTH118
        found = [self._judged(event, caller, root) for root in reached(event.command, cwd, roots)]
        if not found and names_mcl(event.command, cwd):
            here = self._here(Path(cwd), caller.agent)
            found.append(self._command(event, caller, here) or Decision("ask", _NAMES_MCL))
        if not found and any(root.is_relative_to(os.path.realpath(cwd)) for root in roots):
            found.append(self._above(event, caller, cwd))
        strictest = max(found, key=lambda one: _STRICTER.index(one.verdict), default=_LEAVE)
        return strictest if strictest.verdict != "allow" else _LEAVE  # what is not governed is the host's

    def _above(self, event: Event, caller: Caller, cwd: str) -> Decision:
        """What becomes of a line that names no governed folder, but is run above one."""
        try:
            read_line(event.command)
        except NotPlainError:
            return _LEAVE
        known = self._command(event, caller, self._here(Path(cwd), caller.agent))
        return known or Decision("ask", "Folders that signed work governs lie below this one. Allow it?")

    def _command(self, event: Event, caller: Caller, here: _Here) -> Decision | None:
        """What becomes of a command that only reads, or is mcl's own; None of any other."""
        cwd = os.path.join(event.cwd, event.folder)  # noqa: PTH118
        shell = Shell(here.root, cwd, caller.search, caller.agent, caller.told, self._home.path)
        try:
            found = look_at(event.command, shell)
        except NotPlainError:
            return None
        if found == "person":
            return self._refuse(event, here, refusals.person_only(event.command), "")
        if found == "named":
            return self._refuse(event, here, refusals.other_agent(caller.agent), "")
        if found == "secret":
            return Decision("ask", "The command names something protected. Allow it?")
        if found == "leave" or reach_of(".", cwd, here.root)[0] is not Reach.INSIDE:
            return _LEAVE
        return Decision("allow", "reading needs no intent")

    def _roots(self) -> tuple[Path, ...]:
        """All governed folders, by where they really lie."""
        roots = [root for (root,) in self._home.db.read("SELECT root FROM work_roots")]
        roots += map(str, self._work.trees()) if roots else ()
        governed = (root for root in dict.fromkeys(roots) if self._work.governed(root))
        return tuple(Path(os.path.realpath(root)) for root in governed)

    # ---- what they share ----

    def _here(self, root: Path, agent: str) -> _Here:
        self._require_policy()
        checkouts = BoundCheckouts(self._work, self._leases, root, agent)
        return _Here(root, checkouts, checkouts.held())

    def _require_policy(self) -> None:
        """That the operator's policy can be followed, every entry of it. Raises PolicyError BAD_POLICY."""
        policy = Policy.read(self._home.path / "policy.toml")
        if policy.entries and policy.version != self._followed:
            from mcl.catalog.tools.foreign import all_tools  # only where something is denied

            policy.closing(all_tools(self._home))
            self._followed = policy.version

    def _root_of(self, place: str) -> Path | None:
        with suppress(OSError, RuntimeError, ValueError):  # links in a circle; no path at all
            return self._work.root_of(Path(place))
        return None

    def _target_root(self, place: str | None, path: str, cwd: str) -> Path | None:
        """The governed folder that a write would land in, or that it would be led out of."""
        if place is None:
            place = os.path.normpath(os.path.join(cwd, path))  # noqa: PTH118
        # A host that does not take `..` back by the text goes where the links before it lead.
        root = self._root_of(place) or self._root_of(os.path.realpath(os.path.join(cwd, path)))  # noqa: PTH118
        folder = os.path.dirname(place)  # noqa: PTH120
        while root is None and folder not in ("/", ""):
            root = self._root_of(folder)
            folder = os.path.dirname(folder)  # noqa: PTH120
        return root

    def _is_the_hosts(self, path: str, event: Event) -> bool:
        """Whether a file is the host's own, in no governed folder and not in the home."""
        if not is_own(path, event.cwd, event.own) or self._in_home(path, event.cwd):
            return False
        return self._target_root(lexical(path, event.cwd), path, event.cwd) is None

    def _in_home(self, path: str, cwd: str) -> bool:
        ways = filter(None, (path, read_otherwise(path)))
        real = (os.path.realpath(os.path.join(cwd, one)) for one in ways)  # noqa: PTH118
        return any(is_below(one, os.path.realpath(self._home.path)) for one in real)

    def _circuit(self, event: Event, here: _Here, inside: str = "") -> Decision | None:
        agent, now = here.checkouts.agent, self._home.clock.now()
        if not self._denials.some(agent, here.root, now):
            return None
        lease = here.held.intent_id if here.held else ""
        for key in dict.fromkeys((self._key(event, here, inside), event.call)):
            code = self._denials.open(agent, here.root, key, now, lease=lease)
            if code is not None:
                violation = circuit_open(code)
                self._record(event, here, violation, "")
                return Decision("deny", violation=violation)
        return None

    def _refuse(
        self, event: Event, here: _Here, violation: Violation, path: str, inside: str = ""
    ) -> Decision:
        lease, now = here.held.intent_id if here.held else "", self._home.clock.now()
        agent = here.checkouts.agent
        key = self._key(event, here, inside) if violation.code in SHARED else event.call
        self._denials.note(agent, here.root, key, violation.code, now, lease=lease)
        self._record(event, here, violation, path)
        return Decision("deny", violation=violation)

    def _key(self, event: Event, here: _Here, inside: str) -> str:
        """What a call is counted under: the same as over MCP where there is a tool for it."""
        if not event.same or (event.does == "writes" and not inside):
            return event.call
        saw = self._seen.of(here.root, here.checkouts.agent, inside) if inside else None
        return same_call(event.same, event.given, inside, saw)

    def _record(self, event: Event, here: _Here, violation: Violation, path: str) -> None:
        body = {
            "agent": here.checkouts.agent,
            "root": str(here.root),
            "tool": refusals.shown(event.tool),
            "path": refusals.shown(path),
            "code": violation.code,
            "call": event.call,  # a hash: arguments may hold secrets
        }
        with suppress(MclError):  # of a sealed key, above all; it is refused all the same
            self._home.journal.record(REFUSED, body, intent=here.held.intent_id if here.held else None)

    def _remember(
        self, event: Event, here: _Here, held: Checkout, node: str, state: dict[str, object] | None = None
    ) -> None:
        call = Pending(str(here.root), held.agent, held.intent_id, held.label, event.tool[:200], node, state)
        self._calls.put(event.key, call)


def _is_read_in_two_ways(path: str, event: Event) -> bool:
    """Whether the host, or another process, may take a path for another file than it names here."""
    if read_otherwise(path) is not None or by_process(path, event.cwd):
        return True
    here = os.path.lexists(os.path.join(event.cwd, path))  # noqa: PTH118
    return event.finds and not path.startswith("/") and not here
