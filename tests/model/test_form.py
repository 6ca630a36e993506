"""The form of the bundled model: units and the reading of answers."""

from __future__ import annotations

import gzip
import itertools
import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcl.model import form
from mcl.model.protocol import ExtractForm, SlotForm


def slot(name: str, *options: str) -> SlotForm:
    return SlotForm(name=name, type="string", hint="", options=options, required=False, many=1)


def ask(*slots: SlotForm) -> ExtractForm:
    return ExtractForm(skill_id="x", description="Find text in files", slots=tuple(slots), system="", user="")


def one_hot(size: int, at: int) -> list[float]:
    return [0.9 if i == at else 0.1 / (size - 1) for i in range(size)]


@given(st.text())
def test_units_cover_everything_but_white_space_in_order(prose: str) -> None:
    units = form.words(prose)
    assert "".join(unit.text for unit in units) == "".join(prose.split())
    assert all(prose[unit.start : unit.end] == unit.text for unit in units)
    assert all(a.end <= b.start for a, b in itertools.pairwise(units))


def test_punctuation_is_peeled_and_inner_punctuation_stays() -> None:
    text = 'Find "foo" in docs/a.md, (by 2026-01-01) at most $1,000 for Anna\'s *.py at 3 p.m.!'
    assert [unit.text for unit in form.words(text)] == [
        *("Find", '"', "foo", '"', "in", "docs/a.md", ",", "(", "by", "2026-01-01", ")", "at", "most"),
        *("$1,000", "for", "Anna", "'s", "*.py", "at", "3", "p.m.", "!"),
    ]


@pytest.mark.parametrize("name", ["snips.train", "hwu64.train", "restaurant8k.train", "sgd.train"])
def test_labelled_spans_of_the_corpora_begin_and_end_with_units(shared: Path, name: str) -> None:
    total = aligned = 0
    with gzip.open(shared / "data" / f"{name}.jsonl.gz", "rt") as lines:
        for line, _ in zip(lines, range(4000), strict=False):
            row = json.loads(line)
            units = form.words(row["text"])
            starts, ends = {unit.start for unit in units}, {unit.end for unit in units}
            spans = [s for s in row["slots"] if s["start"] is not None]
            total += len(spans)
            aligned += sum(s["start"] in starts and s["end"] in ends for s in spans)
    assert aligned / total > 0.99


@given(st.lists(st.sampled_from(["a", ".", "word"]), max_size=700))
def test_windows_keep_every_unit_and_their_limit(texts: list[str]) -> None:
    units = form.words(" ".join(texts))
    runs = form.windows(units)
    assert [unit for run in runs for unit in run] == units
    assert all(len(run) <= form.WINDOW_UNITS for run in runs)


def test_identifiers_become_words() -> None:
    assert form.plain("Banks_1.TransferMoney") == "banks transfer money"
    assert form.plain("departure_date") == "departure date"


def rows_of(tags: list[str], asked: ExtractForm) -> list[list[float]]:
    """Rows that are nearly sure of these tags, and of these options behind them."""
    open_ = [one.name for one in asked.slots if not one.options]
    names = ["none", "in", *open_, *form.FIELDS]
    closed = [["none", *one.options] for one in asked.slots if one.options]
    allowed = [names] * (len(tags) - len(closed)) + closed
    return [one_hot(len(row), row.index(tag)) for row, tag in zip(allowed, tags, strict=True)]


def test_spans_and_options_come_back_as_written_in_the_prose() -> None:
    prose = "Find the red fox in docs/, by Friday."
    asked = ask(slot("text"), slot("kind", "all", "first"), slot("folder"))
    units = form.words(prose)
    tags = ["none", "none", "text", "in", "none", "folder", "none", "none", "deadline", "none"]
    values = form.found(prose, units, asked, rows_of([*tags, "first"], asked))
    assert [(v.field, v.value) for v in values] == [
        ("slot.text", "red fox"),
        ("slot.folder", "docs/"),
        ("deadline", "Friday"),
        ("slot.kind", "first"),
    ]
    assert all(v.start is None or prose[v.start : v.end] == v.value for v in values)


def test_a_slot_that_begins_twice_in_a_row_is_one_value() -> None:
    prose = "add it to an instrumental sunday, or jazz"
    asked = ask(slot("list"), slot("other"))
    units = form.words(prose)
    tags = ["none", "none", "none", "list", "list", "in", "none", "none", "list"]
    values = form.found(prose, units, asked, rows_of(tags, asked))
    assert [v.value for v in values] == ["an instrumental sunday", "jazz"]


@given(st.lists(st.lists(st.floats(0.001, 1), min_size=5, max_size=5), min_size=1, max_size=7))
def test_whatever_the_probabilities_the_answer_is_legal_and_within_the_prose(rows: list[list[float]]) -> None:
    prose = " ".join(f"w{i}" for i in range(len(rows)))
    asked = ask(slot("a"), slot("b"), slot("c"))
    width = 2 + 3 + len(form.FIELDS)
    full = [[p / (sum(row) + 1e-5) for p in (*row, *[1e-6] * (width - len(row)))] for row in rows]
    values = form.found(prose, form.words(prose), asked, full)
    assert all(prose[v.start : v.end] == v.value and 0 <= v.probability <= 1 for v in values)
    assert all(
        a.end is not None and b.start is not None and a.end < b.start for a, b in itertools.pairwise(values)
    )


def test_the_best_legal_path_equals_a_search_of_all_paths() -> None:
    source = random.Random(3)
    for _ in range(60):
        rows = [[source.random() for _ in range(4)] for _ in range(5)]

        def score(path: tuple[int, ...], rows: list[list[float]] = rows) -> float:
            legal = all(tag != 1 or (i > 0 and path[i - 1] != 0) for i, tag in enumerate(path))
            product = 1.0
            for row, tag in zip(rows, path, strict=True):
                product *= row[tag]
            return product if legal else -1.0

        best = max(itertools.product(range(4), repeat=5), key=score)
        asked = ask(slot("a"), slot("b"))
        prose = "a b c d e"
        wide = [[*row, *[0.0] * len(form.FIELDS)] for row in rows]
        spans = {(v.start, v.end) for v in form.found(prose, form.words(prose), asked, wide)}
        want, i = set(), 0
        while i < 5:
            if best[i] >= 2:
                j = i
                while j + 1 < 5 and best[j + 1] in (1, best[i]):
                    j += 1
                want.add((2 * i, 2 * j + 1))
                i = j
            i += 1
        assert spans == want
