"""What a command says when it cannot do what was asked: in a person's words, with a way out that works."""

from __future__ import annotations

import pytest


def test_the_version_is_told(mcl):
    from mcl import __version__

    done = mcl("--version")
    assert (done.code, done.out) == (0, f"mcl {__version__}\n")


def test_the_verbs_that_may_be_named_are_in_the_help(mcl):
    from mcl.model.form import VERBS

    told = " ".join(mcl("compile", "--help").out.split())
    assert ", ".join(VERBS) in told


def test_an_unknown_state_is_an_error_and_an_empty_list_says_which_state_it_is_of(mcl):
    ids = [mcl.compiled() for _ in range(3)]
    mcl("cancel", ids[0])
    unknown = mcl("list", "--state", "bogus")
    assert unknown.code == 2
    assert "STATE_UNKNOWN" in unknown.err
    assert "proposed" in unknown.err
    assert mcl("list", "--state", "completed").out == "no intent is completed\n"
    found = mcl("list", "--state", "cancelled", "--limit", "1", "--json").document["intents"]
    assert [one["id"] for one in found] == [ids[0]], "the limit counts intents in that state"
    assert len(mcl("list", "--state", "proposed", "--limit", "1", "--json").document["intents"]) == 1


@pytest.mark.parametrize("words", [("cancel", "@last"), ("run", "@last"), ("answer", "@last", "u1=x")])
def test_an_ended_intent_sends_nobody_to_a_command_that_cannot_help(mcl, words):
    mcl.compiled()
    mcl("cancel", "@last")
    done = mcl(*words)
    assert done.code in (2, 4)
    assert "plan.step" not in done.err
    assert "mcl accept" not in done.err


def test_an_unreadable_answer_is_told_what_is_wanted_and_a_dropped_question_is_not_asked_again(mcl):
    mcl("compile", "remind me", "--no-ai", "--skill", "schedule-reminder", "--verb", "schedule")
    done = mcl("answer", "@last", "slot.when=nonsense", "--no-ai")
    assert done.code == 2
    assert "fix   answer with a day and time that can be read in just one way" in done.err
    mcl("cancel", "@last")
    assert "Questions" not in mcl("show", "@last").out


def test_the_end_of_standard_input_at_a_question_ends_its_line(mcl):
    goal = ("compile", "note that Anna is ill", "--no-ai", "--skill", "general", "--verb", "build")
    assert mcl(*goal).code == 0
    mcl("accept", "@last", "--yes")
    done = mcl.fed(b"", "run", "@last")
    assert done.code == 4
    assert "no answer refuses: \n" in done.err
