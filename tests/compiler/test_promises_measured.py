"""Words of a goal become what can be looked at at the end: a number that a node gives, a command that exits
with 0, a key that is called so; and whatever else is asked about, with the reason."""

from __future__ import annotations

from typing import Any

import pytest
from nacl.signing import SigningKey

from executor import Home
from ir import did_of
from mcl.catalog.tools.foreign import all_tools
from mcl.compiler.compiler import Clarify, Compiled, Outcome, recompile_with_answers
from mcl.compiler.stages.commands import CommandWords
from mcl.compiler.stages.limit_words import Around
from mcl.compiler.stages.promises import KeptWords
from mcl.language.mtx.core import load_core
from mcl.language.skills import Skills
from tests.compiler.conftest import Scripted, compile_with

KIM = did_of(bytes(SigningKey(b"k" * 32).verify_key))
TESTS = "matrix://tool/process/tests@1.0.0"
SIGN = "sign it off yourself at the end"


def ask(home: Home, skills: Skills, goal: str, **says: Any) -> Outcome:
    model = Scripted(says={"slot.item": "paper", **says})
    return compile_with(goal, home=home, skills=skills, model=model, tools=lambda: all_tools(home))


def promises(outcome: Outcome) -> list[tuple[str, str, str]]:
    assert isinstance(outcome, Compiled), outcome
    assert outcome.plan is not None
    return [(one.says, one.standing, one.by) for one in outcome.plan.promises]


def why(outcome: Outcome) -> str:
    assert isinstance(outcome, Clarify), outcome
    (question,) = outcome.questions
    assert question.field.startswith("promise.")
    return question.prompt


@pytest.mark.parametrize(
    ("words", "says"), [("at least 10 size", "size at least 10"), ("size >= 1", "size at least 1")]
)
def test_a_number_that_a_node_gives_is_its_measure(home: Home, skills: Skills, words: str, says: str) -> None:
    done = ask(home, skills, f"order paper, {words}", quality=words)
    assert promises(done) == [(says, "checked", "note.output.size")]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("at least 4 stars", "No call of the plan measures it; measured are note.output.size"),
        ("at least 90 % size", "Note.output.size is a count, and no share of a whole"),
        ("at least 90 % coverage", "No call of the plan measures it"),
    ],
)
def test_a_measure_that_no_node_gives_is_asked_about(
    home: Home, skills: Skills, words: str, reason: str
) -> None:
    asked = ask(home, skills, f"order paper, {words}", quality=words)
    assert reason in why(asked)


@pytest.mark.parametrize(
    "words",
    ["the tests pass", "all tests pass", "The tests pass.", "testerna går igenom", "“the test suite passes”"],
)
def test_the_tests_pass_is_a_command(home: Home, skills: Skills, words: str) -> None:
    done = ask(home, skills, f"order paper, done when {words}", external=words)
    assert isinstance(done, Compiled), done
    (criterion,) = done.intent.frame.success_criteria
    assert criterion.model_dump() == {"type": "command", "tool_ref": TESTS, "args": {}}
    assert promises(done) == [(f"{TESTS} exits with status 0", "checked", "")]


@pytest.mark.parametrize(
    "words", ["the tests pass on the mainframe", "some tests pass", "the tests", "smoke passes", "passes"]
)
def test_anything_more_is_asked_about(home: Home, skills: Skills, words: str) -> None:
    assert "It names no address" in why(ask(home, skills, f"order paper once {words}", external=words))


def test_a_negation_before_it_is_no_promise_that_it_passes(home: Home, skills: Skills) -> None:
    goal = "order paper even if not all tests pass"
    assert "It names no address" in why(ask(home, skills, goal, external="all tests pass"))


@pytest.mark.parametrize(
    "words", ["smoke passes", "the command smoke exits with 0", "kommandot smoke lyckas"]
)
def test_a_declared_command_is_meant_by_its_name(home: Home, skills: Skills, words: str) -> None:
    place = home.path / "commands.toml"
    place.write_text('[smoke]\ndescription = "Smoke."\nversion = "2.1.0"\nargv = ["true"]\n')
    done = ask(home, skills, f"order paper once {words}", external=words)
    assert isinstance(done, Compiled)
    (criterion,) = done.intent.frame.success_criteria
    assert criterion.model_dump()["tool_ref"] == "matrix://tool/process/run-smoke@2.1.0"


def test_a_declared_command_that_needs_more_is_asked_about(home: Home, skills: Skills) -> None:
    text = '[smoke]\ndescription = "Smoke."\nargv = ["echo", "{what}"]\nargs.what = { type = "string" }\n'
    (home.path / "commands.toml").write_text(text)
    asked = ask(home, skills, "order paper once smoke passes", external="smoke passes")
    assert "needs the argument what" in why(asked)


def test_its_answer_makes_a_sign_off_of_a_command(home: Home, skills: Skills) -> None:
    text = '[smoke]\ndescription = "Smoke."\nargv = ["echo", "{what}"]\nargs.what = { type = "string" }\n'
    (home.path / "commands.toml").write_text(text)
    asked = ask(home, skills, "order paper once smoke passes", external="smoke passes")
    assert isinstance(asked, Clarify)
    done = recompile_with_answers(
        asked.intent.id,
        {"u1": SIGN},
        home=home,
        skills=skills,
        load_model=lambda: pytest.fail("asked again"),
        tools=lambda: all_tools(home),
    )
    assert promises(done) == [("whoever accepted it signs it off: smoke passes", "signed_off", "")]


def test_who_attests_what_has_no_address_signs_it_off(home: Home, skills: Skills) -> None:
    home.keyring.trust(KIM, "user", label="Kim")
    asked = ask(home, skills, "order paper, audited by KPMG", attestation="KPMG")
    assert "Attestations cite addresses" in why(asked)
    assert isinstance(asked, Clarify)
    assert asked.questions[0].options[0] == "Kim"
    done = recompile_with_answers(
        asked.intent.id,
        {"u1": "Kim"},
        home=home,
        skills=skills,
        load_model=lambda: pytest.fail("asked again"),
    )
    assert promises(done) == [(f"{KIM} signs it off: KPMG", "signed_off", "")]


def test_who_attests_an_address_is_the_key_that_is_called_so(home: Home, skills: Skills) -> None:
    home.keyring.trust(KIM, "agent", label="Builder")
    words = "file:report.md by builder"
    done = ask(home, skills, f"order paper, attested: {words}", attestation=words)
    assert promises(done) == [(f"{KIM} has attested file:report.md", "checked", "")]


def test_words_are_read_in_no_time_whatever_they_are() -> None:
    import time

    read = CommandWords.of(load_core()["predicate"]).read
    started = time.monotonic()
    for bomb in ("a " * 4000 + "passes", "the command " * 700, "a" * 8000, " passes" * 1200, "`" * 8000):
        assert read(bomb, dict) is None
    assert time.monotonic() - started < 1


def test_words_of_rules_are_read_in_bounded_time_whatever_they_are() -> None:
    import time

    kept = KeptWords.of(load_core()["promise"])
    kept.found("never change anything, only in src/a and src/b")  # the patterns are made once
    for bomb in (
        "only in " + ", ".join(f"a{number}/b" for number in range(1500)),
        "only in " + "a/" * 4000 + "!",
        "nothing outside " + "'a " * 2600,
        "never change " * 600,
        "only in (a+)+$ " * 500,
        "only from " + "a-" * 4000,
    ):
        started = time.monotonic()
        kept.found(bomb[:8192])
        assert kept.kept(bomb[:8192], Around()) == ""
        assert time.monotonic() - started < 5
