"""Restoration back what the calls of an intent changed: those files only, all of them or none."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from executor.core.errors import ScopeError, UndoError
from executor.sandbox.history import HistoryWorkspace
from executor.sandbox.paths import Workspace
from executor.store.home import Home
from executor.store.lifecycle.events import View, intent_id
from executor.walker.undo.records import (
    BEGUN,
    DONE,
    REFUSED,
    STOPPED,
    NotUndone,
    UndoHistory,
    Undone,
    read_history,
)
from executor.walker.undo.restoration import (
    Changed,
    ChangedMeanwhileError,
    Restoration,
    Restore,
    Wanted,
    restore_of,
    wanted,
)
from executor.walker.undo.store import ImageStore
from ir import MclError
from ir.errors import UNVERIFIED
from ir.results import JsonResult

if TYPE_CHECKING:
    from executor.gate.locks import Place

_HANDED = "what another agent did is not undone"
_UNKEPT = "nothing was kept before it ran"


@dataclass(frozen=True, slots=True)
class UndoReport(JsonResult):
    """What an undo did, or would do.

    state: undone; ready (with ``check``: nothing stands against it); changed (with ``check``: refused as it
    stands); already (everything was put back before); nothing (the calls changed no file).
    restored: files that are what they were. removed: files that the calls had made. folders: that they had
    made, and are gone; left: those that hold something. changed: what stands against it. not_undone: effects
    that stay. record: id of the journal's record of it.
    """

    intent: str
    state: Literal["undone", "ready", "changed", "already", "nothing"]
    node: str = ""
    restored: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    changed: tuple[Changed, ...] = ()
    not_undone: tuple[NotUndone, ...] = ()
    record: str = ""


def undo(
    home: Home,
    intent: str,
    *,
    node: str = "",
    leave: Collection[str] = (),
    check: bool = False,
    workspace: Path | None = None,
) -> UndoReport:
    """Put the files back that the calls of an ended intent changed. Nobody else's files are touched.

    What a killed undo left half done is completed by the same call again.

    Args:
        intent: URI or ULID.
        node: only the calls of this node and of those below it.
        leave: paths that stay as they are.
        check: only say what would happen.
        workspace: where the folder lies now, if it was moved since.

    Raises:
        UndoError: NOT_ENDED, NODE_UNKNOWN, CHANGED_SINCE (``data["changed"]`` lists the files; nothing was
            touched), IMAGE_MISSING, IMAGE_DAMAGED, UNDO_INTERRUPTED (another undo of the intent has to be
            completed first), VERIFICATION_FAILED (exit 6). WalkError ALREADY_RUNNING. ScopeError: a folder
            is gone or may not be written to, or a run writes there at this moment (SCOPE_CONTENTION);
            everything is as it was before. HomeError.
    """
    from executor.walker.history import run_lock

    known = intent_id(intent)
    with run_lock(home.path, known), ExitStack() as opened:
        work = _Work(home, known, node, frozenset(leave), workspace, opened)
        return work.check() if check else work.do()


@dataclass
class _Work:
    home: Home
    intent: str
    node: str
    leave: frozenset[str]
    place: Path | None
    opened: ExitStack
    nodes: frozenset[str] | None = field(init=False)
    history: UndoHistory = field(init=False)
    view: View = field(init=False)

    def __post_init__(self) -> None:
        self._verify()
        self.view = self.home.journal.view(self.intent, fresh=True)
        self.history = read_history(self.home.journal, self.intent)
        self.nodes = self._below(self.node) if self.node else None
        if self.node and not (self.nodes or self.node in self.view.nodes):
            said = ", ".join(sorted({call.node for call in self.history.calls})) or "none"
            raise UndoError(
                "NODE_UNKNOWN",
                f"no node {self.node!r} ran for this intent",
                place=self.intent,
                fix=f"nodes that changed something: {said}",
            )

    def _below(self, node: str) -> frozenset[str]:
        """The nodes that called a tool, of those that a node is or holds, also by dispatching to a skill."""
        plan = self.view.plan
        branch = next((one for one, _ in plan.root.walk() if one.id == node), None) if plan else None
        held = {node} | ({one.id for one, _ in branch.walk()} if branch else set())
        ran = {call.node for call in self.history.calls} | set(self.view.nodes)
        dispatched = tuple(f"{one}/" for one in held)
        return frozenset(one for one in ran if one in held or one.startswith(dispatched))

    def check(self) -> UndoReport:
        want, begun = self._wanted()
        putting = self._putting(begun.id if begun else "", want.files)
        changed = (*want.changed, *putting.changed())
        state: Literal["ready", "changed"] = "changed" if changed else "ready"
        return self._report(want, self._idle(want) or state, changed=changed, folders=_paths(want))

    def do(self) -> UndoReport:
        if not self.view.terminal:
            raise UndoError(
                "NOT_ENDED",
                f"the intent is {self.view.state}; only what has ended is undone",
                place=self.intent,
                fix="mcl run --resume goes on with it, mcl cancel ends it",
            )
        want, begun = self._wanted()
        if (idle := self._idle(want)) is not None:
            return self._report(want, idle)
        self._hold(want.files)
        putting = self._putting(begun.id if begun else "", want.files)
        if begun is not None:
            putting.tidy()
        if changed := (*want.changed, *putting.changed()):
            self._refuse(changed, half_done=begun is not None)
        if not want.folders and all(one.found is None for one in want.files):
            return self._report(want, "nothing")
        self._need_images(want.files, putting)
        if begun is None:
            row = self.home.journal.record(BEGUN, self._body(want), intent=self.intent)
            putting.id = row.id
        self._put(putting, begun)
        folders = [(root, path) for root, path, _ in want.folders if path not in self.leave]
        gone, left = putting.finish(folders)
        report = self._report(want, "undone", folders=gone, left=left)
        body = {"of": putting.id, "restored": list(report.restored), "removed": list(report.removed)}
        body |= {"folders": gone, "leave": sorted(self.leave)}
        row = self.home.journal.record(DONE, body, intent=self.intent)
        return replace(report, record=row.id)

    def _hold(self, files: Collection[Restore]) -> None:
        """Keep runs from writing there until this is done; refused where one does at this moment."""
        from executor.gate.locks import Locks, SharedLocks

        places: list[Place] = []
        for one in files:
            root = (self.place or Path(one.root)).resolve()
            places.append(((*root.parts[1:], *one.path.split("/")), "write"))
        locks = Locks(SharedLocks(self.home.path / "locks", Path("/"), self.intent))
        self.opened.enter_context(locks.hold(places))

    def _put(self, putting: Restoration, begun: Undone | None) -> None:
        try:
            putting.stage()
            putting.swap()
        except (MclError, ChangedMeanwhileError, OSError) as problem:
            putting.roll_back()
            if begun is None:  # else it stays half done, as the killed one left it
                self.home.journal.record(STOPPED, {"of": putting.id}, intent=self.intent)
            if isinstance(problem, ChangedMeanwhileError):
                self._refuse((problem.changed,), half_done=begun is not None)
            raise

    def _verify(self) -> None:
        report = self.home.journal.verify(intent=self.intent)
        if not report.ok:
            first = report.findings[0]
            raise UndoError(
                "VERIFICATION_FAILED",
                f"the journal does not hold: {first.code} in row {first.seq}: {first.message}",
                place=self.intent,
                fix="nothing was touched; see mcl log verify",
                exit=UNVERIFIED,
            )

    def _wanted(self) -> tuple[Wanted, Undone | None]:
        """What is to be done; where an undo was killed, exactly what that one had begun."""
        begun = self.history.interrupted
        want = wanted(self.history, nodes=self.nodes, leave=self.leave)
        if begun is None:
            return want, None
        if begun.body["node"] != self.node or not self.leave.issuperset(begun.body["leave"]):
            words = [f"--node {begun.body['node']}"] if begun.body["node"] else []
            words += [f"--except {path}" for path in begun.body["leave"]]
            raise UndoError(
                "UNDO_INTERRUPTED",
                f"an undo that was begun at {begun.at} was not completed",
                place=self.intent,
                fix=" ".join(["complete it: mcl undo", self.intent, *words]),
            )
        files = tuple(restore_of(entry) for entry in begun.body["files"])
        folders = tuple((one["root"], one["path"], tuple(one["calls"])) for one in begun.body["folders"])
        return Wanted(files, folders, (), want.calls), begun

    def _body(self, want: Wanted) -> dict[str, Any]:
        return {
            "node": self.node,
            "leave": sorted(self.leave),
            "files": [one.to_body() for one in want.files],
            "folders": [
                {"root": root, "path": path, "calls": list(calls)} for root, path, calls in want.folders
            ],
        }

    def _idle(self, want: Wanted) -> Literal["already", "nothing"] | None:
        if want.files or want.folders or want.changed:
            return None
        undone = self.history.undone()
        return "already" if any(call.id == one for call in want.calls for one, _ in undone) else "nothing"

    def _putting(self, id: str, files: tuple[Restore, ...]) -> Restoration:
        want_roots = {one.root for one in files}
        roots = {call.root for call in self.history.calls if call.root} | want_roots
        moved = self.place if len(roots) == 1 else None
        workspaces: dict[str, Workspace] = {}
        for root in sorted(roots):
            try:
                workspace = HistoryWorkspace(moved or Path(root), forbidden=[self.home.path])
            except ScopeError as problem:
                raise self._moved(problem.message) from problem
            self.opened.callback(workspace.close)
            if moved is None and str(workspace.root) != root:
                raise self._moved(f"{root} leads to {workspace.root} now")
            workspaces[root] = workspace
        return Restoration(id, files, workspaces, ImageStore(self.home.path / "undo"), self.leave)

    def _moved(self, why: str) -> UndoError:
        fix = "name the folder as it is now: --workspace DIR"
        return UndoError("WORKSPACE_MOVED", why, place=self.intent, fix=fix)

    def _need_images(self, files: tuple[Restore, ...], putting: Restoration) -> None:
        for one in files:
            if one.path in self.leave or one.target.kind != "file":
                continue
            if putting.lacks(one):
                raise UndoError(
                    "IMAGE_MISSING",
                    f"the before-image of {one.path!r} is not there any more (mcl undo --prune?)",
                    place=self.intent,
                    fix=f"leave it out: --except {one.path}",
                )

    def _refuse(self, changed: tuple[Changed, ...], *, half_done: bool) -> None:
        told = [one.to_json() for one in changed]
        self.home.journal.record(
            REFUSED, {"code": "CHANGED_SINCE", "node": self.node, "changed": told}, intent=self.intent
        )
        names = ", ".join(repr(one.path) for one in changed[:5])
        more = f" and {len(changed) - 5} more" if len(changed) > 5 else ""
        state = "an interrupted undo stays half done" if half_done else "nothing was touched"
        raise UndoError(
            "CHANGED_SINCE",
            f"changed since the run: {names}{more}; {state}",
            place=self.intent,
            fix="put these files as the run left them, or leave them out: --except PATH",
            data={"changed": told},
        )

    def _report(
        self,
        want: Wanted,
        state: Literal["undone", "ready", "changed", "already", "nothing"],
        *,
        changed: tuple[Changed, ...] = (),
        folders: Collection[str] = (),
        left: Collection[str] = (),
    ) -> UndoReport:
        # Of an interrupted call only what it did not change is put back, which is nothing to tell of.
        files = [one for one in want.files if one.path not in self.leave and one.found is not None]
        restored = tuple(one.path for one in files if one.target.kind != "absent")
        removed = tuple(one.path for one in files if one.target.kind == "absent")
        stays = tuple(
            NotUndone(call.node, call.tool, path, why)
            for call in want.calls
            for path, why in call.uncovered.items()
        )
        return UndoReport(
            self.intent,
            state,
            self.node,
            restored,
            removed,
            tuple(folders),
            tuple(left),
            changed,
            (*stays, *self._unkept()),
        )

    def _unkept(self) -> list[NotUndone]:
        """What other agents were handed, and calls of a plan that was run before before-images were kept."""
        plan, known = self.view.plan, {call.node for call in self.history.calls}
        found: list[NotUndone] = []
        for node, _ in plan.root.walk() if plan else ():
            if self.view.nodes.get(node.id) not in ("completed", "failed", "running", "cancelled"):
                continue
            if self.nodes is not None and node.id not in self.nodes:
                continue
            if node.sub_dispatch is not None and node.sub_dispatch.agent_ref:
                found.append(NotUndone(node.id, node.sub_dispatch.agent_ref, "", _HANDED))
            elif (
                node.tool_call is not None
                and node.tool_call.side_effect_class not in ("read", "network")
                and node.id not in known
                and self.view.nodes[node.id] == "completed"
            ):
                found.append(NotUndone(node.id, node.tool_call.tool_ref, "", _UNKEPT))
        return found


def _paths(want: Wanted) -> tuple[str, ...]:
    return tuple(path for _, path, _ in want.folders)
