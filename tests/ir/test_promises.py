"""What an Intent promises: the closed vocabulary of rules, and the list of all promises."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ir

KEEPS = [
    *("read only", "change nothing", "delete nothing", "overwrite nothing", "no new files", "no network"),
    *("send nothing", "no commands", "ask before each", "only in src", "only in src/app, docs", "not in a b"),
    *(
        "change only in src",
        "change not in src/app.py",
        "only host api.example",
        "only host http://[::1]:8080",
    ),
    *("no tool git/push", "no tool git/*, github:push_files", "only tool fs/read", "at most 0 calls"),
    *("at most 12 files", "only in src, docs"),
]


@pytest.mark.parametrize("text", KEEPS)
def test_what_a_rule_keeps_has_one_spelling_and_plain_words(text: str) -> None:
    found = ir.parse_keeps(text)
    assert str(found) == text
    assert found.words
    assert all(value in found.words for value in found.values)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        *(
            (text, "PROMISE_UNKNOWN")
            for text in ("", " ", "be nice", "Change nothing", "change nothing ", "only in")
        ),
        *(
            (text, "PROMISE_UNKNOWN")
            for text in ("at most", "at most 3", "at most -1 calls", "at most 01 calls")
        ),
        *((text, "PROMISE_UNKNOWN") for text in ("at most 3 euros", "at most 1e3 calls", "change  nothing")),
        *(
            (text, "PROMISE_VALUE")
            for text in ("only in ", "only in /etc", "only in ~/x", "not in ../x", "not in .")
        ),
        *(
            (text, "PROMISE_VALUE")
            for text in ("not in a/../b", "only in src/", "only in *.md", "only in a//b")
        ),
        *(
            (text, "PROMISE_VALUE")
            for text in ("only in a, a", "only in a,b", "only in a\u200bb", "not in a\nb")
        ),
        *(
            (text, "PROMISE_VALUE")
            for text in ("only host", "only host *.example", "only host a b", "only host a/b")
        ),
        *((text, "PROMISE_VALUE") for text in ("no tool push", "no tool git/", "only tool */read")),
        ("at most 1000001 calls", "PROMISE_VALUE"),
    ],
)
def test_anything_else_is_refused_with_a_code_and_a_way_out(text: str, code: str) -> None:
    with pytest.raises(ir.PromiseError) as caught:
        ir.parse_keeps(text)
    expected = "PROMISE_UNKNOWN" if text == "only host" else code
    assert (caught.value.code, caught.value.place) == (expected, text)
    assert caught.value.fix


@given(st.text())
def test_no_text_is_read_as_another_one(text: str) -> None:
    try:
        found = ir.parse_keeps(text)
    except ir.PromiseError:
        return
    assert str(found) == text


def test_promises_come_in_one_order_each_with_its_place() -> None:
    frame = ir.Frame(
        verb="build",
        constraints=(
            ir.RuleConstraint(hard=True, rule="leave all as it is", keeps="change nothing"),
            ir.RuleConstraint(rule="be kind"),
        ),
        success_criteria=(ir.DeliveredPredicate(artifact="a.md"), ir.SignedOffPredicate(what="be kind")),
        preferences=(ir.Preference(rank=1, prefer="short"),),
    )
    intent = ir.Intent(
        id="01M7YXAD00000000000000000A",
        actor="did:a",
        agent="did:b",
        frame=frame,
        state="proposed",
        budget=ir.Budget(max_calls=0),
        deadline="2026-12-01T00:00:00Z",
        created_at="2026-11-21T10:00:00.000Z",
    )
    found = ir.promises_of(intent)
    assert [(one.place, one.kind, one.hard, one.says) for one in found] == [
        ("budget", "budget", True, "at most 0 calls"),
        ("deadline", "deadline", True, "done by 2026-12-01T00:00:00Z"),
        ("frame.constraints[0]", "rule", True, "nothing is changed"),
        ("frame.constraints[1]", "rule", False, "be kind"),
        ("frame.success_criteria[0]", "delivered", True, "a.md exists"),
        ("frame.success_criteria[1]", "signed_off", True, "whoever accepted it signs it off: be kind"),
        ("frame.preferences[0]", "preference", False, "short"),
    ]


def test_documents_that_say_nothing_of_it_keep_their_bytes() -> None:
    rule = ir.RuleConstraint(hard=True, rule="be kind")
    assert ir.canonical_bytes(rule) == b'{"hard":true,"rule":"be kind","type":"rule"}'
    assert b"promises" not in ir.canonical_bytes(ir.PlanTree(id="p"))
