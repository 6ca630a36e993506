"""A host's event as calls of its own tools, put to the gate; the gate's verdict as what the host is told.

What a call may do is decided by `executor.gate.decide` alone. Here is only what the gate cannot know: which
governed folder an event is about, what its paths and its shell line mean to the host, and whose command of
mcl a line runs.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from executor.call import Allow, Call, Declaration
from executor.core.errors import PolicyError
from executor.gate.approvals import Approvals
from executor.gate.breaker import SHARED, Breaker, same_call
from executor.gate.checkout import Checkout, Violation, circuit_open, no_intent_declared, out_of_scope
from executor.gate.context import Context
from executor.gate.decide import decide
from executor.gate.grants import Grants
from executor.gate.host import LOOK, READ, SHELL, TOOL, WRITE, HostTools
from executor.gate.locks import Locks
from executor.gate.pins import Pins
from executor.gate.policy import Policy
from executor.gate.verdict import Ask, Deny
from executor.store.home import Home
from executor.tools.manifest import Manifest, Mode
from ir import MclError
from mcl.plugins.agents.guard import refusals
from mcl.plugins.agents.guard.aftermath import PendingCall, PendingCalls, git_state, opened
from mcl.plugins.agents.guard.places import (
    PathReach,
    below,
    by_process,
    is_below,
    is_own,
    lexical,
    names_mcl,
    reach_of,
    reached,
    read_otherwise,
)
from mcl.plugins.agents.guard.shell import NotPlainError, Shell, look_at, read_line
from mcl.plugins.agents.hosts.host import Event, HookCaller, Verdict
from mcl.plugins.agents.work.leases import CallCheckouts, Leases
from mcl.plugins.agents.work.store import SignedWork
from mcl.plugins.agents.writes.callers import Callers, recover
from mcl.plugins.agents.writes.images import SeenVersions, keep

REFUSED: Final = "record.agent.refused"
SHELL_RAN: Final = "what a process does is not undone"
_NAMES_MCL: Final = "This command names mcl, and more of it cannot be read. Allow it?"
_STRICTER: Final[tuple[Verdict, ...]] = ("allow", "leave", "ask", "deny")
_TOOLS: Final = HostTools()


@dataclass(frozen=True, slots=True)
class HookDecision:
    """What becomes of a call. leave: it is none of ours, the host's own rules decide. violation: of deny."""

    verdict: Verdict
    reason: str = ""
    violation: Violation | None = None


_LEAVE: Final = HookDecision("leave")


class HookGate:
    """Puts calls of hosts to the gate, by the signed work of a home. For one thread at a time."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._work = SignedWork(home)
        self._leases = Leases(home, self._work)
        self._seen, self._breaker, self._calls = SeenVersions(home), Breaker(home), PendingCalls(home)
        self._callers = Callers(home)
        self._pins, self._grants, self._approvals = Pins(home), Grants(home), Approvals(home)
        self._pins.meet(_TOOLS.manifests)  # they come with this code, and are approved with it
        self._policy = Policy()

    def decide(self, event: Event, caller: HookCaller) -> HookDecision:
        """What becomes of the call that an event tells of. Raises MclError, OSError: then it is not made."""
        if event.does == "nothing":
            return _LEAVE
        if event.does == "ours":
            here = self.governed(event, caller)
            return HookDecision("allow", "mcl judges its own tools") if here is not None else _LEAVE
        if event.does in ("reads", "searches"):
            return self._read(event, caller)
        if event.does == "writes":
            return self._write(event, caller)
        root = self.governed(event, caller)
        if root is not None:
            return self._other(event, caller, root)
        return self._outside(event, caller) if event.does == "shell" else _LEAVE

    def governed(self, event: Event, caller: HookCaller) -> Path | None:
        """The governed folder that a call is made in: of the host's folder, else of its project."""
        for place in (event.cwd, caller.project):
            if place.startswith("/") and (root := self._root_of(place)) is not None:
                return root
        return None

    def _verdict(
        self, event: Event, here: CallCheckouts, manifest: Manifest, args: dict[str, object]
    ) -> Allow | Ask | Deny:
        """What the gate says. Nothing is recorded by it: whoever refuses here records that (`_refuse`)."""
        said = Declaration(manifest.operation, name=event.tool)
        with opened(here.root, self._home) as workspace:
            return decide(
                Call(manifest.uri, args, "", declaration=said),
                Context(
                    agent=self._home.keyring.agent.did,
                    tools=_TOOLS,
                    workspace=workspace,
                    policy=self._policy,
                    pins=self._pins,
                    grants=self._grants,
                    approvals=self._approvals,
                    clock=self._home.clock,
                    record=lambda kind, body: None,
                    locks=Locks(),
                    moment=self._home.db.moment,
                    checkouts=here,
                ),
            )

    # ---- reading ----

    def _read(self, event: Event, caller: HookCaller) -> HookDecision:
        working_in = self.governed(event, caller)
        verdicts: list[HookDecision] = []
        for path in event.paths:
            root = self._root_of(os.path.join(event.cwd, path)) or working_in  # noqa: PTH118
            if root is None:
                verdicts.append(_LEAVE)
                continue
            try:
                here = self._here(root, caller.agent)
            except PolicyError:  # nothing that changes a file gets by; to read why is left to the host
                return _LEAVE
            reach, real = reach_of(path, event.cwd, root)
            place = os.fsencode(real).decode(errors="replace")
            verdict = self._verdict(event, here, READ, {"path": path, "place": place})
            if isinstance(verdict, Deny):
                if verdict.code != "PROTECTED_PATH":
                    return self._refuse(event, here, refusals.of_deny(verdict, path), path)
                return HookDecision("ask", f"{refusals.shown(verdict.reason)}. May {event.tool} read it?")
            ours = reach is PathReach.INSIDE and event.does == "reads"
            known = ours and not _is_read_in_two_ways(path, event)
            verdicts.append(HookDecision("allow", "reading needs no intent") if known else _LEAVE)
        return next((one for one in verdicts if one.verdict == "leave"), verdicts[0] if verdicts else _LEAVE)

    # ---- writing ----

    def _write(self, event: Event, caller: HookCaller) -> HookDecision:
        if all(self._is_the_hosts(path, event) for path in event.paths):
            return _LEAVE
        working_in = self.governed(event, caller)
        targets: list[tuple[CallCheckouts, str]] = []
        doubts: list[str] = []
        for path in event.paths:
            place = lexical(path, event.cwd)
            root = self._target_root(place, path, event.cwd)
            if root is None and (other := read_otherwise(path)) is not None:
                root = self._target_root(lexical(other, event.cwd), other, event.cwd)
            root = root or working_in
            if root is None:
                if self._in_home(path, event.cwd):
                    return HookDecision("deny", violation=refusals.refused("protected_path", path))
                continue
            here = self._here(root, caller.agent)
            inside = (below(place, root) if place is not None else None) or ""
            verdict = self._written(event, here, path, inside)
            if isinstance(verdict, Violation):
                return self._refuse(event, here, verdict, path, inside)
            doubts += verdict.why if isinstance(verdict, Ask) else ()
            targets.append((here, inside))
        if not targets:
            return _LEAVE
        here = targets[0][0]
        if any(one.root != here.root for one, _ in targets):
            several = refusals.refused("link_on_the_way", event.paths[-1])
            return self._refuse(event, here, several, event.paths[-1])
        held = here.held()
        assert held is not None, "the gate lets nothing be written without"
        with suppress(MclError):  # what a killed server owes the trace; what cannot be added stays owed
            recover(self._home, here.root, self._callers)
        written: list[tuple[str, Mode]] = [(path, "write") for _, path in targets]
        self._keep(event, here, held, written)
        if event.planning:  # that it may be written later is no leave to write it now
            return _LEAVE
        if doubts:
            return HookDecision("ask", " ".join(doubts))
        return HookDecision("allow", f"{targets[0][1]} is in the scope of {held.label}")

    def _written(self, event: Event, here: CallCheckouts, path: str, inside: str) -> Allow | Ask | Violation:
        """What the gate says of one file. inside: relative to the folder, "" where it lies elsewhere."""
        if self._in_home(path, event.cwd):
            return refusals.refused("protected_path", path)
        if _is_read_in_two_ways(path, event):  # what is judged would not be what is written
            return refusals.refused("read_in_two_ways", path)
        args: dict[str, object] = {"path": inside or os.path.join(event.cwd, path)}  # noqa: PTH118
        saw = self._seen.of(here.root, here.agent, inside) if inside else None
        if saw is not None and os.path.lexists(here.root / inside):  # what is gone is not stale
            args["base"] = saw
        verdict = self._verdict(event, here, WRITE, args)
        if not isinstance(verdict, Deny):
            return verdict
        held = here.held()
        if verdict.guard == "scope" and verdict.code == "OUT_OF_SCOPE" and (held is None or not inside):
            if held is None:
                return no_intent_declared(event.tool, here.labels())
            return out_of_scope(refusals.shown(path), held.label, held.scope.texts, ())
        return refusals.of_deny(verdict, inside or path)

    # ---- everything else ----

    def _other(self, event: Event, caller: HookCaller, root: Path) -> HookDecision:
        here = self._here(root, caller.agent)
        shell = event.does == "shell"
        found = self._line(event, caller, here) if shell else None
        if found is not None and found.verdict != "allow":
            return found
        manifest = (LOOK if found is not None else SHELL) if shell else TOOL
        verdict = self._verdict(event, here, manifest, {"command": event.command} if shell else {})
        if isinstance(verdict, Deny):
            return self._refuse(event, here, refusals.of_deny(verdict, ""), "")
        if found is not None:
            return found
        held = here.held()
        assert held is not None, "the gate lets nothing else be done without"
        self._keep(event, here, held, (), {"state": git_state(root)})
        what = "This command" if shell else event.tool
        return HookDecision("ask", f"{what} may change more than the files of {held.label}. Allow it?")

    def _outside(self, event: Event, caller: HookCaller) -> HookDecision:
        """What becomes of a line that is run in no governed folder: it is judged by each that it reaches.

        What names mcl is looked at wherever it stands; what only stands above a folder, where it may be read.
        """
        cwd, roots = os.path.join(event.cwd, event.folder), self._roots()  # noqa: PTH118
        found = [self._other(event, caller, root) for root in reached(event.command, cwd, roots)]
        if not found and names_mcl(event.command, cwd):
            here = self._here(Path(cwd), caller.agent)
            found.append(self._line(event, caller, here) or HookDecision("ask", _NAMES_MCL))
        if not found and any(root.is_relative_to(os.path.realpath(cwd)) for root in roots):
            found.append(self._above(event, caller, cwd))
        strictest = max(found, key=lambda one: _STRICTER.index(one.verdict), default=_LEAVE)
        return strictest if strictest.verdict != "allow" else _LEAVE  # what is not governed is the host's

    def _above(self, event: Event, caller: HookCaller, cwd: str) -> HookDecision:
        """What becomes of a line that names no governed folder, but is run above one."""
        try:
            read_line(event.command)
        except NotPlainError:
            return _LEAVE
        known = self._line(event, caller, self._here(Path(cwd), caller.agent))
        return known or HookDecision("ask", "Folders that signed work governs lie below this one. Allow it?")

    def _line(self, event: Event, caller: HookCaller, here: CallCheckouts) -> HookDecision | None:
        """What a line is that only reads (allow: as far as the gate agrees), or is mcl's own; None of any
        other."""
        cwd = os.path.join(event.cwd, event.folder)  # noqa: PTH118
        shell = Shell(here.root, cwd, caller.search, caller.agent, caller.in_environment, self._home.path)
        try:
            found = look_at(event.command, shell)
        except NotPlainError:
            return None
        if found == "person":
            return self._refuse(event, here, refusals.refused("person_only", event.command), "")
        if found == "named":
            return self._refuse(event, here, refusals.refused("other_agent", caller.agent), "")
        if found == "secret":
            return HookDecision("ask", "The command names something protected. Allow it?")
        if found == "leave" or reach_of(".", cwd, here.root)[0] is not PathReach.INSIDE:
            return _LEAVE
        return HookDecision("allow", "reading needs no intent")

    def _roots(self) -> tuple[Path, ...]:
        """All governed folders, by where they really lie."""
        roots = [root for (root,) in self._home.db.read("SELECT root FROM work_roots")]
        roots += map(str, self._work.trees()) if roots else ()
        governed = (root for root in dict.fromkeys(roots) if self._work.governed(root))
        return tuple(Path(os.path.realpath(root)) for root in governed)

    # ---- what they share ----

    def _here(self, root: Path, agent: str) -> CallCheckouts:
        """Raises PolicyError BAD_POLICY where the operator's policy cannot be followed, every entry of it."""
        policy = Policy.read(self._home.path / "policy.toml")
        if policy.version != self._policy.version:
            if policy.entries:
                from mcl.catalog.tools.foreign import all_tools  # only where something is denied

                policy = policy.closing(all_tools(self._home))
            self._policy = policy
        return CallCheckouts(self._work, self._leases, root, agent)

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

    def _refuse(
        self, event: Event, here: CallCheckouts, violation: Violation, path: str, inside: str = ""
    ) -> HookDecision:
        """Refuse a call, and record that; one that keeps coming is told so, whichever door it came by."""
        shared = violation.code in SHARED and event.same and (event.does != "writes" or inside)
        saw = self._seen.of(here.root, here.agent, inside) if shared and inside else None
        key = same_call(event.same, event.given, inside, saw) if shared else event.call
        now, lease = self._home.clock.now(), here.intent_id
        before = self._breaker.repeated(here.agent, here.root, key, violation.code, now, lease=lease)
        if before is not None:
            violation, path = circuit_open(before), ""
        body = {
            "agent": here.agent,
            "root": str(here.root),
            "tool": refusals.shown(event.tool),
            "path": refusals.shown(path),
            "code": violation.code,
            "call": event.call,  # a hash: arguments may hold secrets
        }
        with suppress(MclError):  # of a sealed key, above all; it is refused all the same
            self._home.journal.record(REFUSED, body, intent=here.intent_id or None)
        return HookDecision("deny", violation=violation)

    def _keep(
        self,
        event: Event,
        here: CallCheckouts,
        held: Checkout,
        written: Sequence[tuple[str, Mode]],
        state: Mapping[str, object] | None = None,
    ) -> None:
        """Keep what a call may change, and remember it until the host tells that it was made.

        state: of a call that may change anything, what git said of the folder before.
        """
        node, tool, why = self._home.clock.new_id(), event.tool[:200], "" if written else SHELL_RAN
        with opened(here.root, self._home) as workspace:
            keep(self._home, workspace, written, intent=held.intent_id, node=node, tool=tool, why_not=why)
        call = PendingCall(str(here.root), held.agent, held.intent_id, held.label, tool, node, state)
        self._calls.put(event.key, call)


def _is_read_in_two_ways(path: str, event: Event) -> bool:
    """Whether the host, or another process, may take a path for another file than it names here."""
    if read_otherwise(path) is not None or by_process(path, event.cwd):
        return True
    here = os.path.lexists(os.path.join(event.cwd, path))  # noqa: PTH118
    return event.finds and not path.startswith("/") and not here
