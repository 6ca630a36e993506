"""How much the store of before-images holds, counted folder by folder and only where something changed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from executor.store.home import Home
from executor.walker.undo.store import ImageStore, note_tried, total
from mcl.core.home import open_home


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    with open_home(tmp_path / "home") as opened:
        yield opened


@pytest.fixture
def store(home: Home) -> ImageStore:
    made = ImageStore(home.path / "undo")
    with made.together():
        for number in range(40):
            made.keep_bytes(b"%d" % number * 10)
    return made


def _held(home: Home, store: ImageStore) -> int:
    found = total(home, store)
    with home.db.write("undo_total") as connection:
        found.keep(connection)
    assert found.bytes == sum(size for _, size in store.names())
    return len(found.counted)


def _settle(store: ImageStore) -> None:
    """As if all of it had been there for an hour."""
    for folder in store.folder.iterdir():
        changed = folder.stat().st_mtime_ns - 3_600_000_000_000
        os.utime(folder, ns=(changed, changed))


def test_what_did_not_change_is_not_counted_again_and_what_did_is(
    home: Home, store: ImageStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _held(home, store) == 0  # too fresh to be believed the next time
    _settle(store)
    folders = len(list(store.folders()))
    assert _held(home, store) == folders
    looked: list[str] = []
    real = ImageStore.names

    def names(self: ImageStore, folder: str) -> Iterator[tuple[str, int]]:
        looked.append(folder)
        return real(self, folder)

    monkeypatch.setattr(ImageStore, "names", names)
    assert total(home, store).counted == {}
    assert looked == []
    digest, _, _ = store.keep_bytes(b"by another process")
    assert total(home, store).counted == {}
    assert looked == [digest[:2]]


def test_the_sum_is_right_after_a_crash_and_after_contents_were_removed(
    home: Home, store: ImageStore
) -> None:
    _settle(store)
    _held(home, store)
    with open_home(home.path) as other, ImageStore(other.path / "undo").together():
        orphan, _, _ = store.keep_bytes(b"kept, and killed before the record was written")
    (store.folder / "0123.part").write_bytes(b"half a content")
    _held(home, store)
    with store.alone():
        store.discard(orphan)
        store.discard(next(iter(store.names()))[0])
    _held(home, store)


def test_how_much_was_left_when_room_was_made_is_remembered(home: Home, store: ImageStore) -> None:
    assert total(home, store).tried == 0
    note_tried(home, 7)
    note_tried(home, 9)
    with open_home(home.path) as other:
        assert total(other, store).tried == 9
