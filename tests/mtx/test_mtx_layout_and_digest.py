"""The digest covers what a file means and nothing else; the formatter changes layout and nothing else."""

import random
from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mtx_writing import EXAMPLE, Writer, files

from mcl.language.mtx.ast import SECTIONS, File, Node, Setting, SlotType, Text
from mcl.language.mtx.codec import file_digest, named, packed, unpacked, value_digest
from mcl.language.mtx.layout import format_file
from mcl.language.mtx.parser import Parsed, parse

DIGEST = "5bcf73401a4fddde3432fc36b6bffc5455778a4732cce9c4aff4d9a933a90e3f"


def plain(value: Any) -> Any:
    """A tree as JSON values."""
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    if isinstance(value, Node | File):
        return {name: plain(part) for name, part in named(value).items()}
    return value


def read(text: str) -> Parsed:
    parsed = parse(text.encode())
    assert parsed.findings == (), text
    return parsed


@given(files(), st.integers(0, 2**32))
@settings(max_examples=30, deadline=None)
def test_any_layout_of_a_tree_reads_as_that_tree_with_the_same_digest(file: File, seed: int) -> None:
    plain_text = read(Writer().write(file))
    assert plain_text.file == file
    laid_out = read(Writer(random.Random(seed)).write(file))
    assert {section.name: section for section in laid_out.file.sections} == {
        section.name: section for section in file.sections
    }
    assert file_digest(laid_out.file) == file_digest(plain_text.file) == file_digest(file)


@given(files(), st.integers(0, 2**32))
@settings(max_examples=30, deadline=None)
def test_formatting_keeps_tree_digest_and_comments_and_is_idempotent(file: File, seed: int) -> None:
    source = Writer(random.Random(seed)).write(file)
    before = read(source)
    text = format_file(before)
    after = read(text)
    assert after.file == before.file
    assert file_digest(after.file) == file_digest(before.file)
    assert format_file(after) == text
    assert text.count("# end") == source.count("# end")


@given(files(), st.data())
@settings(max_examples=50, deadline=None)
def test_any_change_of_meaning_changes_the_digest(file: File, data: st.DataObject) -> None:
    nodes = list(_paths(file))
    changed = _changed(file, data.draw(st.sampled_from(nodes)), data)
    assert changed != file
    assert file_digest(changed) != file_digest(file)


@given(files())
@settings(max_examples=30, deadline=None)
def test_the_digest_is_that_of_the_canonical_form_of_the_tree(file: File) -> None:
    order = {name: place for place, name in enumerate(SECTIONS)}
    kept = sorted(
        (one for one in file.sections if one.name != "HASH"), key=lambda section: order[section.name]
    )
    assert file_digest(file) == value_digest({"node": "File", "sections": [plain(one) for one in kept]})


@given(files())
@settings(max_examples=40, deadline=None)
def test_a_tree_survives_the_cache(file: File) -> None:
    assert unpacked(packed(file)) == file


def test_the_digest_of_a_known_file_never_changes() -> None:
    assert file_digest(read(EXAMPLE).file) == DIGEST


def test_the_hash_section_is_no_part_of_the_digest() -> None:
    assert file_digest(read(EXAMPLE.replace("digest=", "digest=00")).file) == DIGEST


def test_an_already_canonical_file_stays_byte_for_byte() -> None:
    text = format_file(read(EXAMPLE))
    assert text == EXAMPLE.replace('"summarize"', "summarize")


def test_formatting_a_file_with_errors_is_refused() -> None:
    with pytest.raises(ValueError, match="no canonical layout"):
        format_file(parse(b"nonsense"))


def _paths(value: Any) -> Any:
    """Every place of a tree where something can be changed: a list of steps (field names and positions)."""
    if isinstance(value, tuple):
        for position, item in enumerate(value):
            yield from ([position, *path] for path in _paths(item))
        if value:
            yield []
    elif isinstance(value, Node | File):
        for field in fields(value):
            if field.name != "at":
                yield from ([field.name, *path] for path in _paths(getattr(value, field.name)))
    elif isinstance(value, str | bool):
        yield []


def _changed(value: Any, path: list[Any], data: st.DataObject) -> Any:
    if not path:
        if isinstance(value, tuple):  # something is left out
            gone = data.draw(st.integers(0, len(value) - 1))
            return value[:gone] + value[gone + 1 :]
        return (
            not value if isinstance(value, bool) else value + data.draw(st.sampled_from(["x", " ", "|", '"']))
        )
    step, *rest = path
    if isinstance(value, tuple):
        return (*value[:step], _changed(value[step], rest, data), *value[step + 1 :])
    if isinstance(value, SlotType) and step == "name" and not rest:
        return replace(value, name=value.name + "x")
    if step == "name" and not rest and type(value).__name__ == "Section":
        return replace(value, entries=(*value.entries, Setting("added", Text("1"))))
    return replace(value, **{step: _changed(getattr(value, step), rest, data)})


def test_every_node_kind_is_named_in_the_digest_form() -> None:
    assert plain(SlotType("enum", ("a",), True)) == {
        "node": "SlotType",
        "name": "enum",
        "members": ["a"],
        "many": True,
    }
