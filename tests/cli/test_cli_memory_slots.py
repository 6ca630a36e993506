"""Slots that take a memory of the cortex: valid in skills, filled by an address, asked for otherwise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from skill_writing import write_skill

from mcl.core.words import MEMORY_TYPES
from mcl.values.slots import read_slot

TYPES = [name for name in MEMORY_TYPES if name != "Constraint"]  # which is a constraint of the goal


@pytest.mark.parametrize("name", TYPES)
def test_a_skill_with_such_a_slot_is_valid_compiles_and_is_shown(mcl: Any, name: str) -> None:
    shelf = mcl.folder / "skills"
    write_skill(shelf, old="slot size: uint", new=f"slot about: {name}\n  optional\n\nslot size: uint")
    assert mcl("skill", "check", str(shelf / "read-page")).code == 0
    given = ("--no-ai", "--skill", "read-page", "--verb", "find", "--skills", str(shelf))
    goal = ("compile", "read the handbook page", "--slot", "file=notes/monday.txt", *given)
    unknown = mcl(*goal, "--slot", f"about={name}/other")
    assert (unknown.code, "Nothing is remembered at" in unknown.out) == (3, True)
    assert mcl("memory", "add", name, "Something to remember", "--id", "one.2").code == 0
    made = mcl(*goal, "--slot", f"about={name}/one.2@v1")
    assert made.code == 0, made.out
    document = mcl("show", "@last", "--json").document
    entry = next(one for one in document["intent"]["frame"]["objects"] if one["name"] == "about")
    address = f"matrix://cortex/{name}/one.2@v1"
    assert (entry["value"], entry["uri"], entry["type"]) == (address, address, name)
    assert address in mcl("show", "@last").out
    assert mcl("accept", "@last", "--yes", "--skills", str(shelf)).code == 0


def test_words_that_are_no_address_are_asked_about(mcl: Any) -> None:
    shelf = mcl.folder / "skills"
    write_skill(shelf, old="slot size: uint", new="slot about: Event\n  required\n\nslot size: uint")
    given = ("--no-ai", "--skill", "read-page", "--verb", "find", "--skills", str(shelf))
    goal = ("compile", "read the handbook page", "--slot", "file=notes/monday.txt", *given)
    for words in ("the dentist", "Fact/dentist"):
        refused = mcl(*goal, "--slot", f"about={words}")
        assert (refused.code, "Event/ID" in refused.err) == (2, True)
    asked = mcl(*goal)
    assert asked.code == 3, asked.out + asked.err
    [question] = mcl("show", "@last", "--json").document["questions"]
    assert "Event/ID" in question["prompt"]
    refused = mcl("answer", "@last", f"{question['id']}=the dentist", "--skills", str(shelf))
    assert (refused.code, "Event/ID" in refused.err) == (2, True)
    [question] = mcl("show", "@last", "--json").document["questions"]
    assert mcl("memory", "add", "Event", "At the dentist's", "--id", "dentist").code == 0
    done = mcl("answer", "@last", f"{question['id']}=Event/dentist", "--skills", str(shelf))
    assert done.code == 0, done.err
    assert "matrix://cortex/Event/dentist" in mcl("show", "@last").out


@pytest.mark.parametrize("type_", TYPES)
@pytest.mark.parametrize(
    "text", ["x", "Other/x", "{}", "{}/", "{}/a b", "{}/x@v0", "matrix://tool/{}/x", "{}/x/y"]
)
def test_what_is_no_address_of_that_type_is_not_taken(type_: str, text: str) -> None:
    assert read_slot(text.format(type_), type_, (), "2026-11-21T10:00:00Z", "UTC") is None
    assert read_slot(f"{type_}/x", type_, (), "2026-11-21T10:00:00Z", "UTC") == f"matrix://cortex/{type_}/x"


def test_a_default_is_such_an_address(mcl: Any, tmp_path: Path) -> None:
    for default, code in (("matrix://cortex/Fact/home", 0), ("matrix://cortex/Event/home", 2)):
        place = write_skill(
            tmp_path / str(code),
            old="slot size: uint",
            new=f'slot about: Fact\n  optional\n  default="{default}"\n\nslot size: uint',
        )
        done = mcl("skill", "check", str(place))
        assert (done.code != 0) == bool(code), done.out
