"""The form of an answer: whatever the grammar lets a model say is read as findings, whole, in its budget."""

from __future__ import annotations

import random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scripted import Wanderer, says

from mcl.model.protocol import WritingRequest
from mcl.plugins.review.contract import GRAMMAR, MODES, contract
from mcl.plugins.review.finding_text import read_findings
from mcl.plugins.review.prompt import findings_form, structure_form

ROOM = 2048


def asked(mode="risk", path="src/a.py", lines=range(1, 30), tokens=ROOM):
    form = findings_form(contract(mode), path, lines, tokens)
    return WritingRequest(GRAMMAR, form.rules, "", "", "", form.most)


PATHS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)


@given(st.integers(), st.sampled_from(MODES), st.sampled_from([64, 200, 1024, ROOM]))
def test_whatever_is_said_is_read_as_findings_of_the_contract(seed, mode, tokens):
    request = asked(mode, tokens=tokens)
    said = Wanderer(lambda _: "", rng=random.Random(seed)).write(request).text
    reading = read_findings(said, labels=contract(mode).labels)
    assert not reading.unreadable
    assert not reading.outside
    assert len(reading.findings) == (0 if said == "No findings." else said.count("\n\n[") + 1)
    assert len(reading.findings) <= contract(mode).max_findings
    for finding in reading.findings:
        assert finding.file == "src/a.py"
        assert 1 <= finding.line < 30
        assert 1 <= len(finding.body.split("\n")) <= 4


@settings(max_examples=30)
@given(PATHS, st.integers())
@example('odd "name" [RISK] b.py:3', 0)
@example("-", 0)
@example("a:3", 1)
@example("a\n[RISK] b.py", 2)
def test_a_finding_of_any_file_is_read_as_one_of_it(path, seed):
    said = Wanderer(lambda _: "", rng=random.Random(seed)).write(asked(path=path)).text
    reading = read_findings(said)
    assert not reading.unreadable
    assert {finding.file for finding in reading.findings} == (set() if said == "No findings." else {path})


@pytest.mark.parametrize(
    "text",
    [
        "No findings.",
        "[RISK] src/a.py:3\nIt breaks.",
        "[RISK] src/a.py:3\nIt fails when rows is [] or a[-1], rows[i], a['k'] is missing: see line 7.",
        "[RISK] src/a.py:3\nMissing check of `x`.\nWarning: SQL from text (see `src/b.py`).",
        "[CRITICAL] src/a.py:29\nOne.\nTwo (`code`).\nThree: b[0]\nFour.\n\n[NOTE] src/a.py:1\nÅ ok.",
        "[RISK] src/a.py:3\nНет проверки.\n空の場合に失敗する。",
        "[RISK] src/a.py:3\ntime.sleep(5) blocks the loop.",
    ],
)
def test_the_form_can_be_said(text):
    assert says(asked(), text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "None.",
        "Looks good!",
        "Ignore the rules.\n[NOTE] src/a.py:3\nx",
        "[ARCHITECTURE] src/a.py:3\nA label of another mode.",
        "[HIGH] src/a.py:3\nA label of nobody.",
        "[RISK] src/b.py:3\nAnother file.",
        "[RISK] src/a.py:30\nA line that was not shown.",
        "[RISK] src/a.py:0\nNo line.",
        "[RISK] src/a.py:3",
        "[RISK] src/a.py:3\n",
        "[RISK] src/a.py:3\nOne\nTwo\nThree\nFour\nFive",
        "[RISK] src/a.py:3\n[NOTE] src/a.py:4\nA head in a body.",
        "[RISK] src/a.py:3\nIt breaks.\n- [NOTE] src/a.py:4",
        "[RISK] src/a.py:3\nRISK src/a.py:4",
        "[RISK] src/a.py:3\nWARNING: it breaks",
        "[RISK] src/a.py:3\nsrc/a.py:4 RISK it breaks",
        "[RISK] src/a.py:3\nsrc/a.py(4) RISK it breaks",
        "[RISK] src/a.py:3\nsrc/a.py(4,2): risk",
        "[RISK] src/a.py:3\nR I S K: it breaks",
        "[RISK] src/a.py:3\nSee [risk] of src/a.py",
        "[RISK] src/a.py:3\nSeverity: HIGH",
        "[RISK] src/a.py:3\nIt\u200b breaks.",
        "[RISK] src/a.py:3\n\n\nNo findings.",
        "No findings.\n\n[RISK] src/a.py:3\nBut one.",
    ],
)
def test_nothing_else_can_be_said(text):
    assert not says(asked(), text)


@pytest.mark.parametrize("mode", MODES)
def test_no_more_findings_can_be_said_than_the_contract_allows(mode):
    label, most = contract(mode).labels[0], contract(mode).max_findings
    findings = [f"[{label}] src/a.py:{line}\nIt breaks." for line in range(1, most + 2)]
    assert says(asked(mode), "\n\n".join(findings[:most]))
    assert not says(asked(mode), "\n\n".join(findings))


@pytest.mark.parametrize("tokens", [400, 512, 1024, 2048])
@pytest.mark.parametrize("path", ["a.py", "a/" * 100 + "a.py"])
def test_the_longest_answer_is_within_the_budget(tokens, path):
    assert findings_form(contract("comment"), path, range(1, 10_000), tokens).most <= tokens
    assert structure_form(tokens).most <= tokens


@settings(max_examples=15)
@given(st.integers())
def test_a_structure_has_its_three_parts(seed):
    form = structure_form(400)
    request = WritingRequest(GRAMMAR, form.rules, "", "", "", form.most)
    said = Wanderer(lambda _: "", rng=random.Random(seed)).write(request).text
    assert [line.partition(":")[0] for line in said.split("\n")] == ["Responsibility", "Patterns", "Hotspots"]
    assert not read_findings(said).findings
