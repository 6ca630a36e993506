"""What is offered where the cursor stands."""

from __future__ import annotations

import pytest
from editor_shelf import OTHER, READ, WRITE, Shelf
from editor_texts import SKILL, typed

from ir import STEP_KINDS, VERBS
from ir.intent import SEVERITIES
from mcl.core.words import ACTIONS, CORTEX_CALLS, FAILURE_REASONS, MEMORY_TYPES
from mcl.language.mtx.ast import SCALAR_TYPES
from mcl.language.mtx.parser import parse
from mcl.plugins.editor.completion import Completion, complete
from mcl.plugins.editor.document import OpenDocument

PLACES = {"prose", "verb", "cortex.bundle", "slots", "unknowns"}
SLOTS = {"slot.target", "slot.cabin", "slot.loud"}
WITH_PROSE = SLOTS | {f"{slot}.prose" for slot in SLOTS}


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


def offered(where: tuple[OpenDocument, int, int], shelf) -> list[Completion]:
    document, line, column = where
    return complete(document.lines, parse(document.data).file, shelf, line, column)


def words(where: tuple[OpenDocument, int, int], shelf) -> set[str]:
    return {one.text for one in offered(where, shelf)}


@pytest.mark.parametrize(
    ("line", "after", "expected"),
    [
        ("  |", "slot target", {"default=", "max=", "slot"}),  # hint and required are said further down
        ("  re|", "slot result", {"default=", "hint=", "slot"}),  # optional is said further down
        ("sl|", "§INPUTS", {"slot", "§HASH"}),
        ("slot x: |", "§INPUTS", {*SCALAR_TYPES, "enum"}),
        ("slot x: string|", "§INPUTS", {*SCALAR_TYPES, "enum"}),
        ("on |", "kind=", {"verb=", "confidence", "unknown", *SLOTS}),
        ("on verb=|", "kind=", set(VERBS)),
        ("on confidence|", "kind=", {"verb=", "confidence", "unknown", *SLOTS}),
        ("on confidence |", "kind=", {"<", "<=", ">", ">=", "=="}),
        ("on slot.cabin=|", "kind=", {"economy", "premium"}),
        ("on slot.loud=t|", "kind=", {"true", "false"}),
        ("on slot.t|", "kind=", {"verb=", "confidence", "unknown", *SLOTS}),
        ("unknown slot.|", "kind=", SLOTS),
        ("clarify sl|", "kind=", SLOTS),
        ("resolve |", "kind=", SLOTS),
        ("resolve slot.target |", "kind=", {"<- cortex.find()"}),
        ("resolve slot.target <- |", "kind=", {f"cortex.{call}" for call in CORTEX_CALLS}),
        (
            "resolve slot.target <- cortex.find(|)",
            "kind=",
            {f"{key}=" for key in CORTEX_CALLS["find"]},
        ),
        (
            "resolve slot.target <- cortex.find(type=Fact, |)",
            "kind=",
            {f"{key}=" for key in CORTEX_CALLS["find"]} - {"type="},
        ),
        ("resolve slot.target <- cortex.find(type=|", "kind=", set(MEMORY_TYPES)),
        ("resolve slot.target <- cortex.find(near=slot.|", "kind=", WITH_PROSE),
        ("    |", "  prompt", {"end"}),
        ('    user="Goal {|"', "  prompt", PLACES | WITH_PROSE),
        ('    user="Goal {{ {slot.ta|', "  prompt", PLACES | WITH_PROSE),
        ('    user="Goal {{|"', "  prompt", set()),
        ('    user="Goal {prose} |"', "  prompt", set()),
        ('    user="\\"{pro|"', "  prompt", PLACES | WITH_PROSE),
        ('    prompt="Which {|?"', "  clarify slot", PLACES | WITH_PROSE),
        ("    default=|", "  clarify slot.loud", {"true", "false"}),
        ("    |", "  unknown slot", {"type=", "options=", "default=", "end"}),
        (
            "  |",
            "on slot.cabin",
            {"kind=", "output_cardinality=", "prompt", "resolve", "unknown", "clarify", "on", "end"},
        ),
        ("  # sev|", "  unknown slot", set()),
        ('  hint="|"', "slot cabin", set()),
        ("  message=|", "tool_missing", set()),
    ],
)
def test_what_is_legal_at_a_place_is_offered_and_nothing_else(line, after, expected, shelf):
    assert words(typed(line, after=after), shelf) == expected


@pytest.mark.parametrize(
    ("line", "instead_of", "expected"),
    [
        ("mcl.verbs=|", "mcl.verbs", set(VERBS)),
        ("mcl.verbs=find |", "mcl.verbs", set(VERBS) - {"find"}),
        ("mcl.verbs=find ana|", "mcl.verbs", set(VERBS) - {"find"}),
        ("reads=Fact |", "reads", set(MEMORY_TYPES) - {"Fact"}),
        ("kind=|", "kind", set(STEP_KINDS)),
        ('kind="|"', "kind", set(STEP_KINDS)),
        ("kind=reason |", "kind", set()),
        ("    severity=|", "    severity", set(SEVERITIES)),
        ("    type=|", "    type", set(SCALAR_TYPES)),
        ("    required=|", "    required", {"true", "false"}),
        ("  default=|", "  default", {"economy", "premium"}),
        ("  reason=|", "  reason", set(FAILURE_REASONS)),
        ("  default=[|", "  default", {"economy", "premium"}),
        ("  default=[economy, pre|]", "  default", {"premium"}),
        ("  action=|", "  action", set(ACTIONS)),
    ],
)
def test_the_values_that_a_key_takes_are_offered(line, instead_of, expected, shelf):
    assert words(typed(line, instead_of=instead_of), shelf) == expected


def test_sections_that_are_not_there_yet_are_offered_at_the_start_of_a_line(shelf):
    assert words(typed("§|", after="  max=3"), shelf) == {"§HASH"}
    assert words((OpenDocument("§SKILL\nid=x\n§"), 3, 2), shelf) >= {"§INPUTS", "§TOOLS", "§PROCEDURE"}
    assert "§SKILL" not in words((OpenDocument("§SKILL\nid=x\n§"), 3, 2), shelf)
    assert words((OpenDocument(""), 1, 1), shelf) >= {"§SKILL", "§HASH"}
    assert "§HASH" not in words(typed("  |", after="slot target"), shelf)


def test_tools_and_skills_are_offered_by_address_with_what_they_do(shelf):
    tools = offered(typed("|", after="§TOOLS"), shelf)
    assert {one.text for one in tools if one.kind == "reference"} == {READ, WRITE}
    assert next(one.says for one in tools if one.text == READ).startswith("Reads a file.")
    skills = offered(typed("matrix://sk|", after="§SUB_SKILLS"), shelf)
    assert {one.text for one in skills if one.kind == "reference"} == {OTHER}


def test_none_is_offered_only_in_an_empty_section(shelf):
    assert "none" not in words(typed("|", after="§TOOLS"), shelf)
    assert "none" in words((OpenDocument("§SKILL\n§TOOLS\n\n§CORTEX\n"), 3, 1), shelf)


def test_a_completion_replaces_the_whole_word_also_behind_the_cursor(shelf):
    for line, instead_of, text, result in (
        ("mcl.verbs=find an|al", "mcl.verbs", "analyze", "mcl.verbs=find analyze"),
        ("matrix://to|ol/fs/rad@1.0.0", "matrix://tool", READ, READ),
        ('    user="{slot.ca|b} x"', "    user", "slot.cabin", '    user="{slot.cabin} x"'),
        ("  unknown slot.tar| # x", "  unknown", "slot.target", "  unknown slot.target # x"),
    ):
        where = typed(line, instead_of=instead_of)
        one = next(one for one in offered(where, shelf) if one.text == text)
        row = where[0].lines[one.span.line - 1]
        assert row[: one.span.start - 1] + one.text + row[one.span.stop - 1 :] == result


def test_keys_of_a_skill_are_offered_once_and_examples_by_their_next_number(shelf):
    found = words(typed("|", after="mcl.verbs"), shelf)
    assert {"display=", "author=", "example.1="} <= found
    assert not {"id=", "version=", "mcl.verbs="} & found
    text = SKILL.replace("id=demo\n", 'id=demo\nexample.1="a"\nexample.7="b"\n\n')
    assert {"example.8=", "not.1="} <= words((OpenDocument(text), 5, 1), shelf)


def test_an_error_further_up_changes_nothing(shelf):
    document, line, column = typed("    severity=|", instead_of="    severity")
    broken = document.text.replace("on verb=find", "on verb=").replace("id=demo", "id demo").replace(
        "slot cabin: enum<economy|premium>", "slot cabin enum<"
    )  # fmt: skip
    assert words((OpenDocument(broken), line, column), shelf) == set(SEVERITIES)


def test_every_completion_of_a_keyword_can_be_parsed_where_it_was_offered(shelf):
    for after in ("slot target", "§INPUTS", "kind=", "on verb", "  prompt", "  unknown slot", "tool_missing"):
        document, line, column = typed("|", after=after)
        for one in offered((document, line, column), shelf):
            if one.kind != "key":
                continue
            rows = document.text.split("\n")
            rows[line - 1] = one.text + "[]" * (one.text == "options=")
            codes = {finding.code for finding in parse("\n".join(rows).encode()).findings}
            assert not codes & {"UNEXPECTED", "JUNK"}, (after, one.text)
