"""Labels of texts that nobody here wrote: each of a known skill, each put to its text by its digest."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path

import pytest

from training.foreign import FILES, LABELS, load
from training.written import shelf


def labelled(folder: Path, text: str) -> Path:
    """Public texts with this one among them, and a label of its first word."""
    for name in FILES.values():
        with gzip.open(folder / f"{name}.jsonl.gz", "wt", encoding="utf-8") as file:
            file.write(json.dumps({"text": text if name == "taskbench" else f"nothing of {name}"}) + "\n")
    wish = {"verb": "find", "skill": "general", "start": 0, "marks": [["slot.object", 5, len(text)]]}
    digest = hashlib.sha256(b"find my hat").hexdigest()
    labels = folder / "labels.jsonl"
    row = {"source": "taskbench", "sha256": digest, "kind": "goal", "wishes": [wish]}
    labels.write_text(json.dumps(row) + "\n")
    return labels


def test_each_label_is_of_a_text_of_its_own_and_of_a_known_skill() -> None:
    rows = [json.loads(line) for line in LABELS.read_text(encoding="utf-8").splitlines()]
    known = {*shelf(), "general"}
    assert len(rows) == len({row["sha256"] for row in rows}) == 200
    assert {row["source"] for row in rows} == set(FILES)
    assert all(wish["skill"] in known for row in rows for wish in row["wishes"])


def test_a_label_is_put_to_its_text(tmp_path: Path) -> None:
    (goal,) = load(tmp_path, labelled(tmp_path, "find my hat"))
    assert goal.text == "find my hat"
    assert [mark.value for mark in goal.wishes[0].marks] == ["my hat"]


def test_a_text_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"labels.jsonl:1: .* no such text of taskbench"):
        load(tmp_path, labelled(tmp_path, "find my coat"))
