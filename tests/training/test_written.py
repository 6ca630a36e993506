"""Goals written by hand: read strictly, labelled truly, and nothing in them of those kept for evaluation."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from pathlib import Path

import pytest

from mcl.model import form
from mcl.plugins.train.tuner import development
from mcl.plugins.train.tuner.handwritten import FOLDER, NOBODY, WrittenError, load, parse, skills
from mcl.plugins.train.tuner.utterances import LabelMark, Utterance

COMMON = frozenset(
    re.findall(
        r"\w+", "a an the of to in for and by is it on at with from or my me our we us i please be that not"
    )
)


@pytest.fixture(scope="module")
def goals() -> list[Utterance]:
    return load()


def words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text.lower())) - COMMON


def test_there_are_many_and_each_verb_has_its_share(goals: list[Utterance]) -> None:
    general = Counter(goal.verb for goal in goals if goal.skill == ("own", "general"))
    assert set(general) == set(form.VERBS)
    assert min(general.values()) >= 150
    assert max(general.values()) < 1.5 * min(general.values())
    assert len(goals) >= 2500
    assert sum(goal.skill == NOBODY for goal in goals) >= 0.08 * len(goals)


def test_all_constraints_and_all_slots_are_marked_somewhere(goals: list[Utterance]) -> None:
    counts = Counter((goal.skill, mark.field) for goal in goals for mark in goal.marks)
    by_field = Counter(mark.field for goal in goals for mark in goal.marks)
    assert all(by_field[field] >= 50 for field in form.FIELDS if field != "recurrence")
    for key, skill in skills().items():
        assert all(counts[key, f"slot.{slot.name}"] >= 3 for slot in skill.slots), key


def test_values_stand_where_their_marks_say_and_do_not_overlap(goals: list[Utterance]) -> None:
    for goal in goals:
        spans = sorted((m.start, m.end, m.value) for m in goal.marks if m.start is not None and m.end)
        assert all(goal.text[start:end] == value for start, end, value in spans)
        assert all(a[1] <= b[0] for a, b in itertools.pairwise(spans)), goal.text


def test_limits_are_marked_without_the_words_that_say_they_are_limits(goals: list[Utterance]) -> None:
    joints = {
        "budget": r"(at most|up to|no more than|not over|max|under|below)\b",
        "deadline": r"(by|before|until|till|on|at|within) ",
        "delivered": r"(to|in|into|on) ",
        "preference": r"(ideally|preferably|prefer|rather) ",
        "jurisdiction_allow": r"(in|from|only) ",
        "jurisdiction_deny": r"(not|no|from|in) ",
    }
    wrong = [
        f"{mark.field} {mark.value!r}: {goal.text}"
        for goal in goals
        for mark in goal.marks
        if re.match(joints.get(mark.field, "$^"), mark.value, re.IGNORECASE)
    ]
    assert wrong == []


def test_no_goal_kept_for_evaluation_is_among_them_nor_one_much_like_it(goals: list[Utterance]) -> None:
    kept = [words(goal.text) for goal in development.load()]
    kept = [part for part in kept if len(part) > 2]
    alike = []
    for goal in goals:
        mine = words(goal.text)
        alike += [goal.text for other in kept if len(mine & other) > 0.5 * len(mine | other)]
    assert alike == []


def test_markup_is_read_with_escapes_and_choices() -> None:
    text, marks = parse(r"[what=log] \[x\] of [count:ten\\2], \# and \=")
    assert text == r"[x] of ten\2, # and ="
    assert marks == [LabelMark("slot.what", "log", None, None), LabelMark("slot.count", r"ten\2", 7, 12)]


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        ("find [object:it]", "no section"),
        ("== find", "a section is"),
        ("== look general\nx", "no verb"),
        ("== find nowhere\nx", "no skill"),
        ("== - none\n[D:now]", "no marks"),
        ("== find general\n[object:it", "not closed"),
        ("== find general\nobject:it]", "never opened"),
        ("== find general\n[object:it [D:now]]", "opens nothing"),
        ("== find general\n[it]", "opens nothing"),
        ("== find general\n[object: it]", "blanks at its edges"),
        ("== find general\n[WHEN:now]", "unknown field"),
        ("== find general\n[folder:src]", "cannot be marked"),
        ("== find general\nthe [object:car]pet", "does not begin and end with a word"),
        ("== find general\nthe \\car", "unknown escape"),
        ("== find general\n blank", "blanks at the edges"),
        ("== analyze repo-status\n[what=weather] hm", "no option"),
        ("== analyze repo-status\nthe [what:log]", "cannot be marked"),
        ("== find general\nwhere is it\nWhere  is it", "said already"),
    ],
)
def test_what_the_markup_does_not_know_is_an_error_with_file_and_line(
    tmp_path: Path, lines: str, complaint: str
) -> None:
    original = FOLDER / "skills.toml"
    (tmp_path / "skills.toml").write_text(original.read_text())
    (tmp_path / "one.txt").write_text(lines)
    with pytest.raises(WrittenError, match=rf"^one\.txt:\d+: .*{complaint}"):
        load(tmp_path)
