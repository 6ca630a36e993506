"""Questions on a terminal: asked at once, one by one; in scripts they are left for `mcl answer`."""

from __future__ import annotations

import re

from mcl.cli.main import INTERRUPTED
from tests.cli.test_cli_terminal import Terminal

REPORT = ("compile", "write a report", "--no-ai", "--skill", "files-report", "--verb", "deliver")


def test_a_question_is_asked_at_once_and_its_answer_compiles_the_goal(mcl):
    asked = Terminal(mcl, *REPORT)
    asked.until("Which new file should the report be written to")
    asked.until("> ")
    asked.type("out.md\n")
    assert asked.end() == 0
    assert "out.md" in asked.seen.rsplit("> ", 1)[1]
    shown = mcl("show", "@last", "--json").document
    assert shown["state"] == "proposed"
    assert {"name": "report", "type": "string", "value": "out.md"} in shown["intent"]["frame"]["objects"]


def test_an_answer_that_cannot_be_read_is_asked_again_with_the_reason_and_costs_no_round(mcl):
    asked = Terminal(
        mcl,
        *("compile", "remind me to call Anna on the 12/01", "--no-ai"),
        *("--skill", "schedule-reminder", "--verb", "schedule", "--slot", "title=call Anna"),
    )
    asked.until("> ")
    asked.type("someday\n")
    asked.until("is not a day and time that can be read in just one way")
    asked.type("3 December 2199 at 9:00\n")
    assert asked.end() == 0
    assert "It is not clear yet" not in asked.seen
    objects = mcl("show", "@last", "--json").document["intent"]["frame"]["objects"]
    assert "2199-12-03T09:00:00.000Z" in [one["value"] for one in objects]


def test_what_is_needed_takes_no_empty_answer(mcl):
    asked = Terminal(mcl, *REPORT)
    asked.until("> ")
    asked.type("\n")
    asked.until("An answer is needed here")
    asked.type("-\n")  # no word for "leave it out" where that cannot be
    assert asked.end() == 0


def test_ctrl_d_leaves_the_goal_waiting_and_says_how_to_go_on(mcl):
    asked = Terminal(mcl, *REPORT)
    asked.until("> ")
    asked.type("\x04")
    assert asked.end() == 3
    assert "mcl answer 0" in asked.seen.rsplit("> ", 1)[1]
    assert mcl("show", "@last", "--json").document["state"] == "clarifying"
    again = Terminal(mcl, "answer", "@last", "--no-ai")
    again.until("write a report")
    again.until("> ")
    again.type("later.md\n")
    assert again.end() == 0
    assert mcl("show", "@last", "--json").document["state"] == "proposed"


def test_ctrl_c_leaves_the_goal_waiting_too(mcl):
    asked = Terminal(mcl, *REPORT)
    asked.until("> ")
    assert asked.interrupt() == INTERRUPTED
    assert "mcl answer 0" in asked.seen
    assert "Traceback" not in asked.seen
    assert mcl("show", "@last", "--json").document["state"] == "clarifying"


def test_an_option_is_chosen_by_its_number_and_what_is_offered_by_enter(mcl):
    asked = Terminal(mcl, "compile", "granite and marble", "--no-ai", "--skill", "data-summary")
    asked.until("Which CSV file")
    asked.until("> ")
    asked.type("t.csv\n")
    asked.until("number or text")
    assert re.search(r"1\s+analyze\s+2\s+build", re.sub(r"\x1b\[[0-9;]*m", "", asked.seen))
    asked.type("1\n")
    asked.until("Enter: leave it out")
    asked.type("\n")
    assert asked.end() == 0, asked.seen
    intent = mcl("show", "@last", "--json").document["intent"]
    assert intent["frame"]["verb"] == "analyze"


def test_a_limit_that_could_not_be_read_is_not_lost_by_enter_alone(mcl):
    asked = Terminal(mcl, "compile", "order a desk with a budget of 5k", "--no-ai")
    asked.until("-: leave it out")
    asked.type("\n")
    asked.until("or - to leave it out")
    asked.type("-\n")
    assert asked.end() == 0, asked.seen


def test_scripts_pipes_and_no_ask_leave_the_questions(mcl):
    quiet = Terminal(mcl, *REPORT, "--no-ask")
    assert quiet.end() == 3
    assert "u1=" in quiet.seen
    document = Terminal(mcl, *REPORT, "--json")
    assert document.end() == 3
    assert '"questions"' in document.seen
    piped = mcl.other(*REPORT, stdin=b"out.md\n")
    assert piped.code == 3
    missing = mcl("answer", "@last", "--no-ai")
    assert (missing.code, "ANSWER_MISSING" in missing.err) == (2, True)
