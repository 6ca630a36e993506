"""`mcl undo`: what would happen, a question, and what happened."""

from __future__ import annotations

from pathlib import Path

import mcl as library

NOTE = (
    *("compile", "remember to water the plants", "--no-ai", "--skill", "general", "--verb", "build"),
    *("--slot", "object=plants", "--json"),
)


def kept(mcl) -> tuple[str, Path]:
    """An intent that wrote a note, and the note."""
    id = mcl(*NOTE).document["id"]
    assert mcl("accept", id, "--yes").code == 0
    assert mcl("run", id, "--yes-gates").code == 0
    return id, mcl.folder / "mcl-notes" / f"{id}.md"


def test_a_note_is_taken_back_after_a_question(mcl):
    id, note = kept(mcl)
    looked = mcl("undo", id, "--check")
    assert (looked.code, f"remove  mcl-notes/{id}.md" in looked.out) == (0, True)
    no = mcl.fed(b"\n", "undo", id)
    assert (no.code, "nothing was touched" in no.err, note.exists()) == (4, True, True)
    assert mcl.fed(b"y\n", "undo", id).code == 0
    assert not note.parent.exists()
    again = mcl("undo", id)
    assert (again.code, "undone already" in again.out) == (0, True)


def test_a_changed_file_is_refused_listed_and_may_be_left_out(mcl):
    id, note = kept(mcl)
    note.write_text("mine")
    looked = mcl("undo", id, "--check", "--json")
    assert (looked.code, looked.document["state"]) == (4, "changed")
    refused = mcl("undo", id, "--yes", "--json")
    assert (refused.code, refused.document["error"]["code"]) == (4, "CHANGED_SINCE")
    assert refused.document["error"]["changed"][0]["path"] == f"mcl-notes/{id}.md"
    done = mcl("undo", id, "--except", f"mcl-notes/{id}.md", "--yes", "--json")
    assert (done.code, done.document["left"], note.read_text()) == (0, ["mcl-notes"], "mine")


def test_images_are_pruned_and_bad_usage_is_said(mcl):
    id, _ = kept(mcl)
    assert mcl("undo").code == 2
    assert mcl("undo", id, "--prune").code == 2
    assert mcl("undo", id, "--days", "3").code == 2
    assert mcl("undo", "--prune", "--days", "0", "--json").document["left"] == 0
    assert mcl("undo", id, "--node", "nothing").code == 4


def test_the_library_undoes_too(mcl):
    id, note = kept(mcl)
    assert library.undo(id, check=True).removed == (f"mcl-notes/{id}.md",)
    assert library.undo(id).state == "undone"
    assert not note.exists()
    assert library.runs.prune_undo(days=0).left == 0
