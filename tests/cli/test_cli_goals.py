"""`mcl compile --goal … --expires …`, `mcl list --goal`, and an accept that comes too late."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Shell


def compiled(mcl: Shell, *more: str) -> str:
    done = mcl(*Shell.COMPILE, "--json", *more)
    assert done.code == 0, done
    return str(done.document["intent"]["id"])


def listed(mcl: Shell, *more: str) -> list[str]:
    return [one["id"] for one in mcl("list", "--json", *more).document["intents"]]


def test_intents_of_one_goal_are_listed_together(mcl: Shell) -> None:
    first = compiled(mcl)
    second = compiled(mcl, "--goal", first)
    third = compiled(mcl, "--goal", "@last")  # that of the second, which is that of the first
    other = compiled(mcl, "--goal", "release-2.4")
    assert listed(mcl, "--goal", first) == [third, second, first]
    assert listed(mcl, "--goal", second) == [third, second, first]
    assert listed(mcl, "--goal", "@last") == [other]
    assert listed(mcl, "--goal", "release-2.4") == [other]
    assert listed(mcl, "--goal", first, "--limit", "1") == [third]
    assert listed(mcl, "--goal", first, "--state", "accepted") == []
    document = mcl("show", second, "--json").document
    assert document["intent"]["goal_id"] == first
    told = mcl("list", "--goal", "nothing")
    assert (told.code, "no intent is for the goal nothing" in told.out) == (0, True)


def test_an_expired_intent_is_not_accepted(mcl: Shell) -> None:
    late = compiled(mcl, "--at", "2026-11-20T10:00:00Z", "--expires", "2h")
    shown = mcl("show", late)
    assert "expires" in shown.out
    refused = mcl("accept", late, "--yes", "--json")
    assert refused.code != 0
    assert refused.document["error"]["code"] == "INTENT_EXPIRED"
    assert "mcl compile" in refused.document["error"]["fix"]
    assert mcl("show", late, "--json").document["state"] == "proposed"
    timely = compiled(mcl, "--expires", "2h")
    assert mcl("accept", timely, "--yes").code == 0
    assert mcl("run", timely, "--deny-gates").code == 0


@pytest.mark.parametrize(
    ("option", "value", "code"),
    [
        ("--goal", "two words", "GOAL_NAME"),
        ("--expires", "yesterday", "TIME_INVALID"),
        ("--constraint", "x:words.atmost", "NOT_AN_ASSIGNMENT"),
        ("--constraint", "words={}", "CONSTRAINT_KIND"),
        ("--constraint", "x:words.atmost={", "CONSTRAINT_DATA"),
    ],
)
def test_what_is_none_is_refused_and_nothing_is_kept(mcl: Shell, option: str, value: str, code: str) -> None:
    refused = mcl(*Shell.COMPILE, "--json", option, value)
    assert refused.code != 0
    assert refused.document["error"]["code"] == code
    assert refused.document["error"]["fix"]
    assert listed(mcl) == []


def test_a_constraint_that_no_plug_in_here_looks_at_is_asked_about(mcl: Shell) -> None:
    asked = mcl(*Shell.COMPILE, "--json", "--constraint", 'x:words.atmost={"words": 500}')
    assert asked.code == 3
    (question,) = asked.document["questions"]
    assert question["field"] == 'promise.x:words.atmost {"words":500}'
    assert mcl("answer", "@last", "u1=leave it out", "--no-ai").code == 0
