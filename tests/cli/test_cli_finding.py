"""Finding an intent again: by its place, its end, its words; and why it was understood just so."""

from __future__ import annotations

import pytest

from mcl.cli.views.layout import age
from tests.cli.test_cli_door import MCL, at_terminal, clean


@pytest.fixture
def three(mcl) -> list[str]:
    """The ids of three intents, the newest last."""
    given = ("--no-ai", "--skill", "files-find", "--verb", "find", "--slot", "folder=notes", "--json")
    words = ("invoice", "plumber", "coffee")
    return [
        mcl("compile", f"find {word} in notes", *given, "--slot", f"text={word}").document["id"]
        for word in words
    ]


def test_an_intent_is_named_by_its_place_or_the_end_of_its_id(mcl, three):
    names = {"@last": 2, "@1": 2, "@last-1": 1, "@2": 1, "@last-2": 0, "@3": 0, three[1][-8:].lower(): 1}
    for name, place in names.items():
        assert mcl("show", name, "--json").document["id"] == three[place], name
    for wrong in ("@4", "@last-3", "@0", "@last-", "@last-x", "@-1", three[0][-3:], "@" + "9" * 40):
        refused = mcl("show", wrong)
        assert (refused.code, "INTENT_UNKNOWN" in refused.err) == (2, True), wrong
    assert "there are 3 intents" in mcl("show", "@4").err
    assert mcl("compile", "find tea in notes", "--no-ai", "--goal", "@2", "--dry-run").code != 2


def test_the_list_is_searched_and_tells_ages_and_ends_of_ids(mcl, three):
    found = mcl("list", "find", "COFFEE", "--json").document["intents"]
    assert [(one["id"], one["number"]) for one in found] == [(three[2], 1)]
    shown = mcl("list").out
    assert all(id[-8:] in shown and id not in shown for id in three)
    assert shown.count("just now") == 3
    assert "@3" in shown
    assert mcl("list", "nothing", "of", "this").out == "no intent says nothing of this\n"
    assert mcl("list", "--limit", "1", "find", "--json").document["intents"][0]["id"] == three[2]


def test_ages_are_told_in_the_unit_that_a_person_would_choose():
    now = "2026-11-27T10:00:00.000Z"
    told = [
        age(f"2026-11-{at}.000Z", now) for at in ("27T09:59:30", "27T09:57:00", "27T06:00:00", "24T09:00:00")
    ]
    assert told == ["just now", "3 min ago", "4 h ago", "3 d ago"]
    assert age("2026-10-01T00:00:00.000Z", now) == "2026-10-01"
    assert age("2026-11-28T00:00:00.000Z", now) == "2026-11-28"


def test_a_list_that_is_longer_than_the_terminal_goes_through_the_pager(mcl, three):
    for lines, found in (("20", 3), ("2", 2)):
        variables = clean(mcl.home, PAGER="tail -n 2", LINES=lines, TERM="xterm")
        code, said = at_terminal([*MCL, "list"], variables, mcl.folder)
        assert (code, said.count("find ")) == (0, found)
    for pager in ("no-such-pager", "cat", ""):
        variables = clean(mcl.home, PAGER=pager, LINES="2", TERM="xterm")
        assert at_terminal([*MCL, "list"], variables, mcl.folder)[1].count("find ") == 3
    assert mcl("list").out.count("find ") == 3


def test_why_tells_what_was_chosen_read_and_remembered(mcl):
    mcl("memory", "add", "Preference", "notes are in the folder notes", "--id", "notes", "--tag", "files")
    id = mcl("compile", "which files in notes mention invoice", "--json").document["id"]
    rows = len(mcl("log", "--json").document["rows"])
    why = mcl("why", "--json").document
    assert (why["intent"], why["same"], why["why"]["skill"]) == (id, True, "files-find")
    assert why["why"]["skills"][0]["skill"] == "files-find"
    assert len(why["why"]["skills"]) > 1  # the runner-up too
    assert {("slot.text", "invoice"), ("slot.folder", "notes")} <= {
        (one["field"], one["words"]) for one in why["why"]["readings"]
    }
    shown = mcl("why", "@last").out
    assert "Why" in shown
    assert "memory" in shown
    assert len(mcl("log", "--json").document["rows"]) == rows  # nothing is kept
    asked = mcl(
        "compile", "write a report", "--no-ai", "--skill", "files-report", "--verb", "deliver", "--json"
    )
    assert asked.code == 3
    assert mcl("why", "--json", "--no-ai").document["why"]["outcome"] == "clarify"
    assert mcl("compile", "how are you").code == 4
    assert mcl("why", "--json").document["why"]["outcome"] == "refused"
    assert mcl("why", "@9").code == 2


def test_what_nobody_said_in_words_has_no_why(mcl):
    assert mcl("tool", "call", "fs/read", "path=notes/monday.txt", "--yes").code == 0
    refused = mcl("why")
    assert (refused.code, "NOT_COMPILED" in refused.err) == (2, True)
