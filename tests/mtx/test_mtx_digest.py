"""Every single edit of what a file means changes its digest; no edit of its layout does."""

import random
import re
from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mtx_writing import EXAMPLE, Writer, files

from mcl.language.mtx.ast import (
    AnyUnknown,
    ConfidenceIs,
    File,
    Items,
    Node,
    On,
    Section,
    SlotIs,
    SlotPath,
    Text,
    VerbIs,
)
from mcl.language.mtx.codec import file_digest
from mcl.language.mtx.parser import parse


def edits(value: Any) -> Iterator[Any]:
    """Every value that differs from this one in one place."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, str):
        yield from {value + "x", value + " ", "\n" + value, value + '"', value.swapcase(), ""} - {value}
    elif value is None:
        yield Text("")
        yield Items(())
    elif isinstance(value, tuple):
        for index, item in enumerate(value):
            yield value[:index] + value[index + 1 :]
            yield (*value[: index + 1], *value[index:])
            yield from ((*value[:index], one, *value[index + 1 :]) for one in edits(item))
            if index and value[index - 1] != item:
                yield (*value[: index - 1], item, value[index - 1], *value[index + 1 :])
    elif isinstance(value, Node):
        for field in fields(value):
            if field.name != "at":
                old = getattr(value, field.name)
                yield from (replace(value, **{field.name: new}) for new in edits(old))
                if isinstance(old, Text | Items):
                    yield replace(value, **{field.name: None})
        yield from _other_kinds(value)


def _other_kinds(value: Node) -> Iterator[Any]:
    """Nodes of other kinds that hold the same words."""
    match value:
        case Text():
            yield Items((value,))
            yield SlotPath(value.value)
        case Items() if all(isinstance(item, Text) for item in value.items):
            yield Text(" ".join(item.value for item in value.items))
            yield Text(f"[{' '.join(item.value for item in value.items)}]")
        case VerbIs():
            yield SlotIs(value.verb, Text(""))
            yield AnyUnknown()
        case AnyUnknown():
            yield ConfidenceIs("<", "1")
            yield VerbIs("unknown")
        case On():
            yield from value.body


def file_edits(file: File) -> Iterator[File]:
    """The edits of a file; the order of sections is layout, their names are fixed."""
    for index, section in enumerate(file.sections):
        yield File(file.sections[:index] + file.sections[index + 1 :])
        for entries in edits(section.entries):
            yield File((*file.sections[:index], Section(section.name, entries), *file.sections[index + 1 :]))


@given(files())
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_every_single_edit_of_meaning_changes_the_digest_and_no_two_share_one(file: File) -> None:
    known = {file_digest(file): file}
    for edited in file_edits(file):
        digest = file_digest(edited)
        assert digest not in known or known[digest] == edited
        known[digest] = edited


@given(files())
@settings(max_examples=25, deadline=None)
def test_what_stands_in_one_section_or_the_next_differs(file: File) -> None:
    inputs, outputs = file.section("INPUTS"), file.section("OUTPUTS")
    assert inputs is not None
    assert outputs is not None
    others = tuple(one for one in file.sections if one.name not in ("INPUTS", "OUTPUTS"))
    moved = File((Section("INPUTS", outputs.entries), Section("OUTPUTS", inputs.entries), *others))
    assert (file_digest(moved) == file_digest(file)) == (inputs.entries == outputs.entries)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("slot a: string\n  default=\n", "slot a: string\n"),
        ('slot a: string[]\n  default="a b"\n', "slot a: string[]\n  default=[a b]\n"),
        ("slot a: string[]\n  default=[a b]\n", 'slot a: string[]\n  default=["a b"]\n'),
        ("slot a: string[]\n  default=[]\n", 'slot a: string[]\n  default=[""]\n'),
        ("slot a: enum<a|b>\n", "slot a: enum<b|a>\n"),
        ("slot a: string\n", "slot a: string[]\n"),
        ("slot a: string\nslot b: string\n", "slot b: string\nslot a: string\n"),
        ("slot a: string\n  hint=x\n", "slot a: string\n  default=x\n"),
        ('slot a: string\n  hint="a\\nb"\n', 'slot a: string\n  hint="a\\\\nb"\n'),
        ("slot a: string\n  optional\n", "slot a: string\n  required\n"),
        ("none\n", "slot none: string\n"),
    ],
)
def test_texts_that_look_alike_and_differ_have_digests_of_their_own(one: str, other: str) -> None:
    first, second = (parse(f"§INPUTS\n{text}".encode()) for text in (one, other))
    assert first.findings == second.findings == ()
    assert file_digest(first.file) != file_digest(second.file)


def test_an_absent_section_and_an_empty_one_differ() -> None:
    with_it, without = parse("§SKILL\nid=a\n§TOOLS\nnone\n".encode()), parse("§SKILL\nid=a\n".encode())
    assert file_digest(with_it.file) != file_digest(without.file)


def layouts(text: str) -> Iterator[str]:
    """Every text with one edit of layout."""
    lines = text.rstrip("\n").split("\n")
    for index, line in enumerate(lines):
        before, after = lines[:index], lines[index + 1 :]
        indent = line[: len(line) - len(line.lstrip())]
        for more in ("", "   ", "# a comment", "      # §TOOLS", "\t# end"):
            yield "\n".join([*before, more, line, *after])
        for end in (" ", "   # a comment", "\t", " #"):
            yield "\n".join([*before, line + end, *after])
        yield "\n".join([*before, line + "\r", *after, ""])
        if indent and not re.match(r"\s*(on|unknown|clarify|prompt)\b(?!=)", line):
            yield "\n".join([*before, indent + "   " + line.lstrip(), *after])
        if re.match(r"\s*[\w.]+=", line):
            for sign in (" =", "= ", "  =  "):
                yield "\n".join([*before, line.replace("=", sign, 1), *after])
        key, _, value = line.partition("=")
        if re.fullmatch(r"\s*[\w.]+", key) and re.fullmatch(r"[\w.: ]+", value):
            yield "\n".join([*before, f'{key}="{value}"', *after])
        if (
            after
            and re.match(r"\s+(\w+=|required|optional)", line)
            and not re.search("prompt|kind|output_c", line)
        ):
            follower = after[0]
            if follower.startswith(indent) and re.match(r"(\w+=|required|optional)", follower[len(indent) :]):
                yield "\n".join([*before, follower, line, *after[1:]])
    yield text.replace("\n", "\r\n")
    yield "\ufeff" + text
    yield text.rstrip("\n")
    yield text + "\n\n# the end\n"
    yield re.sub(r"^( +)", r"\1\1", text, flags=re.MULTILINE)
    head, *sections = re.split(r"^§", text, flags=re.MULTILINE)
    yield head + "".join("§" + section for section in reversed(sections))


def test_no_single_edit_of_layout_changes_the_digest_of_the_example() -> None:
    digest = file_digest(parse(EXAMPLE.encode()).file)
    count = 0
    for text in layouts(EXAMPLE):
        parsed = parse(text.encode())
        assert parsed.findings == (), text
        assert file_digest(parsed.file) == digest, text
        count += 1
    assert count > 700


@given(files(), st.randoms(use_true_random=False))
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_no_single_edit_of_layout_changes_any_digest(file: File, chance: random.Random) -> None:
    every = list(layouts(Writer().write(file)))
    for edited in chance.sample(every, min(25, len(every))):
        parsed = parse(edited.encode())
        assert parsed.findings == (), edited
        assert file_digest(parsed.file) == file_digest(file), edited
