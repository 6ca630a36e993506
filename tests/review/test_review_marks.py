"""Marks of a model that only chooses: notes at most, and only where it is sure enough."""

from __future__ import annotations

import pytest
from scripted import Tagger, inputs, piece

from benchmarks.marks import chosen
from mcl.model import load_model
from mcl.plugins.review.answer import answered, candidates, chunks, marking
from mcl.plugins.review.contract import MODES, contract
from mcl.plugins.review.finding_text import read_findings
from mcl.plugins.review.piece import piece_of
from mcl.plugins.review.question import read_question

CODE = "import os\n\n\ndef remove(name):\n    os.system('rm ' + name)\n\n\ndef add(a, b):\n    return a + b\n"


def asked(name="review", *pieces, mode="risk"):
    return read_question(name, inputs(*(pieces or (piece(CODE),)), mode=mode))


@pytest.mark.parametrize("mode", MODES)
def test_a_mark_is_a_note_whatever_label_is_chosen(mode):
    for label in contract(mode).labels:
        reading = read_findings(answered(Tagger(lambda _: "", pick=label), asked(mode=mode)))
        assert not reading.blocking
        assert {finding.severity for finding in reading.findings} == {"NOTE"}
        assert [finding.line for finding in reading.findings] == [1, 4, 8]
        assert all(f"would say {label}" in finding.body for finding in reading.findings)
        assert all("often wrong" in finding.body for finding in reading.findings)


def test_nothing_is_marked_below_the_threshold_or_where_no_label_is_chosen():
    threshold = marking().threshold
    assert answered(Tagger(lambda _: "", pick="RISK", share=threshold - 0.01), asked()) == "No findings."
    assert answered(Tagger(lambda _: "", pick=None, share=1.0), asked()) == "No findings."
    assert answered(Tagger(lambda _: "", pick="RISK", share=threshold), asked()) != "No findings."


def test_a_model_that_chooses_has_no_structure_and_finds_no_difference_of_words():
    model = Tagger(lambda _: "", pick="RISK")
    assert answered(model, asked("structure")) == ""
    assert answered(model, asked("consistency")) == "No findings."
    assert not model.prose


def test_only_judged_lines_are_shown_a_block_at_a_time():
    model = Tagger(lambda _: "", pick="RISK")
    answered(model, asked("review", piece(CODE, lines=[(5, 5), (8, 9)])))
    assert model.prose == ["    os.system('rm ' + name)", "def add(a, b):\n    return a + b"]


def test_no_more_is_marked_than_the_contract_allows_and_the_surest_stays():
    model = Tagger(lambda _: "", pick="NOTE")
    text = "\n\n".join(f"value_{number} = 1" for number in range(30))
    findings = read_findings(answered(model, asked("review", piece(text)))).findings
    assert len(model.prose) == 30
    assert len(findings) == contract("risk").max_findings


def test_a_chunk_is_short_and_leaves_no_line_with_something_in_it_out():
    text = "\n".join("" if number % 7 == 0 else f"  x{number}" for number in range(1, 500))
    whole = piece_of("a.py", text.encode())
    runs = list(chunks(whole, marking().most_lines))
    assert max(map(len, runs)) <= marking().most_lines
    shown = {line for run in runs for line in run}
    assert shown >= {number for number in range(1, 500) if number % 7}


def test_no_more_is_asked_of_a_step_that_was_given_up():
    model = Tagger(lambda _: "", pick="RISK")
    answered(model, asked(), lambda: len(model.prose) < 2)
    assert len(model.prose) == 2


@pytest.fixture(scope="module")
def bundled():
    return load_model(None, home_path=None)


@pytest.mark.parametrize("mode", MODES)
def test_the_bundled_model_marks_what_it_is_asked_about_or_nothing(bundled, mode):
    said = answered(bundled, asked(mode=mode))
    assert said == answered(bundled, asked(mode=mode))
    assert not read_findings(said).blocking
    shares = bundled.choose(CODE, candidates(contract(mode))).probabilities
    assert [name for name, _ in shares] == [*contract(mode).labels, ""]


def test_the_threshold_is_the_one_that_planted_defects_give(bundled):
    figures = chosen(bundled)
    assert figures["fitted"] == figures["in use"]
    assert figures["pairs"] == {"fit": 30, "held": 30}
