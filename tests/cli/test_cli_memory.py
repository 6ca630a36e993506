"""`mcl memory` as a person and a script use it."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Shell


@pytest.fixture
def office(mcl: Shell) -> Shell:
    """A home with one memory in two versions, and another."""
    assert mcl("memory", "add", "Fact", "The office is in Oslo", "--id", "office", "--tag", "place").code == 0
    assert mcl("memory", "add", "Fact", "The office is in Bergen", "--id", "office").code == 0
    assert mcl("memory", "add", "Goal", "Pay all invoices in time", "--importance", "0.9").code == 0
    return mcl


def test_what_is_put_is_shown_found_and_listed(office: Shell) -> None:
    shown = office("memory", "show", "Fact/office", "--json").document
    assert shown["uri"] == "matrix://cortex/Fact/office@v2"
    assert (shown["text"], shown["version"], shown["seq"]) == ("The office is in Bergen", 2, 2)
    found = office("memory", "find", "where is the OFFICE", "--json").document["memories"]
    assert [one["uri"] for one in found] == ["matrix://cortex/Fact/office@v2"]
    assert "Fact/office@v2" in office("memory", "find", "bergen").out
    listed = office("memory", "list", "--json").document["memories"]
    assert [one["type"] for one in listed] == ["Goal", "Fact"]
    assert [
        one["type"] for one in office("memory", "list", "--type", "Fact", "--json").document["memories"]
    ] == ["Fact"]
    assert office("memory", "find", "dragons", "--json").document == {"memories": []}
    assert "nothing" in office("memory", "find", "dragons").out


def test_everything_that_can_be_said_of_a_memory_is_kept(mcl: Shell) -> None:
    said = mcl(
        *("memory", "add", "Belief", "Acme is slow", "--id", "acme", "--tag", "supplier", "--tag", "paper"),
        *("--edge", "about=matrix://cortex/Fact/acme", "--importance", "0.25", "--confidence", "0.5"),
        *("--source", "a letter", "--json"),
    ).document
    expected = {
        "tags": ["supplier", "paper"],
        "edges": [["about", "matrix://cortex/Fact/acme"]],
        "importance": 0.25,
        "confidence": 0.5,
        "source": "a letter",
    }
    assert {name: said[name] for name in expected} == expected
    text = mcl("memory", "show", "Belief/acme").out
    for part in ("supplier paper", "about matrix://cortex/Fact/acme", "0.25", "a letter"):
        assert part in text


def test_history_and_older_snapshots_show_what_was(office: Shell) -> None:
    history = office("memory", "show", "Fact/office", "--history", "--json").document["versions"]
    assert [one["text"] for one in history] == ["The office is in Oslo", "The office is in Bergen"]
    root = office("memory", "snapshot", "1", "--json").document["root"]
    for at in ("1", root):
        assert office("memory", "show", "Fact/office", "--at", at, "--json").document["version"] == 1
        assert len(office("memory", "list", "--at", at, "--json").document["memories"]) == 1
        assert office("memory", "find", "bergen", "--at", at, "--json").document["memories"] == []
    assert office("memory", "show", "Fact/office@v1", "--json").document["version"] == 1


def test_a_text_comes_from_standard_input(mcl: Shell) -> None:
    done = mcl.fed("Möte på fredag\n".encode(), "memory", "add", "Event", "-", "--json")
    assert done.document["text"] == "Möte på fredag"
    assert mcl.fed(b"\xff", "memory", "add", "Event", "-").code == 2
    assert mcl.fed(b"", "memory", "add", "Event", "-").code == 2


def test_a_file_is_imported_whole_and_importing_it_again_changes_nothing(mcl: Shell) -> None:
    lines = [{"type": "Fact", "text": f"fact {n}", "id": f"f{n}", "tags": ["x"]} for n in range(5)]
    Path("facts.jsonl").write_text("\ufeff" + "\r\n".join(map(json.dumps, lines)) + "\n\n")
    first = mcl("memory", "add", "--file", "facts.jsonl", "--json").document
    assert (first["lines"], first["written"], first["unchanged"]) == (5, 5, 0)
    again = mcl("memory", "add", "--file", "facts.jsonl", "--json").document
    assert (again["written"], again["unchanged"], again["root"]) == (0, 5, first["root"])
    assert "5 lines: 0 remembered, 5 were known" in mcl("memory", "add", "--file", "facts.jsonl").out


def test_a_wrong_line_is_told_with_its_number_and_nothing_is_remembered(mcl: Shell) -> None:
    data = b'{"type":"Fact","text":"good"}\n{"type":"Thing","text":"bad"}\n[]\nno json\n'
    done = mcl.fed(data, "memory", "add", "--file", "-", "--json")
    assert done.code == 2
    error = json.loads(done.out)["error"]
    assert (error["code"], error["place"]) == ("IMPORT_INVALID", "-:2")
    assert [one["line"] for one in error["errors"]] == [2, 3, 4]
    assert mcl("memory", "list", "--json").document == {"memories": []}


def test_forgetting_asks_on_a_terminal_only(office: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    for answer, code, left in (("n\n", 4, 1), ("y\n", 0, 0)):
        with monkeypatch.context() as patch:
            ours, theirs = os.openpty()
            os.write(ours, answer.encode())
            patch.setattr(sys, "stdin", os.fdopen(theirs))
            done = office("memory", "remove", "Fact/office")
        assert done.code == code, done.err
        assert len(office("memory", "list", "--type", "Fact", "--json").document["memories"]) == left
    assert office("memory", "remove", "Fact/office").code == 2
    assert office("memory", "show", "Fact/office@v3", "--json").document["forgotten"] is True
    other = office("memory", "list", "--json").document["memories"][0]
    assert office("memory", "remove", other["uri"], "--yes", "--json").document["forgotten"] is True


def test_a_proof_is_checked_in_another_home(office: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    made = office("memory", "prove", "Fact/office@v1", "--since", "1", "--out", "proof.json", "--json")
    assert json.loads(Path("proof.json").read_text()) == made.document
    agent = next(
        one["did"] for one in office("key", "list", "--json").document["keys"] if one["role"] == "agent"
    )
    monkeypatch.setenv("MCL_HOME", "/nonexistent/home")
    report = office("memory", "verify", "proof.json", "--key", agent, "--json")
    assert report.code == 0
    assert report.document["ok"] is True
    assert report.document["proofs"][0]["text"] == "The office is in Oslo"
    assert office("memory", "verify", "proof.json").code == 0
    text = Path("proof.json").read_text()
    Path("forged.json").write_text(text.replace("Oslo", "Rome"))
    forged = office("memory", "verify", "proof.json", "forged.json")
    assert forged.code == 6
    assert "wrong" in forged.out
    Path("none.json").write_text("{}")
    for name in ("none.json", "nosuch.json", "."):
        none = office("memory", "verify", name, "--json")
        error = json.loads(none.out)["error"]
        assert (none.code, error["code"], error["place"]) == (6, "PROOF_SHAPE", name)
        assert "mcl memory prove" in error["fix"]


def test_the_whole_home_is_checked(office: Shell) -> None:
    good = office("memory", "verify", "--json")
    assert good.code == 0
    assert (good.document["mutations"], good.document["records"], good.document["memories"]) == (3, 3, 2)
    assert "nothing wrong" in office("memory", "verify").out
    import sqlite3

    connection = sqlite3.connect(office.home / "mcl.db")
    connection.execute("DELETE FROM memories WHERE seq = 1")
    connection.commit()
    connection.close()
    bad = office("memory", "verify")
    assert bad.code == 6
    assert "INDEX_MISMATCH" in bad.out
    assert office("memory", "verify", "--reindex").code == 0


def test_learning_is_told_and_switched(mcl: Shell) -> None:
    assert mcl("memory", "learning", "--json").document == {"learning": "on"}
    assert mcl("memory", "learning", "off", "--json").document == {"learning": "off"}
    assert "off" in mcl("memory", "learning").out
    assert mcl("memory", "learning", "on", "--json").document == {"learning": "on"}


def test_a_secret_is_taken_out_and_told(mcl: Shell) -> None:
    done = mcl("memory", "add", "Fact", "the key is AKIAABCDEFGHIJKLMNOP")
    assert "a secret was taken out" in done.err
    assert "AKIA" not in done.out
    assert b"AKIAABCDEFGHIJKLMNOP" not in (mcl.home / "mcl.db").read_bytes()


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (("add", "Thing", "x"), "MEMORY_SHAPE"),
        (("add", "Fact"), "USAGE"),
        (("add", "Fact", "x", "--edge", "nothing"), "USAGE"),
        (("add", "Fact", "x", "--edge", "REL=y"), "MEMORY_SHAPE"),
        (("add", "Fact", "x", "--tag", "UPPER"), "MEMORY_SHAPE"),
        (("add", "Fact", "x", "--importance", "2"), "USAGE"),
        (("add", "Fact", "x", "--id", "../x"), "MEMORY_SHAPE"),
        (("add", "Fact", "a\x07b"), "MEMORY_SHAPE"),
        (("add", "--file", "absent.jsonl"), "SYSTEM"),
        (("add", "Fact", "--file", "x"), "USAGE"),
        (("show", "Fact/absent"), "MEMORY_UNKNOWN"),
        (("show", "Thing/a"), "MEMORY_ADDRESS"),
        (("show", "Fact/absent", "--history"), "MEMORY_UNKNOWN"),
        (("remove", "Fact/absent"), "MEMORY_UNKNOWN"),
        (("find", "x", "--type", "Fakt"), "MEMORY_TYPE"),
        (("list", "--at", "99"), "SNAPSHOT_UNKNOWN"),
        (("list", "--at", "zz"), "SNAPSHOT_UNKNOWN"),
        (("list", "--at", "f" * 64), "SNAPSHOT_UNKNOWN"),
        (("prove", "Fact/absent"), "MEMORY_UNKNOWN"),
        (("verify", "absent.json"), "PROOF_SHAPE"),
        (("verify", "--key", "did:key:x"), "USAGE"),
        (("learning", "perhaps"), "USAGE"),
    ],
)
def test_what_cannot_be_done_is_told_with_a_code(mcl: Shell, command: tuple[str, ...], code: str) -> None:
    done = mcl("memory", *command, "--json")
    assert done.code in (2, 5, 6)
    error = json.loads(done.out)["error"]
    assert error["code"] == code
    assert error["fix"]
    assert "Traceback" not in done.err


def test_an_answer_that_was_accepted_is_proposed_the_next_time(mcl: Shell) -> None:
    goal = ("write a report", "--skill", "files-report", "--slot", "folder=notes", "--no-ai")
    asked = mcl("compile", *goal, "--json")
    assert asked.code == 3
    [question] = asked.document["questions"]
    assert mcl("answer", "@last", f"{question['id']}=out.md", "--no-ai").code == 0
    signed = mcl("accept", "@last", "--yes", "--json").document
    assert len(signed["remembered"]) == 1
    again = mcl("compile", *goal)
    assert again.code == 0
    assert "remembered" in again.out
    assert "report is “out.md”" in again.out
    replayed = mcl("replay", "@last", "--json")
    assert (replayed.code, replayed.document["same"]) == (0, True)
    assert mcl("memory", "remove", signed["remembered"][0], "--yes").code == 0
    assert mcl("compile", *goal).code == 3
    assert mcl("memory", "verify").code == 0
    assert mcl("log", "verify").code == 0
