"""A review by a model says where the maps that it was told of are old, or cannot be read."""

from __future__ import annotations

from pathlib import Path

import pytest
from yards import Yard

from mcl.acts.review.maps import maps_note

MAPS = "generated/architecture/architecture_map.json"


def built(yard: Yard) -> None:
    assert yard("context", "build", "--yes").code == 0


def noted(yard: Yard, *files: str) -> str:
    """What is said of the maps after a review of these files in which a model was asked."""
    import hashlib

    looked = [
        {"path": one, "sha256": hashlib.sha256((yard.folder / one).read_bytes()).hexdigest()} for one in files
    ]
    return maps_note(yard.folder, {"maps": "read"}, {"files": looked})


def test_maps_that_are_as_the_files_are_need_no_word(yard: Yard) -> None:
    built(yard)
    assert noted(yard, "app.py") == ""


def test_files_that_changed_or_are_new_are_named(yard: Yard) -> None:
    built(yard)
    yard.write("app.py", "def other(): pass\n")
    yard.write("new.py", "")
    said = noted(yard, "app.py", "new.py")
    assert said.startswith("the maps are old for app.py, new.py, ")
    assert said.endswith("mcl review context build")
    for number in range(3):
        yard.write(f"new{number}.py", "")
    assert "app.py, new0.py, new1.py and 1 more" in noted(yard, "app.py", "new0.py", "new1.py", "new2.py")


@pytest.mark.parametrize("told", [{}, {"maps": "none"}])
def test_without_maps_or_a_model_nothing_is_said(tmp_path: Path, told: dict[str, str]) -> None:
    assert maps_note(tmp_path, told, {"files": [{"path": "a.py", "sha256": "0"}]}) == ""


def test_the_command_says_it_beside_the_findings(yard: Yard) -> None:
    built(yard)
    assert "maps" not in yard("app.py", "--no-ai").err
    yard.write("app.py", "def other(): pass\n")
    assert "the maps are old for app.py, " in yard("app.py").err
    assert "maps" not in yard("app.py", "--no-ai").err
    yard.write(MAPS, "{bad")
    assert "nothing of roles and symbols, unreadable: " in yard("app.py").err
