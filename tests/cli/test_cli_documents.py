"""One document on standard output with `--json`, with names to rely on; for people, text that is safe."""

from __future__ import annotations

import json
import re

import pytest

ALWAYS = {"ms", "stored", "cached"}
COMPILED = {"status", "id", "review", "intent", "plan", "no_plan", "unanswerable", "next", *ALWAYS}
SHOWN = {
    *("id", "state", "prose", "intent", "plan", "questions"),
    *("nodes", "outputs", "said", "accepted_by", "unseen", "reason", "next"),
}


def test_every_command_writes_the_document_that_programs_rely_on(mcl):
    made = mcl("init", "--json")
    assert made.document.keys() == {
        *("home", "created", "user", "agent", "grants", "unattended", "sealed"),
    }
    done = mcl(*mcl.COMPILE, "--json")
    assert done.document.keys() == COMPILED
    assert done.err == ""
    id = done.document["id"]
    expected = {
        ("show", id): SHOWN,
        ("list",): {"intents"},
        ("accept", id, "--yes"): {
            *("intent_id", "intent_hash", "plan_hash", "signed_by", "accepted_at", "envelope"),
            *("remembered", "unattended", "next"),
        },
        ("plan", id): {"intent", "state", "accepted", "plan", "verdicts"},
        ("replay", id): {"intent", "same", "of", "items"},
        ("log",): {"rows"},
        ("log", id): {"rows"},
        ("log", "verify"): {"ok", "rows", "root", "findings", "notes"},
        ("log", "head"): {"size", "root", "at", "from", "record"},
        ("log", "prove", "1", "--since", "2"): {"head", "inclusion", "consistency"},
        ("gate", "list"): {"gates"},
        ("key", "list"): {"keys"},
        ("key", "export"): {"did", "role", "label", "unattended"},
        ("plan", "check", id): {
            *("plan", "hash", "verb", "verb_from", "signed", "verdict", "exit", "missing", "flaws", "nodes"),
        },
        ("grant", "add", "shell"): {"agent", "grants", "hosts", "roots", "used"},
        ("grant", "remove", "shell"): {"agent", "grants", "hosts", "roots", "used"},
        (
            "grant",
            "list",
        ): {"agent", "grants", "hosts", "roots", "used"},
        ("skill", "list"): {"skills", "broken", "shadowed", "core"},
        ("skill", "hash", "general"): {"path", "digest"},
        ("model", "list"): {"models"},
        ("model", "show", "no-ai"): {"name", "digest", "file", "compile_cache"},
        ("model", "use", "no-ai"): {"name", "digest", "path", "in_use", "spaced", "fault"},
        ("key", "new", "--role", "agent"): {"did", "role"},
    }
    for words, names in expected.items():
        json_option = () if words == ("key", "export") else ("--json",)
        found = mcl(*words, *json_option)
        assert found.code == 0, (words, found.err)
        assert found.document.keys() == names, words


def test_a_run_writes_one_line_an_event_and_the_outcome_last(mcl):
    done = mcl("run", mcl.signed(), "--json")
    assert done.code == 0
    events = [json.loads(line) for line in done.out.splitlines()]
    assert [event["event"] for event in events] == ["run", "node", "node", "outcome"]
    assert [event["state"] for event in events[1:]] == ["running", "completed", "completed"]
    assert events[-1]["outputs"]["search"]["text"].startswith("notes/")
    assert done.err == ""


def test_refusals_and_questions_are_documents_too(mcl):
    refused = mcl("compile", "xyzzy plugh", "--no-ai", "--json")
    asked = mcl("compile", "look around", "--no-ai", "--skill", "code-search", "--json")
    if refused.code == 4:
        assert refused.document.keys() == {"status", "id", "reason", "message", "nearest", *ALWAYS}
    assert asked.code == 3
    assert asked.document.keys() == {"status", "id", "intent", "questions", "next", *ALWAYS}
    assert asked.document["questions"][0].keys() == {
        *("id", "field", "prompt", "type", "required", "options", "default"),
    }


def test_people_see_no_escapes_where_there_is_no_terminal(mcl):
    for words in (mcl.COMPILE, ("accept", "@last", "--yes"), ("run", "@last"), ("log",), ("skill", "list")):
        assert "\x1b" not in mcl(*words).out


def test_text_from_elsewhere_cannot_drive_the_terminal(mcl):
    hidden = "find \u202ereversed \u200bhidden words"
    done = mcl("compile", hidden, *mcl.COMPILE[2:])
    for bad in "\x1b\u202e\u200b":
        assert bad not in done.out
    (mcl.folder / "notes" / "evil.txt").write_text("invoice \x1b[31mred\x1b[0m \x07 \u202eend\n")
    mcl("accept", "@last", "--yes")
    ran = mcl("run", "@last")
    for bad in "\x1b\x07\u202e":
        assert bad not in ran.out


@pytest.mark.parametrize("width", ["30", "50", "80", "200"])
def test_narrow_terminals_lose_nothing(mcl, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", width)
    shown = mcl(*mcl.COMPILE)
    assert all(len(line) <= max(30, int(width)) for line in shown.out.splitlines())
    document = mcl("show", "@last", "--json").document
    together = re.sub(r"[\s↪]", "", shown.out)
    assert document["intent"]["hash"] in together
    assert f"mclaccept{document['id']}"[:20] in together


def test_a_reader_that_goes_away_ends_nothing_and_is_not_told_of(mcl):
    id = mcl.signed()
    for words in (("run", id, "--json"), ("log",), ("list",)):
        process = mcl.start(*words)
        process.stdout.close()
        err = process.stderr.read().decode()
        assert process.wait(timeout=60) in (0, 1), err
        assert err == ""
    assert mcl("show", id, "--json").document["state"] == "completed"


def test_why_a_goal_is_asked_about_is_shown_with_the_limit(mcl):
    asked = mcl("compile", "write a report", "--no-ai", "--skill", "files-report", "--why", "--dry-run")
    assert asked.code == 3
    why = asked.out[asked.out.index("\nWhy\n") :]
    assert "files-report  given" in why
    assert "asked about below 0.80" in why
    assert "asked: what blocks is always asked" in why
    told = mcl("compile", "write a report", "--no-ai", "--dry-run", "--why", "--json").document["why"]
    assert told["asked_below"] == 0.41
    assert told["skills"][0]["share"] >= told["skills"][1]["share"]


def test_why_is_not_told_unasked(mcl):
    assert "why" not in mcl("compile", "write a report", "--no-ai", "--dry-run", "--json").document


def test_why_open_questions_are_asked_is_told_later_too_and_nothing_is_stored_for_it(mcl):
    asked = mcl("compile", "write a report", "--no-ai", "--skill", "files-report", "--why", "--json").document
    rows = len(mcl("log", "@last", "--json").document["rows"])
    shown = mcl("show", "@last", "--why", "--json").document
    assert shown["why"] == asked["why"]
    assert "asked: what blocks is always asked" in mcl("show", "@last", "--why").out
    assert len(mcl("log", "@last", "--json").document["rows"]) == rows


def test_why_of_an_intent_without_questions_says_how_to_ask(mcl):
    mcl(*mcl.COMPILE)
    told = mcl("show", "@last", "--why")
    assert told.code == 0
    assert "mcl compile GOAL --why" in told.err
