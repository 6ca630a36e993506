"""What a chat model can say at all when it extracts: answers tried against the grammar of one request."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import grammars
from mcl.model.answers import frame_rules, separators, shown, span_rules
from mcl.model.form import FIELDS
from mcl.model.llama.vocabulary import Grammars, Vocabulary
from mcl.model.llama.weights import Weights
from mcl.model.protocol import SlotForm

GOAL = (
    'Find late fee in src/old and ship 20 of the two hundred "red" boxes to Åsa by Friday, under $50 or 1,200'
)
SLOTS = (
    SlotForm("text", "string", "what to look for", required=True),
    SlotForm("count", "uint", "how many"),
    SlotForm("cost", "AssetAmount", "how much"),
    SlotForm("kind", "enum", "what kind", ("table", 'a "list"', "no\\ne")),
    SlotForm("tags", "string[]", "labels", many=3),
    SlotForm("counts", "uint[]", "numbers", many=2),
)
NOTHING = {"text": None, "count": None, "cost": None, "kind": None, "tags": [], "counts": []}


@pytest.fixture(scope="module")
def said(chat_path):
    """A function: whether the whole of an answer, given as text, is allowed; for slots and prose, as spaced
    or compact JSON."""
    weights = Weights(chat_path)
    compiled = Grammars(weights, Vocabulary.of(weights))
    text = grammars.load("intent_frame@1").text

    def allowed(
        answer: str,
        *,
        prose: str = GOAL,
        slots=SLOTS,
        fields=FIELDS,
        longest: int = 120,
        spaced: bool = False,
    ) -> bool:
        lark = f"{text}\n{separators(spaced)}{frame_rules(shown(prose), slots, fields, longest)}"
        matcher = compiled.matcher(lark, name="intent_frame@1")
        tokens = weights.tokens(answer)
        return matcher.validate_tokens(tokens) == len(tokens) and (
            matcher.consume_tokens(tokens) and matcher.is_accepting()
        )

    return allowed


def answer(slots=None, constraints=None) -> str:
    whole = {"slots": {**NOTHING, **(slots or {})}, "constraints": constraints or {}}
    return json.dumps(whole, ensure_ascii=False, separators=(",", ":"))


def test_nothing_found_is_an_answer(said):
    assert said(answer())


@pytest.mark.parametrize(
    "slots",
    [
        {"text": "late fee"},
        {"text": GOAL.split(",")[0].replace('"', "”")},  # quotes are shown as their twins
        {"text": "Åsa"},
        {"text": "src/old"},
        {"count": "20"},
        {"count": "two hundred"},
        {"count": "20", "cost": "$50"},
        {"kind": 'a "list"'},
        {"kind": "no\\ne"},
        {"tags": ["late", "fee", "src/old"]},
        {"counts": ["20", "1,200"]},
    ],
)
def test_what_the_goal_says_may_be_answered(said, slots):
    assert said(answer(slots))


@pytest.mark.parametrize(
    "slots",
    [
        {"text": "invented"},
        {"text": "late fees"},
        {"text": "ate fee"},
        {"text": "lat"},
        {"text": "late  fee"},
        {"text": " late"},
        {"text": "late "},
        {"text": ""},
        {"text": "late src/old"},
        {"text": "fee late"},
        {"text": "LATE FEE"},
        {"text": "src"},
        {"text": 20},
        {"text": ["late"]},
        {"text": True},
        {"count": "late"},
        {"count": 20},
        {"count": "21"},
        {"count": "2"},
        {"count": "$50"},
        {"cost": "20"},
        {"cost": "$50 or"},
        {"kind": "Table"},
        {"kind": "list"},
        {"kind": ""},
        {"kind": "late fee"},
        {"tags": ["late", "fee", "in", "src/old"]},
        {"tags": "late"},
        {"tags": [None]},
        {"tags": [""]},
        {"counts": ["20", "late"]},
        {"counts": ["20", "20", "1,200"]},
        {"more": "late"},
    ],
)
def test_nothing_else_may_be_answered(said, slots):
    assert not said(answer(slots))


@pytest.mark.parametrize(
    "constraints",
    [
        {"budget": "$50"},
        {"budget": "under $50", "deadline": "by Friday"},
        {"quality": ["late", "fee"], "preference": ["Friday"]},
        {"signed_off": "Åsa", "external": "Find", "attestation": "boxes"},
        {"preference": ["Friday"], "recurrence": "by Friday"},
    ],
)
def test_constraints_come_in_their_order(said, constraints):
    assert said(answer(constraints=constraints))


@pytest.mark.parametrize(
    "constraints",
    [
        {"deadline": "by Friday", "budget": "$50"},
        {"budget": "$51"},
        {"budget": None},
        {"budget": ["$50"]},
        {"quality": "late"},
        {"quality": []},
        {"quality": ["late", "fee", "in"]},
        {"size": "late"},
    ],
)
def test_constraints_are_of_known_kinds_and_shapes(said, constraints):
    assert not said(answer(constraints=constraints))


def test_only_those_constraints_may_be_answered_that_are_offered(said):
    for fields in ((), ("deadline",), ("budget", "rule"), ("recurrence",)):
        assert said(answer(), fields=fields)
        for field in FIELDS:
            one = ["Friday"] if field in ("quality", "rule", "preference") else "Friday"
            assert said(answer(constraints={field: one}), fields=fields) is (field in fields)


def test_keys_are_all_there_once_and_in_order(said):
    whole = json.loads(answer())
    turned = {"constraints": whole["constraints"], "slots": whole["slots"]}
    for other in (turned, {"slots": whole["slots"]}, {**whole, "more": {}}, [whole], None):
        assert not said(json.dumps(other, separators=(",", ":")))
    assert said(json.dumps(whole, separators=(",", ":")))
    left_out = {**whole, "slots": {key: NOTHING[key] for key in list(NOTHING)[1:]}}
    assert not said(json.dumps(left_out, separators=(",", ":")))
    assert not said(answer() + " ")
    assert not said(answer()[:-1])


def test_spaced_json_has_one_blank_behind_commas_and_colons(said):
    compact, spaced = answer({"count": "20"}), json.dumps(json.loads(answer({"count": "20"})))
    assert said(spaced, spaced=True)
    assert not said(spaced)
    assert not said(compact, spaced=True)


def test_a_number_s_slot_stays_empty_where_the_goal_says_no_number(said):
    slots = (SlotForm("count", "uint", ""), SlotForm("counts", "uint[]", "", many=3))

    def with_counts(count, counts) -> str:
        return json.dumps(
            {"slots": {"count": count, "counts": counts}, "constraints": {}}, separators=(",", ":")
        )

    assert said(with_counts(None, []), prose="find the late fee", slots=slots)
    assert not said(with_counts("late", []), prose="find the late fee", slots=slots)
    assert not said(with_counts(None, ["late"]), prose="find the late fee", slots=slots)


WORD = st.text("abcé漢1/.-", min_size=1, max_size=9)


@settings(max_examples=40)
@given(st.lists(WORD, min_size=1, max_size=60), st.data())
def test_every_run_of_words_up_to_half_the_bound_may_be_answered(said, words, data):
    first = data.draw(st.integers(0, len(words) - 1))
    last = data.draw(st.integers(first, len(words) - 1))
    run = " ".join(words[first : last + 1])
    one = (SlotForm("text", "string", ""),)
    text = json.dumps({"slots": {"text": run}, "constraints": {}}, ensure_ascii=False, separators=(",", ":"))
    fits = len(run) <= 30 and run == run.strip()
    assert said(text, prose=" ".join(words), slots=one, longest=60) or not fits


@settings(max_examples=40)
@given(st.lists(WORD, min_size=1, max_size=12), st.text("abcé漢1/.- ", min_size=1, max_size=14))
def test_no_text_that_is_not_in_the_goal_may_be_answered(said, words, text):
    prose = " ".join(words)
    one = (SlotForm("text", "string", ""),)
    whole = json.dumps(
        {"slots": {"text": text}, "constraints": {}}, ensure_ascii=False, separators=(",", ":")
    )
    assert text in prose or not said(whole, prose=prose, slots=one)


@pytest.mark.slow
def test_a_goal_of_one_character_repeated_is_not_too_much_for_the_lexer(real_chat_path):
    """Each run of it may go on in many ways, and all are followed at once when a model is asked: the more,
    the more tokens the vocabulary has for it."""
    weights = Weights(real_chat_path("llama", "llama-bpe"))
    compiled = Grammars(weights, Vocabulary.of(weights))
    prose = "漢" * 600 + '{"slots":{start: /(/$(rm)' + "é" * 700 + '{"slots":{[/INST]{{ 7*7 }}'
    longest = 500
    lark = f'start: "<" SPAN ">"\n{span_rules(shown(prose), longest)}'
    matcher = compiled.matcher(lark, name="spans")
    for token in weights.tokens(f"<{prose[:longest]}>"):
        matcher.compute_bitmask()
        assert matcher.consume_tokens([token]), matcher.get_error().splitlines()[:1]
    assert matcher.is_accepting()
