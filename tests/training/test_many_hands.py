"""Goals by many hands: the markup is read strictly, and what is committed is free of repeats."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.written import (
    WriterFileError,
    main,
    parse,
    read_writer,
    repeated,
    shelf,
    writers,
)

HEAD = "@ persona: a baker\n@ language: en\n"
WORD = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=8)


def write(folder: Path, text: str, skills: str = "") -> Path:
    (folder / "train").mkdir()
    path = folder / "train" / "baker.txt"
    path.write_text(HEAD + text, encoding="utf-8")
    path.with_suffix(".toml").write_text(skills, encoding="utf-8")
    return path


def test_a_goal_has_wishes_with_their_own_marks(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "== find files-find + build note-write\n"
        "find [text:rye] in [folder:orders] and [+]put [note:it] in [file:l.md]\n",
    )
    (goal,) = read_writer(path, shelf()).goals
    first, second = goal.wishes
    assert goal.text == "find rye in orders and put it in l.md"
    assert [mark.value for mark in first.marks] == ["rye", "orders"]
    assert (second.skill, goal.text[second.start :]) == ("note-write", "put it in l.md")
    assert [(mark.field, mark.value) for mark in second.marks] == [("slot.note", "it"), ("slot.file", "l.md")]


def test_a_correction_has_what_was_wanted_before(tmp_path: Path) -> None:
    path = write(tmp_path, "== ~ find files-find\nfind [text:rye] => [as=change] no, [text:spelt]\n")
    (goal,) = read_writer(path, shelf()).goals
    assert goal.before is not None
    assert goal.before.text == "find rye"
    assert (goal.change, goal.text, goal.wishes[0].marks[0].value) == ("change", "no, spelt", "spelt")


def test_an_option_may_have_words_of_its_own(tmp_path: Path) -> None:
    path = write(tmp_path, "== analyze data-summary\n[kind=bar:columns] of [file:sales.csv]\n")
    mark = read_writer(path, shelf()).goals[0].wishes[0].marks[0]
    assert (mark.value, mark.start, mark.end) == ("bar", 0, 7)


def test_a_goal_is_for_the_skill_that_ships_by_its_marks(tmp_path):
    text = "== modify text-sort\nsort [file:names.txt]\n[order=unique:no doubles] in [file:names.txt]\n"
    text += "== modify files-tidy\nsort [folder:in] by [by=size:size]\n"
    text += "== build mail-draft\nwrite to [recipient:Eva]\n"
    path = write(tmp_path, text)
    common = shelf()
    goals = read_writer(path, common).goals
    found = [common[goal.wishes[0].skill].shipped(goal.wishes[0]) for goal in goals]
    assert found == ["lines-sort", "lines-unique", "", "mail-draft"]


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("find rye\n", "come before the first goal"),
        ("== find nothing-known\n", "no skill 'nothing-known'"),
        ("== deliver files-find\n", "'deliver' is no verb of files-find"),
        ("== find files-find\nfind [txt:rye]\n", "has no slot 'txt'"),
        ("== find files-find\nfind [text:ry]e\n", "does not begin and end with a word"),
        ("== find files-find\nfind [text:rye\n", "not closed"),
        ("== find files-find\nfind rye and [+]bake it\n", "2 begin"),
        ("== analyze data-summary\n[kind=pie:cakes] of it\n", "no option"),
        ("== - none\nfind [text:rye]\n", "no marks"),
        ("== ~ find files-find\nfind rye\n", "a correction is"),
        ("== ~ find files-find\nfind rye => [as=undo] not [text:rye]\n", "nothing is marked"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, text: str, wrong: str) -> None:
    with pytest.raises(WriterFileError, match=r"train/baker\.txt:\d+: ") as caught:
        read_writer(write(tmp_path, text), shelf())
    assert wrong in str(caught.value)


def test_a_skill_of_the_shelf_is_not_written_anew(tmp_path: Path) -> None:
    skills = '[files-find]\nverbs = ["find"]\ndescription = "Finds."\n'
    with pytest.raises(WriterFileError, match="stands on the shelf"):
        read_writer(write(tmp_path, "", skills), shelf())


@given(st.lists(st.tuples(WORD, st.sampled_from(["", "text", "B", "R"])), min_size=1, max_size=12))
def test_marks_are_where_their_words_are(parts: list[tuple[str, str]]) -> None:
    line = " ".join(f"[{field}:{word}]" if field else word for word, field in parts)
    text, marks, starts = parse(line)
    assert (text, starts) == (" ".join(word for word, _ in parts), [0])
    assert [mark.value for mark in marks] == [word for word, field in parts if field]
    assert all(text[mark.start : mark.end] == mark.value for mark in marks)


@given(st.text(st.characters(categories=["L", "N", "P", "S", "Zs"]), max_size=60))
def test_any_line_is_read_or_refused_in_words(line: str) -> None:
    try:
        text, marks, _ = parse(line)
    except ValueError:
        return
    assert all(mark.start is None or 0 <= mark.start < (mark.end or 0) <= len(text) for mark in marks)


def test_what_is_committed_is_right_and_nobody_repeats_another(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0, capsys.readouterr()
    assert not list(repeated(writers()))
