"""Labels of texts that nobody here wrote fit the texts."""

from __future__ import annotations

from pathlib import Path

import pytest

from training.foreign import load
from training.written import shelf

DATA = Path(__file__).parents[3] / "shared" / "data"


@pytest.mark.skipif(not DATA.is_dir(), reason="the public texts (../shared/data) are not here")
def test_each_label_fits_its_text() -> None:
    goals = load(DATA)
    known = {*shelf(), "general"}
    assert len(goals) == 200
    for goal in goals:
        assert all(wish.skill in known for wish in goal.wishes), goal.line
        for wish in goal.wishes:
            for mark in wish.marks:
                assert mark.start is None or goal.text[mark.start : mark.end].strip(), goal.line


@pytest.mark.skipif(not DATA.is_dir(), reason="the public texts (../shared/data) are not here")
def test_a_text_that_is_not_there_is_named(tmp_path: Path) -> None:
    labels = tmp_path / "labels.jsonl"
    labels.write_text('{"source":"sgd","sha256":"00","kind":"none","wishes":[]}\n')
    with pytest.raises(ValueError, match=r"labels.jsonl:1: .* no such text of sgd"):
        load(DATA, labels)
