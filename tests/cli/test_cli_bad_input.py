"""Bad input, bad files and bad models: a clear error, an exit code, nothing lost, no traceback."""

from __future__ import annotations

import json

import pytest


def refused(done, code: int, name: str) -> None:
    """The command ended with an error that a person and a program can use."""
    assert done.code == code, done.out + done.err
    assert name in done.err
    assert "error: " in done.err
    assert "Traceback" not in done.err + done.out


@pytest.mark.parametrize(
    ("arguments", "code", "name"),
    [
        (("compile", "", "--no-ai"), 2, "GOAL_EMPTY"),
        (("compile", " \t\n ", "--no-ai"), 2, "GOAL_EMPTY"),
        (("compile", "word " * 20_000, "--no-ai"), 2, "GOAL_TOO_LONG"),
        (("compile", "a goal", "--no-ai", "--skill", "nosuch"), 2, "SKILL_UNKNOWN"),
        (("compile", "a goal", "--no-ai", "--verb", "frobnicate"), 2, "VERB_UNKNOWN"),
        (("compile", "a goal", "--no-ai", "--slot", "folder"), 2, "NOT_AN_ASSIGNMENT"),
        (("compile", "a goal", "--no-ai", "--slot", "a=1", "--slot", "a=2"), 2, "GIVEN_TWICE"),
        (("compile", "a goal", "--no-ai", "--at", "yesterday"), 2, "TIME_INVALID"),
        (("compile", "a goal", "--no-ai", "--id", "short"), 2, "ID_INVALID"),
        (("compile", "a goal", "--no-ai", "--zone", "Mars/Olympus"), 2, "ZONE_UNKNOWN"),
        (("compile", "a goal", "--no-ai", "--skills", "nosuch"), 2, "NO_FOLDER"),
        (("compile", "a goal", "--model", "nosuch.gguf"), 2, "MODEL_MISSING"),
        (("compile", "a goal", "--model", "notes/monday.txt"), 2, "MODEL_NOT_GGUF"),
        (("compile",), 2, "USAGE"),
        (("compile", "a goal", "--frobnicate"), 2, "USAGE"),
        (("list", "--nosuch"), 2, "USAGE"),
        (("run", "@last", "--yes-gates", "--deny-gates"), 2, "USAGE"),
        (("list", "--limit", "-1"), 2, "USAGE"),
        (("show", "@last"), 2, "INTENT_UNKNOWN"),
        (("accept", "01K", "--yes"), 2, "INTENT_UNKNOWN"),
        (("log", "prove", "2"), 6, "ROW_UNKNOWN"),
        (("key", "trust", "did:key:nonsense", "--role", "user"), 2, "DID_NOT_ED25519"),
        (("key", "revoke", "did:key:z6MkfKJcduERTc6a1Q39pXmphXpG3iXqGVo1d4BXbo323rdm"), 4, "KEY_UNKNOWN"),
        (("skill", "show", "nosuch"), 2, "SKILL_UNKNOWN"),
        (("model", "use", "nosuch"), 2, "MODEL_UNKNOWN"),
        (("gate", "approve", "01K"), 2, "GATE_UNKNOWN"),
    ],
)
def test_each_bad_input_is_an_error_with_a_code_and_a_way_out(mcl, arguments, code, name):
    refused(mcl(*arguments), code, name)


def test_a_verb_that_there_is_not_is_answered_with_those_there_are(mcl):
    assert "find, acquire, build" in mcl("compile", "a goal", "--no-ai", "--verb", "frobnicate").err


def test_with_json_the_error_is_also_one_document_on_standard_output(mcl):
    done = mcl("show", "@last", "--json")
    assert done.code == 2
    assert done.document["error"].keys() >= {"code", "message", "place", "fix"}
    assert done.document["error"]["code"] == "INTENT_UNKNOWN"


def test_standard_input_may_give_the_goal_but_only_as_text(mcl):
    good = mcl.fed(b"list the notes\n", "compile", "-", *mcl.COMPILE[2:], "--json")
    assert good.code == 0, good.err
    assert json.loads(good.out)["intent"]["prose"] == "list the notes"
    for data, name in (
        (b"\xff\xfe\x00binary", "GOAL_NOT_TEXT"),
        (b"list\0the notes", "GOAL_NOT_TEXT"),
        (b"x" * 100_000, "GOAL_TOO_LONG"),
    ):
        refused(mcl.fed(data, "compile", "-", "--no-ai"), 2, name)


@pytest.mark.parametrize("long", [b"list the notes " * 5_000, "list the notes é漢 ".encode() * 5_000])
def test_a_goal_on_standard_input_is_cut_however_long_it_is_where_that_is_asked_for(mcl, long):
    done = mcl.fed(long, "compile", "-", *mcl.COMPILE[2:], "--truncate", "--json")
    assert done.code == 0, done.err
    prose = json.loads(done.out)["intent"]["prose"]
    assert 8_000 < len(prose) <= 8_192
    assert long.decode().startswith(prose)
    assert "--truncate" in mcl.fed(long, "compile", "-", "--no-ai").err


def test_a_damaged_model_file_names_itself_and_the_way_without_one(mcl):
    (mcl.folder / "cut.gguf").write_bytes(b"GGUF\x03\0\0\0" + b"\x01" * 20)
    done = mcl("compile", "a goal", "--model", "cut.gguf")
    assert done.code == 2
    assert "cut.gguf" in done.err
    assert "--no-ai" in done.err


def test_a_home_that_is_a_file_or_damaged_is_named(mcl):
    mcl.home.write_text("in the way")
    refused(mcl("list"), 5, "HOME_UNREADABLE")
    mcl.home.unlink()
    assert mcl("init").code == 0
    (mcl.home / "mcl.db").write_bytes(b"\x13" * 8192)
    refused(mcl("list"), 6, "DATABASE_CORRUPT")


def test_two_processes_at_once_both_finish_and_the_journal_holds(mcl):
    both = [mcl.start(*mcl.COMPILE, "--json") for _ in range(2)]
    ended = [one.communicate(timeout=60) for one in both]
    assert [one.returncode for one in both] == [0, 0], ended
    assert len({json.loads(out)["id"] for out, _ in ended}) == 2
    assert len(mcl("list", "--json").document["intents"]) == 2
    assert mcl("log", "verify").code == 0


def test_a_fault_of_ours_is_told_in_a_line_and_its_trace_only_on_request(mcl, monkeypatch):
    monkeypatch.setattr("mcl.usecases.intents.list_intents", lambda **_: 1 / 0)
    done = mcl("list")
    assert done.code == 70
    assert "ZeroDivisionError" in done.err
    assert "MCL_DEBUG=1" in done.err
    assert "Traceback" not in done.err
    monkeypatch.setenv("MCL_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        mcl("list")
