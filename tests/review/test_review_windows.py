"""The lines that one question of a review is about, and how they are shown."""

from __future__ import annotations

import pytest
from scripted import Scripted, inputs, lines_of, piece, says

from mcl.core.errors import ModelError
from mcl.plugins.review.answer import answered
from mcl.plugins.review.question import read_question

CODE = "import os\n\n\ndef remove(name):\n    os.system('rm ' + name)\n"


def asked(name, *pieces, mode="risk", **more):
    return read_question(name, inputs(*(pieces or (piece(CODE),)), mode=mode, **more))


def scripted(answer, **more):
    return Scripted(answer if callable(answer) else lambda request: answer, **more)


def numbers(model):
    """The lines that can be found at, of each request."""
    return [lines_of(request) for request in model.requests]


def test_in_a_change_only_new_lines_can_be_found_at():
    lines = [f"line {number}" for number in range(1, 101)]
    changed = piece("\n".join(lines), lines=[(10, 11), (60, 60)], removed=[(59, ["gone"])])
    model = scripted("No findings.")
    answered(model, asked("review", changed))
    (request,) = model.requests
    assert "10 + line 10" in request.user
    assert "    - gone" in request.user
    assert "9   line 9" in request.user
    assert "line 30" not in request.user
    for line in range(1, 101):
        assert says(request, f"[RISK] src/a.py:{line}\nIt is wrong.") == (line in (10, 11, 60))


def test_of_a_change_that_only_took_lines_away_those_beside_them_are_asked_about():
    changed = piece("one\ntwo\nthree\nfour\n", lines=[], removed=[(2, ["check(x)"])])
    model = scripted("No findings.")
    answered(model, asked("review", changed))
    assert "- check(x)" in model.requests[0].user
    assert says(model.requests[0], "[RISK] src/a.py:2\nThe check is gone.")
    assert not says(model.requests[0], "[RISK] src/a.py:4\nThe check is gone.")


@pytest.mark.parametrize("text", ["", "\n"])
def test_nothing_is_asked_about_nothing(text):
    model = scripted("[RISK] src/a.py:1\nIt is wrong.")
    lines = [] if not text else [(1, 1)]
    said = answered(model, asked("review", piece(text, lines=lines)))
    assert bool(model.requests) == bool(text)
    assert text or said == "No findings."


def test_characters_that_would_break_lines_or_hide_are_not_shown():
    odd = "a = 1\x0b\x0c\x1b[31m\x85\u2028[RISK] x.py:1\r\nb = 2\x00"
    model = scripted("No findings.")
    answered(model, asked("review", piece(odd)))
    shown = model.requests[0].user
    assert not set("\x0b\x0c\x1b\x85\u2028\r\x00") & set(shown)
    assert "1   a = 1���[31m��[RISK] x.py:1�\n2   b = 2�\n" in shown


def test_a_line_of_a_million_characters_is_shown_in_part():
    model = scripted("No findings.")
    answered(model, asked("review", piece("x" * 1_000_000)))
    assert len(model.requests[0].user) < 2_000
    assert "… (1,000,000 characters)" in model.requests[0].user


def test_of_a_long_block_that_was_taken_away_the_beginning_is_shown():
    changed = piece(
        "one\ntwo\n", lines=[(1, 1)], removed=[(1, [f"gone {number}" for number in range(10_000)])]
    )
    model = scripted("No findings.")
    answered(model, asked("review", changed))
    assert "- gone 39\n  - … (9,960 more lines)\n" in model.requests[0].user
    assert "gone 40" not in model.requests[0].user


@pytest.mark.parametrize("room", [9_000, 14_000, 30_000, 60_000, 10**9])
def test_a_file_that_does_not_fit_is_asked_in_windows_that_leave_no_line_out(room):
    text = "\n".join(f"value_{number} = compute({number})" for number in range(1, 1_001))
    model = scripted(lambda request: "No findings.", room=room)
    answered(model, asked("review", piece(text), context="known " * 2_000))
    asked_about = [line for lines in numbers(model) for line in lines]
    assert asked_about == list(range(1, 1_001))
    assert max(len(lines) for lines in numbers(model)) <= 240
    for request, lines in zip(model.requests, numbers(model), strict=True):
        assert f"{lines[-1]}   value_{lines[-1]} " in " ".join(request.user.split(" "))


def test_windows_show_what_stands_before_them():
    text = "\n".join(f"value_{number}" for number in range(1, 1_001))
    model = scripted(lambda request: "No findings.")
    answered(model, asked("review", piece(text)))
    first, second = numbers(model)[:2]
    assert second[0] == first[-1] + 1
    assert f"value_{first[-1]}\n" in model.requests[1].user


def test_a_small_context_leaves_out_what_is_known_before_it_leaves_out_code():
    model = scripted("No findings.", room=9_000)
    answered(model, asked("review", context="known of it\n" * 500))
    assert "known of it" not in model.requests[-1].user
    assert "os.system" in model.requests[-1].user


def test_a_context_without_room_for_one_line_is_told():
    with pytest.raises(ModelError) as caught:
        answered(scripted("No findings.", room=1_000), asked("review"))
    assert caught.value.code == "MODEL_CONTEXT"


def test_another_fault_of_the_model_is_told():
    def fail(request):
        raise ModelError("MODEL_NUMBERS", "not a number")

    with pytest.raises(ModelError, match="not a number"):
        answered(scripted(fail), asked("review"))


def test_no_more_is_asked_of_a_step_that_was_given_up():
    model = scripted("No findings.")
    goes_on = iter([True, True, False])
    answered(model, asked("review", piece("x\n" * 1_000)), lambda: next(goes_on, False))
    assert len(model.requests) == 2
