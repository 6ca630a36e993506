"""Everyday goals about files at the command line: what is shown before it is signed, done, and taken back."""

from __future__ import annotations


def test_what_will_be_moved_is_shown_before_it_is_signed_and_can_be_taken_back(mcl):
    photos = mcl.folder / "photos"
    photos.mkdir()
    for name in ("IMG_20240517.jpg", "IMG_20240602.jpg"):
        (photos / name).write_text(name)
    assert mcl("compile", "sort the pictures in photos by month").code == 0
    shown = mcl("plan", "@last")
    assert "changes photos/IMG_20240517.jpg, photos/IMG_20240602.jpg" in " ".join(
        shown.out.replace("↪", "").split()
    )
    assert mcl("accept", "@last", "--yes").code == 0
    assert mcl("run", "@last").code == 0
    assert (photos / "2024-05/IMG_20240517.jpg").is_file()
    assert mcl("undo", "@last", "--yes").code == 0
    assert sorted(one.name for one in photos.iterdir()) == ["IMG_20240517.jpg", "IMG_20240602.jpg"]


def test_what_will_be_refused_is_told_before_it_is_signed(mcl):
    (mcl.folder / "a.txt").write_text("a")
    (mcl.folder / "b.txt").write_text("b")
    assert mcl("compile", "rename a.txt to b.txt").code == 0
    told = " ".join(mcl("plan", "@last").out.replace("↪", "").split())
    assert "EXISTS: 'b.txt' is there already" in told
