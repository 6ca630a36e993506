"""A review by a model says where the maps that it was told of are old, or cannot be read."""

from __future__ import annotations

from pathlib import Path

import pytest
from yards import Yard

from mcl.plugins.review.usecases.maps import maps_note

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
    assert "told no symbols" in said
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
    assert "the maps are old for app.py, " in yard("app.py", "--model", "bundled").err
    assert "maps" not in yard("app.py", "--no-ai").err
    yard.write(MAPS, "{bad")
    assert "nothing of roles and symbols, unreadable: " in yard("app.py", "--model", "bundled").err


def told(yard: Yard, *more: str) -> str:
    """What the model of a review of app.py was told of it."""
    from scripted import Scripted

    from mcl.plugins.review.usecases.run import review_code

    model = Scripted(lambda request: "No findings.", digest="0" * 64)
    with yard.opened() as home:
        assert review_code("app.py", model=model, workspace=yard.folder, home=home).exit == 0
    return model.requests[0].user.partition("What is known of the file:")[2].partition("\n\n")[0]


def test_of_a_file_that_changed_the_model_is_told_no_symbols_and_that_its_role_is_old(yard: Yard) -> None:
    built(yard)
    before = told(yard)
    assert "function total(rows)" in before
    assert "older text" not in before
    yard.write("app.py", "def other(): pass\n")
    after = told(yard)
    assert "app.py: " in after
    assert "of an older text of it; its symbols are left out" in after
    assert "total(rows)" not in after
    shown = yard("context", "show", "app.py", "--told").out
    assert "older text" in shown
    assert "total(rows)" not in shown


def test_the_tool_tells_them_as_they_are_where_it_is_not_told_what_the_files_are(yard: Yard) -> None:
    built(yard)
    yard.write("app.py", "def other(): pass\n")
    call = ("tool", "call", "review/context", 'files=["app.py"]', "--yes", "--json")
    assert "total(rows)" in yard.mcl(*call).document["output"]["text"]
    looked = 'looked=[{"path": "app.py", "sha256": "' + "0" * 64 + '"}]'
    assert "total(rows)" not in yard.mcl(*call, looked).document["output"]["text"]
