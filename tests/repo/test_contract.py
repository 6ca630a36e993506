"""The strict reader: a document is a contract or a refusal, never an error."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import pytest
from contracts import COMMANDS, INTENTS, SCHEMA_FIELDS, VALID, document, keeps_the_rules, mutated, watched
from hypothesis import given, settings
from hypothesis import strategies as st

import grammars
from mcl.plugins.repo.contract import COMMANDS as OURS
from mcl.plugins.repo.contract import MAX_BYTES, RISKS, SCHEMA, RepoIntent, intent_types, judge, read_contract

EFFECTS = {
    "read-only": INTENTS[:9],
    "state-write": ("switch_repo",),
    "executes": ("run_test", "open_editor", "run_mqlaunch"),
    "repo-write": ("create_branch",),
    "safety": ("refuse",),
}


def text(**changed: object) -> str:
    return json.dumps(document(**changed), ensure_ascii=False)


def test_there_are_the_fifteen_intents_of_the_contract_and_no_others():
    assert tuple(intent_types()) == INTENTS


@pytest.mark.parametrize("effect", EFFECTS)
def test_each_intent_is_of_the_contracts_class(effect):
    assert tuple(name for name, kind in intent_types().items() if kind.effect == effect) == EFFECTS[effect]


def test_there_are_the_six_commands_of_the_contract():
    assert OURS == COMMANDS


def test_the_grammar_names_the_same_intents_and_commands():
    said = set(re.findall(r'"\\"([a-z_-]+)\\""', grammars.load("repo_intent@1").text))
    fields = {"intent", "message", "repo", "command", "args"}
    assert said - fields == {*INTENTS, *COMMANDS}


@pytest.mark.parametrize("kind", intent_types().values(), ids=intent_types())
def test_each_intent_says_what_it_does_in_both_languages(kind):
    for said in (kind.description, kind.message):
        assert said["sv"]
        assert said["en"]
        assert said["sv"] != said["en"]


@pytest.mark.parametrize("line", VALID)
def test_the_contracts_valid_examples_are_read_and_written_again_byte_for_byte(line):
    contract = read_contract(line)
    assert contract.intent != "refuse"
    assert contract.text == line
    assert read_contract(line.encode()) == contract
    assert judge(contract) is None


@pytest.mark.parametrize("intent", INTENTS)
def test_every_intent_of_the_contract_is_read(intent):
    assert read_contract(text(intent=intent)).intent == intent


def test_an_unknown_action_becomes_refuse():
    line = '{"schema":"mq-hal.intent.v1","intent":"rm_rf","repo":null,"command":null,"args":[],"message":""}'
    contract = read_contract(line)
    assert contract.intent == "refuse"
    assert "rm_rf" in contract.message
    assert json.loads(contract.text)["schema"] == SCHEMA


@pytest.mark.parametrize("field", ["schema", "intent", "repo", "command", "args", "message"])
def test_a_missing_field_becomes_refuse(field):
    without = {name: value for name, value in document().items() if name != field}
    contract = read_contract(json.dumps(without))
    assert contract.intent == "refuse"
    assert field in contract.why


@pytest.mark.parametrize(
    "said",
    [
        *("", " ", "git status", "{", "null", "[]", "1", '"git_status"', VALID[0][:-1], f"[{VALID[0]}]"),
        *(f"```json\n{VALID[0]}\n```", f"Here it is: {VALID[0]}", f"{VALID[0]} Done.", VALID[0] * 2),
        *(
            f"\ufeff{VALID[0]}",
            VALID[0].replace('"', "'"),
            VALID[0].replace("[]", "[],"),
            f"// x\n{VALID[0]}",
        ),
    ],
)
def test_what_is_not_exactly_one_json_object_becomes_refuse(said):
    assert read_contract(said).intent == "refuse"
    assert read_contract(said.encode()).intent == "refuse"


@pytest.mark.parametrize(
    "changed",
    [
        *({"schema": "mq-hal.intent.v2"}, {"schema": None}, {"schema": ""}, {"intent": None}, {"intent": ""}),
        *(
            {"intent": "Git_Status"},
            {"intent": ["git_status"]},
            {"repo": 1},
            {"repo": []},
            {"command": False},
        ),
        *({"args": None}, {"args": "x"}, {"args": [1]}, {"args": [None]}, {"args": [["x"]]}, {"args": {}}),
        *({"message": None}, {"message": 3}, {"extra": 1}, {"Intent": "help"}, {"path": "x"}),
        *({"risk_level": 1}, {"rollback_plan": 0}, {"requires_confirmation": "yes"}),
        *({"requires_confirmation": 1}, {"args": ["a\nb"]}, {"args": ["\x00"]}, {"args": ["\u2028"]}),
        *({"repo": "a\x1b[31m"}, {"command": "doctor\n"}, {"args": ["\x7f"]}),
    ],
    ids=repr,
)
def test_what_breaks_a_rule_becomes_refuse(changed):
    assert read_contract(text(**changed)).intent == "refuse"


@pytest.mark.parametrize(
    "data",
    [
        VALID[0].replace('"args":[]', '"args":[],"args":[]').encode(),
        VALID[0].replace('"repo":', '"repo":null,"repo":').encode(),
        VALID[0].replace("null", "NaN").encode(),
        VALID[0].replace("null", "Infinity").encode(),
        VALID[0].replace("null", "1e999").encode(),
        VALID[0].replace("Visar", "\\ud800").encode(),
        VALID[0].encode("utf-16"),
        VALID[0].replace("Visar", "\udc80").encode("utf-8", "surrogateescape"),
        b"[" * 100_000,
        b'{"schema":' * 50_000,
        text(message="x" * MAX_BYTES).encode(),
        b"9" * 60_000,
    ],
    ids=[
        *("a key twice", "repo twice", "NaN", "Infinity", "too large a number", "half a surrogate pair"),
        *("UTF-16", "no UTF-8", "deep lists", "deep objects", "too large", "a number of many digits"),
    ],
)
def test_bytes_that_json_readers_quarrel_about_become_refuse(data):
    contract = read_contract(data)
    assert contract.intent == "refuse"
    assert contract.why
    assert len(contract.message) < 300


def test_the_largest_document_is_still_read():
    spare = MAX_BYTES - len(text(message="").encode())
    assert read_contract(text(message="x" * spare)).intent == "git_status"
    assert read_contract(text(message="x" * (spare + 1))).intent == "refuse"


def test_text_that_never_was_utf8_becomes_refuse():
    assert read_contract(text(message="\udcff")).intent == "refuse"


def test_the_optional_fields_are_kept_where_they_say_something():
    given_fields = {"risk_level": "low", "rollback_plan": "delete it", "requires_confirmation": True}
    contract = read_contract(text(**given_fields))
    assert contract.requires_confirmation
    assert contract.to_json() == document(**given_fields)
    assert read_contract(text(risk_level="", requires_confirmation=False)).to_json() == document()


# Each field with what it may say (null: it says nothing, where it may be left out) and what it may not.
FIELDS: dict[str, tuple[tuple[object, ...], tuple[object, ...]]] = {
    "schema": ((SCHEMA,), (None, "", "mq-hal.intent.v2", SCHEMA.upper(), 1, [SCHEMA])),
    "intent": (INTENTS, (None, "", "rm_rf", "HELP", " help", 1, ["help"], True)),
    "repo": ((None, "shop", "unheard-of"), (0, False, ["shop"], {}, "a\nb")),
    "command": ((None, *COMMANDS), (0, False, ["doctor"], {}, "doctor\x00")),
    "args": (([], ["x"], ["x", "y"]), (None, "x", [None], [1], {}, ["a\u2028b"], 0)),
    "message": (("", "Hej."), (None, 0, True, ["x"], {})),
    "risk_level": (
        (None, *RISKS),
        (0, False, ["low"], {}, "Low", "LOW", " low", "none", "extreme", "low\n", "lów", "any text at all"),
    ),
    "rollback_plan": ((None, "delete it"), (0, False, ["x"], {})),
    "requires_confirmation": ((None, True, False), (0, 1, "", "true", "false", [], {})),
}


@pytest.mark.parametrize("field", FIELDS)
def test_each_field_holds_what_its_list_or_type_allows_and_nothing_else(field):
    allowed, forbidden = FIELDS[field]
    for value in allowed:
        contract = read_contract(text(**{field: value}))
        assert contract.why == "", value
        again = document(**{field: value})
        if value is None and field not in ("repo", "command"):
            del again[field]  # null is absent
        assert contract == read_contract(json.dumps(again))
    for value in forbidden:
        contract = read_contract(text(**{field: value}))
        assert contract.intent == "refuse", value
        assert contract.why, value


def test_the_fields_of_the_table_are_all_there_are():
    assert {*FIELDS} == {*SCHEMA_FIELDS}


def test_a_contract_is_written_with_its_fields_in_order_and_on_one_line():
    contract = RepoIntent("grep_repo", None, None, ('a"\\b',), "two\nlines", why="not shown")
    assert list(json.loads(contract.text)) == ["schema", "intent", "repo", "command", "args", "message"]
    assert "\n" not in contract.text
    assert read_contract(contract.text).args == ('a"\\b',)


def agrees(data: bytes) -> bool:
    """Whether the reader takes a document as another reader does, and what it gives is a whole contract."""
    contract = read_contract(data)
    again = read_contract(contract.text)
    judge(contract)
    if contract.why:
        return not keeps_the_rules(data) and contract.intent == "refuse" and again.intent == "refuse"
    return keeps_the_rules(data) and again == contract


@given(st.integers(0, 2**32))
@settings(max_examples=200)
def test_a_mutated_document_is_a_contract_or_a_refusal_as_another_reader_says(number):
    assert agrees(mutated(random.Random(number)))


@given(st.binary(max_size=200))
def test_any_bytes_are_a_contract_or_a_refusal(data):
    assert agrees(data)


@pytest.mark.slow
def test_of_a_hundred_thousand_mutated_documents_each_is_a_contract_or_a_refusal():
    rng = random.Random(20260)
    quarrels, kept = [], 0
    for _ in range(100_000):
        data = mutated(rng)
        if not agrees(data):
            quarrels.append(data)
        kept += not read_contract(data).why
    assert quarrels == []
    assert 5_000 < kept < 60_000  # both outcomes were looked at


def test_reading_and_judging_open_no_file_and_start_nothing():
    judge(read_contract(VALID[0]))  # the table of intents is read once
    with watched() as events:
        for number in range(300):
            judge(read_contract(mutated(random.Random(number))))
    assert events == []
    with watched() as events:
        Path(__file__).read_bytes()
    assert events  # the watch sees what happens
