"""Removing before-images that nobody will need: of intents that have ended, the oldest first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from executor.core.clock import instant
from executor.store.home import Home
from executor.store.journal.record import Record
from executor.walker.undo.records import BEGUN, DONE, KEPT, PRUNED, STOPPED, call_of, images_of
from executor.walker.undo.store import ImageStore


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
