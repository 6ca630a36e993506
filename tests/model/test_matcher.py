"""The deterministic matcher: what it finds, and that it is valid whatever the prose."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from model_requests import CANDIDATES, FORM, GOAL
from valid_answers import check_choice, check_spans

from mcl.language.bm25 import Bm25, stems
from mcl.model import Candidate, ExtractForm, SlotForm
from mcl.model.form import VERBS
from mcl.model.matcher import PatternMatcher

ANYTHING = Candidate("matrix://skill/general@1.0.0", "General", "any goal", VERBS)
NOTHING = ExtractForm("matrix://skill/general@1.0.0", "any goal", ())


@pytest.fixture(scope="module")
def matcher():
    return PatternMatcher()


def found(matcher, prose, form=NOTHING):
    spans = matcher.extract(prose, form)
    check_spans(spans, prose, form)
    return {(span.field, span.value) for span in spans}


@pytest.mark.parametrize(
    ("goal", "skill", "verb"),
    [
        ("show the last five commits", "matrix://skill/repo@1.0.0", "find"),
        ("search for TODO in the python files", "matrix://skill/files@1.0.0", "find"),
        ("send a message to Anna", "matrix://skill/notify@1.0.0", "deliver"),
        ("buy two laptops", "matrix://skill/general@1.0.0", "acquire"),
        ("renegotiate the lease", "matrix://skill/general@1.0.0", "negotiate"),
        ("watch the build server and alert me", "matrix://skill/general@1.0.0", "monitor"),
    ],
)
def test_the_skill_and_verb_of_plain_goals(matcher, goal, skill, verb):
    choice = matcher.choose(goal, [*CANDIDATES, ANYTHING])
    assert (choice.skill_id, choice.verb) == (skill, verb)


def test_a_goal_that_shares_nothing_with_any_skill_is_none_of_them(matcher):
    assert matcher.choose("qwertz uiop", CANDIDATES).skill_id is None


@pytest.mark.parametrize(
    ("goal", "field", "value"),
    [
        ("buy a desk for at most 20 euros", "budget", "20 euros"),
        ("laptops under $3,000 please", "budget", "$3,000"),
        ("budget: 40k SEK, oak", "budget", "40k SEK"),
        ("ready by 5 December", "deadline", "5 December"),
        ("do it before next Friday", "deadline", "next Friday"),
        ("finish it within three weeks", "deadline", "three weeks"),
        ("due 2026-12-24, all of it", "deadline", "2026-12-24"),
        ("by tomorrow at 17:00", "deadline", "tomorrow at 17:00"),
        ("order it, only in Germany or Sweden", "jurisdiction_allow", "Germany or Sweden"),
        ("the data must stay in the EU", "jurisdiction_allow", "the EU"),
        ("but not in China", "jurisdiction_deny", "China"),
        ("with at least 95% coverage", "quality", "at least 95% coverage"),
        ("never overwrite existing files", "rule", "never overwrite existing files"),
        ("release it, signed off by Maria Svensson", "signed_off", "Maria Svensson"),
        ("deploy once the tests pass", "external", "the tests pass"),
        ("a chair, preferably blue", "preference", "blue"),
    ],
)
def test_constraints_are_found_by_their_cues(matcher, goal, field, value):
    assert (field, value) in found(matcher, goal)


def test_slots_are_found_by_type_name_and_option(matcher):
    spans = found(matcher, GOAL, FORM)
    assert {
        ("slot.text", "TODO"),
        ("slot.path", "src"),
        ("slot.kind", "table"),
        ("deadline", "Friday"),
        ("budget", "20 euros"),
    } <= spans


def test_quoted_text_is_taken_as_it_stands(matcher):
    assert ("slot.text", "raise ValueError") in found(matcher, 'search for "raise ValueError" in src/', FORM)


def test_the_rest_of_the_goal_fills_the_slot_that_says_what_it_is_about(matcher):
    target = SlotForm("target", "ArtifactRef", "what", required=True)
    form = ExtractForm("matrix://skill/general@1.0.0", "", (target,))
    assert ("slot.target", "two laptops") in found(matcher, "Please buy two laptops under $900", form)


def test_a_number_in_a_budget_is_not_a_count(matcher):
    form = ExtractForm("matrix://skill/x@1.0.0", "", (SlotForm("count", "uint", "how many"),))
    assert found(matcher, "desks for at most 20 euros", form) == {("budget", "20 euros")}


CUES = (" in ", " by ", " at most ", " not in ", " the ", "Sweden", "never ")
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=300) | st.lists(
    st.sampled_from([*"aA1 .,/\"'-€“”@:", *CUES]), max_size=80
).map("".join)


@settings(max_examples=100, deadline=None)
@given(TEXT)
def test_any_prose_gets_valid_answers(matcher, prose):
    check_choice(matcher.choose(prose, [*CANDIDATES, ANYTHING]), [*CANDIDATES, ANYTHING])
    check_spans(matcher.extract(prose, FORM), prose, FORM)


@pytest.mark.parametrize("part", ["a", "1 ", "-", "A, ", "“", "@", "/", "1 days ", "in A ", "the ", "."])
def test_long_repetitions_take_no_long_time(matcher, part):
    prose = (part * 8192)[:8192]
    started = time.process_time()
    check_spans(matcher.extract(prose, FORM), prose, FORM)
    assert time.process_time() - started < 4.0


def test_the_matcher_says_what_it_is(matcher):
    assert matcher.version == "no-ai/1"
    assert len(matcher.digest) == 64


def test_reasoning_gives_the_text_back(matcher):
    assert matcher.reason("", " text ", ["a", "b"], "") == {"a": "text", "b": "text"}


def test_rarer_words_weigh_more():
    index = Bm25([stems("list files"), stems("list branches"), stems("list commits")])
    scores = index.scores(stems("Listing the branches"))
    assert max(range(3), key=scores.__getitem__) == 1


def test_no_documents_have_no_scores():
    assert Bm25([]).scores(["a"]) == []


FILES = ExtractForm(
    "matrix://skill/files@1.0.0",
    "Find text in files",
    tuple(SlotForm(name, "string", "") for name in ("text", "folder", "pattern", "report")),
)


@pytest.mark.parametrize(
    ("goal", "values"),
    [
        ("find the word invoice in the folder notes", {"text": "invoice", "folder": "notes"}),
        ("which files mention Henderson", {"text": "Henderson"}),
        ("search src for TODO and list every line", {"text": "TODO", "folder": "src"}),
        ("list all markdown files in docs", {"folder": "docs"}),
        ("list all files in folder docs", {"folder": "docs"}),
        ("list all files under directory docs", {"folder": "docs"}),
        ("find the phrase late fee in src/app", {"text": "late fee", "folder": "src/app"}),
        ("look for the phone number 555-0100 in all text files", {"text": "555-0100"}),
        ("look for deprecated in *.md below handbook/", {"folder": "handbook/", "pattern": "*.md"}),
        (
            "write a report of every line with invoice to invoices.md",
            {"text": "invoice", "report": "invoices.md"},
        ),
    ],
)
def test_what_is_looked_for_where_and_into_which_file(matcher, goal, values):
    spans = found(matcher, goal, FILES)
    assert values.items() <= {(field.removeprefix("slot."), value) for field, value in spans}


@pytest.mark.parametrize(
    "goal",
    [
        "make a bar chart of the amount column of sales.csv as amounts.svg",
        "draw column amount of sales.csv into a.svg",
        "draw a line chart from sales.csv of the column amount",
        "plot the amount column in sales.csv",
    ],
)
def test_a_column_is_named_beside_its_word(matcher, goal):
    form = ExtractForm("x", "Draw a chart", (SlotForm("column", "string", ""),))
    assert [value for field, value in found(matcher, goal, form) if field == "slot.column"] == ["amount"]


@pytest.mark.parametrize(
    ("goal", "axis"),
    [
        ("draw a chart of amount by region from sales.csv into a.svg", ["region"]),
        ("plot units over date in sales.csv", ["date"]),
        ("plot the amount per shop of sales.csv to a.svg", ["shop"]),
        ("draw a chart of amount from sales.csv into a.svg", []),
    ],
)
def test_what_a_chart_is_drawn_by_is_read_beside_its_word(matcher, goal, axis):
    form = ExtractForm("x", "Draw a chart", (SlotForm("axis", "string", ""),))
    assert [value for field, value in found(matcher, goal, form) if field == "slot.axis"] == axis
