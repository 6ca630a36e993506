"""Before-images: one call before a tool that writes, one after it. What is kept, is durable before it runs.

Contents lie in the home's folder ``undo``; what belongs to which call is two records of the journal,
``record.undo.kept`` and ``record.undo.left``. A call whose effects cannot be put back (a process, the
network, a file too large) is recorded as such: nothing is silently unprotected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final, TypeAlias

from anyio import CancelScope, to_thread

from executor.core.clock import instant
from executor.core.errors import ScopeError
from executor.sandbox.history import HistoryWorkspace
from executor.sandbox.paths import Workspace
from executor.store.home import Home
from executor.store.journal.record import Record
from executor.tools.manifest import Effect, Mode
from executor.walker.undo.looker import FILE_LIMIT, FULL, Before, Looker
from executor.walker.undo.records import (
    BEGUN,
    DONE,
    KEPT,
    LEFT,
    PRUNED,
    STOPPED,
    KeptCall,
    before_of,
    call_of,
    images_of,
    kept_body,
    left_body,
    read_history,
)
from executor.walker.undo.store import ImageStore

Tell: TypeAlias = Callable[[str, Mapping[str, Any]], str]  # kind and body of a record; gives its id
STORE_LIMIT: Final = 1 << 30  # bytes of contents in a home, after which old ones go


def not_undoable(path: str, why: str) -> ScopeError:
    """The refusal of a call that must be able to be undone."""
    fix = "name less, or do it by hand: nothing was touched"
    return ScopeError("NOT_UNDOABLE", f"{path!r} could not be put back: {why}", place=path, fix=fix)


@dataclass(frozen=True, slots=True)
class Kept:
    """A call that is about to run. uncovered: by path ("" = the call itself), why it will not be undone."""

    id: str
    intent: str
    node: str
    looker: Looker = field(repr=False)
    before: Before = field(repr=False)
    _held: ExitStack = field(default_factory=ExitStack, repr=False)

    def close(self) -> None:
        """The record of it is written: from here on nobody takes its contents for nobody's."""
        self._held.close()

    @property
    def uncovered(self) -> Mapping[str, str]:
        return self.before.uncovered

    @property
    def absent(self) -> frozenset[str]:
        """The paths at which nothing was before the call, or the first attempt at it."""
        return frozenset(path for path, state in self.before.files.items() if state.kind == "absent")


class Images:
    """The before-images of a home.

    file_limit: bytes of one file; a larger one is marked as not covered. store_limit: bytes of all contents;
    images of intents that have ended go first, then files are marked as not covered.
    """

    def __init__(self, home: Home, *, file_limit: int = FILE_LIMIT, store_limit: int = STORE_LIMIT) -> None:
        self._home = home
        self._file_limit = file_limit
        self._store_limit = store_limit
        self._store = ImageStore(home.path / "undo")
        self._held = -1  # bytes of contents there, once they were counted
        self._tried = 0  # bytes that were there when room was last made

    async def before(
        self,
        workspace: Workspace,
        paths: Sequence[tuple[str, Mode]],
        effect: Effect,
        *,
        intent: str,
        node: str,
        tool: str,
        stays: str = "",
        history: str | None = None,
        resumed: bool = False,
        whole: bool = False,
        tell: Tell | None = None,
    ) -> Kept | None:
        """Keep what a call may change, durably. None where it changes nothing.

        Args:
            workspace: where the paths lie.
            paths: as the gate judged them; those that are written or added to count.
            effect: what the gate allowed.
            stays: why what it does is not undone, as ``gate.effects.lasting`` says; "" where it is.
            history: as of ``Looker.before``.
            tell: writes a record with whatever is written next; it must be written before the tool runs, and
                ``Kept.close`` be called then. None: written at once.
            whole: is the call not to be made where something could not be put back?
            resumed: did this node begin in an earlier run? What a call found counts that nobody saw end.

        Raises:
            ScopeError: a path that tools may not touch; NOT_UNDOABLE. HomeError: it could not be kept. The
            tool must not run then.
        """
        if effect.operation == "read":
            return None
        written = [(path, mode) for path, mode in paths if mode not in ("read", "list")]
        interrupted = self._unfinished(intent, node) if resumed else None
        place = workspace if history is None else HistoryWorkspace.of(workspace)
        looker = Looker(place, self._store, self._file_limit, self._room)

        def look() -> Before:
            known = before_of(interrupted) if interrupted is not None else None
            whole = "shell" not in effect.classes
            return looker.before(written, whole_folders=whole, history=history, known=known)

        if (written or history is not None) and self._held < 0:
            await to_thread.run_sync(self._count)
        with ExitStack() as held:
            held.enter_context(self._store.together())
            before = await to_thread.run_sync(look)
            if FULL in before.uncovered.values() and self._held > self._tried:
                held.close()  # what is removed is removed by nobody else at this moment
                await to_thread.run_sync(self._make_room)
                held.enter_context(self._store.together())
                before = await to_thread.run_sync(look)
            if whole and before.uncovered:
                raise not_undoable(*next(iter(before.uncovered.items())))
            if stays:
                before.uncovered[""] = stays
            body = kept_body(before, node=node, tool=tool, root=str(workspace.root))
            self._held += before.fresh
            if tell is None:
                id = self._home.journal.record(KEPT, body, intent=intent).id
                return Kept(id, intent, node, looker, before)
            return Kept(tell(KEPT, body), intent, node, looker, before, held.pop_all())

    async def after(self, kept: Kept | None, answer: object = None, *, tell: Tell | None = None) -> None:
        """Record what a call left, however it ended; not interrupted by a cancel.

        Args:
            answer: what the tool said; None where it said nothing.
            tell: as in ``before``; the record must be written before the call counts as ended.
        """
        if kept is None:
            return
        kept.close()
        with CancelScope(shield=True):
            left = await to_thread.run_sync(kept.looker.after, kept.before, answer)
        body = left_body(left, of=kept.id, node=kept.node)
        if tell is None:
            self._home.journal.record(LEFT, body, intent=kept.intent)
        else:
            tell(LEFT, body)

    async def settle(self, workspace: Workspace, *, intent: str, node: str) -> None:
        """Take what is there now for what an interrupted call left: a person counted it as done."""
        call = self._unfinished(intent, node)
        if call is not None:
            looker = Looker(HistoryWorkspace.of(workspace), self._store, self._file_limit)
            await self.after(Kept(call.id, intent, node, looker, before_of(call)))

    def _unfinished(self, intent: str, node: str) -> KeptCall | None:
        """The call of a node that nobody saw end."""
        calls = read_history(self._home.journal, intent).calls
        return next((call for call in calls if call.node == node and call.after is None), None)

    def _count(self) -> None:
        self._held = sum(size for _, size in self._store.names())

    def _make_room(self) -> None:
        """Remove what is old, down to half of what there may be; not again before more has come."""
        self._held = make_room(self._home, self._store, self._store_limit // 2)
        self._tried = self._held

    def _room(self, size: int) -> bool:
        return self._held + size <= self._store_limit


# ---- Removing before-images that nobody will need: of intents that have ended, the oldest first.


@dataclass(frozen=True, slots=True)
class Pruned:
    """What was removed, and what is left. size, left: bytes. intents: those that can no longer be undone."""

    images: int
    size: int
    left: int
    intents: tuple[str, ...]


def prune(home: Home, *, days: int = 30) -> Pruned:
    """Remove the before-images of intents that ended more than ``days`` days ago, and what nobody owns."""
    from datetime import datetime

    before = instant(datetime.fromisoformat(home.clock.now()) - timedelta(days=days))
    store = ImageStore(home.path / "undo")
    with store.alone():
        uses = _uses(home)
        old = [intent for intent, last in _ended(home, uses) if last <= before]
        return _drop(home, store, uses, old)


def make_room(home: Home, store: ImageStore, goal: int) -> int:
    """Remove images of intents that have ended, the oldest first, until at most ``goal`` bytes are left.

    Returns the bytes that are left, which may be more.
    """
    with store.alone():
        uses = _uses(home)
        sizes = dict(store.names())
        left, old = sum(sizes.values()), list[str]()
        counts: dict[str, int] = {}
        for _, images in uses.values():
            for image in images:
                counts[image] = counts.get(image, 0) + 1
        for intent, _ in _ended(home, uses):
            if left <= goal:
                break
            old.append(intent)
            for image in uses[intent][1]:
                counts[image] -= 1
                left -= 0 if counts[image] else sizes.get(image, 0)
        return _drop(home, store, uses, old).left


def _uses(home: Home) -> dict[str, tuple[str, set[str]]]:
    """By intent, the moment of its last call or undo, and the contents that it needs."""
    found: dict[str, tuple[str, set[str]]] = {}
    for kind in (KEPT, BEGUN, DONE, STOPPED):
        for row in home.journal.rows(kind=kind):
            record = home.journal.open(row.wire)
            assert isinstance(record, Record), "the journal checks kinds"
            last, images = found.get(row.intent or "", ("", set()))
            images |= images_of(call_of(record)) if kind == KEPT else set()
            found[row.intent or ""] = (max(last, row.at), images)
    return found


def _ended(home: Home, uses: dict[str, tuple[str, set[str]]]) -> Iterator[tuple[str, str]]:
    """The intents that have ended and that no killed undo still needs, the oldest first."""
    busy = {row.id: row.intent for row in home.journal.rows(kind=BEGUN)}
    for kind in (DONE, STOPPED):
        for row in home.journal.rows(kind=kind):
            record = home.journal.open(row.wire)
            if isinstance(record, Record):
                busy.pop(record.body["of"], None)
    for intent, (last, _) in sorted(uses.items(), key=lambda item: item[1][0]):
        if intent not in busy.values() and home.journal.view(intent).terminal:
            yield intent, last


def _drop(home: Home, store: ImageStore, uses: dict[str, tuple[str, set[str]]], old: list[str]) -> Pruned:
    gone = set(old)
    needed = {image for intent, (_, images) in uses.items() if intent not in gone for image in images}
    there = dict(store.names())
    removed = {image: size for image, size in there.items() if image not in needed}
    left = sum(there.values()) - sum(removed.values())
    known = [intent for intent in old if uses[intent][1] & removed.keys()]
    if removed:
        body = {"intents": known, "images": len(removed), "bytes": sum(removed.values())}
        home.journal.record(PRUNED, body)
    for image in removed:
        store.discard(image)
    store.sweep()
    return Pruned(len(removed), sum(removed.values()), left, tuple(known))
