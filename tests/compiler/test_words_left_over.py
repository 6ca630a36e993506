"""Words that may say something and were read as nothing: nobody is asked, but the compile is to be read."""

from __future__ import annotations

import pytest

from mcl.compiler.compiler import Clarify, Compiled
from mcl.model import form
from mcl.model.protocol import REST, Span
from tests.compiler.conftest import Compile, Scripted

PROSE = "order paper for the office"


def left(word: str, probability: float) -> Span:
    start = PROSE.index(word)
    return Span(REST, word, start, start + len(word), probability)


def test_a_word_that_may_say_something_makes_a_compile_one_to_be_read(compiles: Compile) -> None:
    sure = compiles(PROSE, Scripted(says={"slot.item": "paper"}))
    doubted = compiles(PROSE, Scripted(says={"slot.item": "paper"}, spans=(left("office", 0.4),)))
    assert isinstance(sure, Compiled)
    assert not sure.review
    assert isinstance(doubted, Compiled)
    assert doubted.review
    assert "“for the office”" in doubted.advice
    assert doubted.intent.frame == sure.intent.frame
    assert doubted.intent.confidence == pytest.approx(sure.intent.confidence * 0.4, abs=1e-4)
    less = compiles(PROSE, Scripted(says={"slot.item": "paper"}, spans=(left("office", 0.85),)))
    assert isinstance(less, Compiled)
    assert less.intent.confidence == pytest.approx(sure.intent.confidence * 0.85, abs=1e-4)


def test_the_least_certain_word_counts_and_none_that_a_span_took(compiles: Compile) -> None:
    spans = (left("for", 0.9), left("office", 0.6), left("paper", 0.1))
    outcome = compiles(PROSE, Scripted(says={"slot.item": "paper"}, spans=spans))
    assert isinstance(outcome, Compiled)
    assert "“for the office”" in outcome.advice


def test_what_is_asked_anyway_is_asked_as_before(compiles: Compile) -> None:
    unsure = {"slot.item": 0.3}
    plain = compiles(PROSE, Scripted(says={"slot.item": "paper"}, certainty=unsure))
    doubted = compiles(
        PROSE, Scripted(says={"slot.item": "paper"}, certainty=unsure, spans=(left("office", 0.4),))
    )
    assert isinstance(plain, Clarify)
    assert isinstance(doubted, Clarify)
    assert doubted.questions == plain.questions


def test_words_are_doubted_that_no_span_has_and_that_are_not_surely_nothing() -> None:
    units = form.words("buy tea soon please")
    names = ("none", "in", "item", *form.FIELDS)

    def row(**said: float) -> list[float]:
        return [said.get({"in": "within"}.get(name, name), 0.0) for name in names]

    rows = [row(none=1.0), row(item=0.9, none=0.1), row(none=0.7, deadline=0.3), row(none=0.99, within=0.01)]
    assert form.doubts("buy tea soon please", units, rows) == [form.Found(REST, "soon", 8, 12, 0.7)]


def test_a_word_that_the_skill_says_of_itself_is_not_left_over(compiles: Compile) -> None:
    prose = "order paper things from suppliers"
    start = prose.index("suppliers")
    spans = (Span(REST, "suppliers", start, start + len("suppliers"), 0.4),)
    outcome = compiles(prose, Scripted(says={"slot.item": "paper"}, spans=spans))
    assert isinstance(outcome, Compiled)
    assert outcome.reasons is not None
    assert outcome.reasons.left_over is None
