"""Answers through the library: what the model said the first time is not asked again."""

from __future__ import annotations

import pytest

from mcl import answer, compile_goal, replay
from mcl.compiler.compiler import Clarify, Compiled
from mcl.core.errors import InputError
from mcl.usecases.compile import check_answer


@pytest.fixture
def asked(home) -> Clarify:
    """A goal compiled with the bundled model, which leaves a question."""
    outcome = compile_goal("write a report", home=home, skill="files-report", verb="deliver")
    assert isinstance(outcome, Clarify)
    return outcome


def test_an_answer_opens_no_model(home, asked, monkeypatch):
    def opened(*_: object, **__: object) -> None:
        raise AssertionError("a model was opened")

    monkeypatch.setattr("mcl.usecases.models.Models.open", opened)
    done = answer(asked.intent.id, {"u1": "out.md"}, home=home)
    assert isinstance(done, Compiled)
    assert done.intent.compile_metadata.model_version == asked.intent.compile_metadata.model_version
    monkeypatch.undo()
    assert replay(done.intent.id, home=home).same


def test_an_answer_can_be_checked_before_it_is_given_and_nothing_is_stored(home, asked):
    id = asked.intent.id
    rows = len(home.journal.rows(id))
    check_answer(id, "u1", "out.md", home=home)
    for name, text, code in (("u9", "x", "ANSWER_UNKNOWN"), ("u1", "\0", "SLOT_VALUE")):
        with pytest.raises(InputError) as caught:
            check_answer(id, name, text, home=home)
        assert caught.value.code == code
    assert len(home.journal.rows(id)) == rows
