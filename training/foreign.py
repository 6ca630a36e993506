"""Labels of texts that nobody here wrote (written/test/foreign.jsonl); the texts stay in ../shared/data.

Two readers labelled 200 texts drawn from nl2bash, taskbench and the development part of SGD, each without
seeing the other's labels; where they differed, conventions.md decided. A row names its text by sha256.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path

from mcl.plugins.train.tuner.utterances import LabelMark
from training.written import FOLDER, Wish, WrittenGoal

LABELS = FOLDER / "test" / "foreign.jsonl"
FILES = {"nl2bash": "nl2bash", "taskbench": "taskbench", "sgd": "sgd.dev"}


def load(data: Path, labels: Path = LABELS) -> list[WrittenGoal]:
    """The labelled texts in the order of the labels. Raises ValueError for one that `data` does not have."""
    texts: dict[str, str] = {}
    for name in FILES.values():
        with gzip.open(data / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            for line in lines:
                text = str(json.loads(line)["text"]).strip()
                texts[hashlib.sha256(text.encode()).hexdigest()] = text
    goals = []
    for number, line in enumerate(labels.read_text(encoding="utf-8").splitlines(), 1):
        row = json.loads(line)
        found = texts.get(row["sha256"])
        if found is None:
            raise ValueError(f"{labels.name}:{number}: {data} has no such text of {row['source']}")
        wishes = tuple(_wish(wish, found) for wish in row["wishes"])
        goals.append(WrittenGoal(found, row["kind"], wishes, "en", row["source"], number))
    return goals


def _wish(row: dict[str, object], text: str) -> Wish:
    marks = []
    for field, start, end, *value in row["marks"]:  # type: ignore[attr-defined]
        marks.append(LabelMark(field, value[0] if value else text[start:end], start, end))
    return Wish(str(row["verb"]), str(row["skill"]), int(str(row["start"])), tuple(marks))
