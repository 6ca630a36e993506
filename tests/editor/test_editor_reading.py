"""Diagnostics, quick fixes, hover, definitions, outline and layout of a text."""

from __future__ import annotations

import re

import pytest
from editor_shelf import Shelf
from editor_texts import SKILL, pointed, typed
from hypothesis import given
from hypothesis import strategies as st

from mcl.language.mtx.layout import format_file
from mcl.language.mtx.lexer import legal_word, lexer
from mcl.language.mtx.parser import findings_of, parse
from mcl.plugins.editor import words
from mcl.plugins.editor.document import OpenDocument, read
from mcl.plugins.editor.names import hover
from mcl.plugins.editor.outline import outline, tokens, walk
from mcl.plugins.editor.session import define, define_in_plan, fixes, layout, symbols


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


def test_a_sound_skill_has_no_problems():
    assert read(OpenDocument(SKILL), "demo").problems == ()


@pytest.mark.parametrize(
    ("line", "instead_of", "marked"),
    [
        ("mcl.verbs=find fnd|", "mcl.verbs", "fnd"),
        ("  optionl|", "  optional", "optionl"),
        ("  default=econmy|", "  default", "econmy"),
        ("slot cabin: enm|", "slot cabin", "enm"),
        ('    user="{pros} é🙂"|', "    user", "{pros}"),
        ('    user="🙂 {slot.tagret}"|', "    user", "{slot.tagret}"),
        ("  unknown slot.tagret|", "  unknown", "slot.tagret"),
        ("    severity=blockng|", "    severity", "blockng"),
        ("  reason=tool_falure|", "  reason", "tool_falure"),
        ("§INPUT|", "§INPUTS", "§INPUT"),
    ],
)
def test_a_problem_marks_the_offending_text(line, instead_of, marked):
    document, number, _ = typed(line, instead_of=instead_of)
    problem = next(one for one in read(document).problems if one.span.line == number)
    assert document.lines[number - 1][problem.span.start - 1 : problem.span.stop - 1] == marked


@pytest.mark.parametrize(
    ("line", "instead_of", "mended"),
    [
        ("mcl.verbs=find analyse|", "mcl.verbs", "mcl.verbs=find analyze"),
        ("  optionl|", "  optional", "  optional"),
        ("  default=econmy|", "  default", "  default=economy"),
        ("slot loud: boole|", "slot loud", "slot loud: bool"),
        ("slot result: strng[]|", "slot result", "slot result: string[]"),
        ('    user="{pros} é🙂"|', "    user", '    user="{prose} é🙂"'),
        ('    user="🙂 {slot.tagret.prose}"|', "    user", '    user="🙂 {slot.target.prose}"'),
        ("  unknown slot.tagret|", "  unknown", "  unknown slot.target"),
        ("on slot.cabn=premium|", "on slot.cabin", "on slot.cabin=premium"),
        ("    severity=blockng|", "    severity", "    severity=blocking"),
        ("  reason=tool_falure|", "  reason", "  reason=tool_failure"),
        ("  resolve slot.target <- cortex.fnd()|", "  resolve", "  resolve slot.target <- cortex.find()"),
        (
            "  resolve slot.target <- cortex.find(limt=5)|",
            "  resolve",
            "  resolve slot.target <- cortex.find(limit=5)",
        ),
        ("kind=reson|", "kind", "kind=reason"),
        ("on verb=fid|", "on verb", "on verb=find"),
        ("reads=Fakt|", "reads", "reads=Fact"),
        ("§INPUT|", "§INPUTS", "§INPUTS"),
        ("  unknwn slot.target|", "  unknown", "  unknown slot.target"),
        ("    severty=blocking|", "    severity", "    severity=blocking"),
    ],
)
def test_a_quick_fix_does_what_the_hint_says(line, instead_of, mended):
    document, number, _ = typed(line, instead_of=instead_of)
    reading = read(document, "demo")
    fix = next(iter(fixes(reading.problems, document.lines, number, number)))
    rows = list(document.lines)
    row = rows[number - 1]
    rows[number - 1] = row[: fix.span.start - 1] + fix.text + row[fix.span.stop - 1 :]
    assert rows[number - 1] == mended
    if "slot result" not in line:
        after = read(OpenDocument("\n".join(rows)), "demo")
        assert len(after.problems) < len(reading.problems)


def test_the_digest_that_is_wrong_is_put_right_by_a_fix():
    text = SKILL + "\n§HASH\ndigest=" + "0" * 64 + "\n"
    document = OpenDocument(text)
    (fix,) = fixes(read(document, "demo").problems, document.lines, 1, 99)
    mended = text.replace("0" * 64, fix.text)
    assert read(OpenDocument(mended), "demo").problems == ()


def told(where: tuple[OpenDocument, int, int], shelf) -> str:
    document, line, column = where
    reading = read(document, "demo")
    found = hover(document.lines, reading.parsed.file, shelf, reading.problems, line, column)
    return found.text if found else ""


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("  unknown slot.tar|get", "**slot target**: `ArtifactRef`, required\n\nWhat to look for"),
        (
            "  resolve slot.target <- cortex.find(type=Fact, near=slot.tar|get.prose, limit=5)",
            "**slot target**",
        ),
        ("on slot.ca|bin=premium", "default: `economy`"),
        ('    user="Goal {{ {pro|se} in {slot.cabin} {slot.target.prose}"', words.PLACES["prose"]),
        ('    user="Goal {{ {prose} in {slot.ca|bin} {slot.target.prose}"', "**slot cabin**"),
        ("slot re|sult: string[]", "at most 3 entries"),
        ("matrix://tool/f|s/read@1.0.0", "Reads a file.\n\neffects: read\n- `path`"),
        ("matrix://skill/ot|her@2.0.0", "Does other things."),
        ("§IN|PUTS", words.SECTIONS["INPUTS"]),
        ("mcl.ver|bs=find analyze", words.SETTINGS["SKILL"]["mcl.verbs"]),
        ("mcl.verbs=find ana|lyze", words.VERBS["analyze"]),
        ("on verb=fi|nd", words.VERBS["find"]),
        ("    sever|ity=blocking", words.TERMINALS["SEVERITY_KEY"]),
        ("    severity=block|ing", words.SEVERITIES["blocking"]),
        ("|end", words.TERMINALS["_END"]),
        ("slot loud: bo|ol", words.TYPES["bool"]),
        ("slot cabin: en|um<economy|premium>".replace("|p", "\0p"), words.TYPES["enum"]),
        ("    req|uired=true", words.TERMINALS["REQUIRED_KEY"]),
        ("  requi|red", words.TERMINALS["REQUIRED"]),
    ],
)
def test_hover_tells_what_a_name_means(line, expected, shelf):
    if "\0" in line:
        text = line.replace("|", "", 1).replace("\0", "|")
        where = (OpenDocument(SKILL), SKILL.split("\n").index(text) + 1, line.index("|") + 1)
    else:
        where = pointed(line)
    assert expected in told(where, shelf)


def test_hover_tells_how_to_mend_what_is_wrong(shelf):
    document, number, column = typed("    severity=block|ng", instead_of="    severity")
    assert 'did you mean "blocking"?' in told((document, number, column), shelf)


def test_hover_tells_nothing_where_nothing_is(shelf):
    assert told((OpenDocument(SKILL), 6, 1), shelf) == ""
    assert told((OpenDocument("\n\n"), 2, 1), shelf) == ""


def test_every_word_of_the_language_is_explained():
    terminals = {terminal.name for terminal in lexer().lark.terminals}
    known = {name for name in terminals if legal_word(name) and name not in ("COMMENT", "BLANK")}
    sections = {name for name in known if name.startswith("S_")}
    assert {name.removeprefix("S_") for name in sections} == set(words.SECTIONS)
    assert known - sections - set(words.TERMINALS) == set()


@pytest.mark.parametrize(
    "line",
    [
        "  unknown slot.tar|get",
        "  resolve slot.tar|get <- cortex.find(type=Fact, near=slot.target.prose, limit=5)",
        "  resolve slot.target <- cortex.find(type=Fact, near=slot.tar|get.prose, limit=5)",
        '    user="Goal {{ {prose} in {slot.cabin} {slot.tar|get.prose}"',
        "slot tar|get: ArtifactRef",
    ],
)
def test_the_definition_of_a_slot_is_its_line(line, shelf):
    document, number, column = pointed(line)
    target = define(document.lines, read(document).parsed.file, shelf, number, column)
    assert target is not None
    row = document.lines[target.span.line - 1]
    assert row == "slot target: ArtifactRef"
    assert row[target.span.start - 1 : target.span.stop - 1] == "target"


def test_the_definition_of_a_sub_skill_is_its_file(shelf):
    document, number, column = pointed("matrix://skill/ot|her@2.0.0")
    target = define(document.lines, read(document).parsed.file, shelf, number, column)
    assert target is not None
    assert str(target.path) == "/skills/other/SKILL.mtx"


def test_what_a_plan_names_is_declared_in_its_skill():
    file = parse(SKILL.encode()).file
    for line, row in (
        ('  args: {path: "${slot.tar|get}"}', "slot target: ArtifactRef"),
        ("  - when: {slot.ca|bin: premium}", "slot cabin: enum<economy|premium>"),
        ("  tool_ref: matrix://tool/fs/re|ad@1.0.0", "matrix://tool/fs/read@1.0.0"),
        ("  skill_ref: matrix://skill/ot|her@2.0.0", "matrix://skill/other@2.0.0"),
    ):
        target = define_in_plan(line.replace("|", "", 1), line.index("|") + 1, file)
        assert target is not None, line
        assert SKILL.split("\n")[target.span.line - 1] == row
    assert define_in_plan("  id: read", 5, file) is None


def test_the_outline_has_sections_slots_blocks_and_failures():
    found = {one.name: one for one in symbols(OpenDocument(SKILL).lines)}
    assert list(found) == re.findall(r"^§.*", SKILL, re.MULTILINE)
    assert [one.name for one in found["§INPUTS"].parts] == ["target", "cabin", "loud"]
    procedure = found["§PROCEDURE"].parts
    assert [one.name for one in procedure] == ["on verb=find", "on slot.cabin=premium"]
    assert [one.name for one in procedure[0].parts] == ["prompt", "unknown slot.target"]
    lines = SKILL.split("\n")
    assert lines[procedure[0].last - 1] == "end"
    assert lines[procedure[0].parts[1].last - 1] == "  end"
    assert [one.name for one in found["§FAILURE_MODES"].parts] == ["tool_missing"]


def test_the_outline_of_a_thousand_levels_is_bounded():
    text = "§PROCEDURE\n" + "on unknown\n" * 5000 + "end\n" * 5000
    assert len(list(walk(outline(text.split("\n"))))) < 100


def test_layout_is_the_canonical_one_and_changes_whole_lines_only():
    text = SKILL.replace("slot cabin:", "slot   cabin :").replace("  optional\n", " optional # yes\n", 1)
    document = OpenDocument(text)
    edit = layout(document, parse(document.data))
    assert edit is not None
    assert applied(document, edit) == format_file(parse(text.encode()))
    assert edit.text.count("\n") < 4
    assert layout(OpenDocument(SKILL), parse(SKILL.encode())) is None


@given(
    st.lists(st.sampled_from([*SKILL.split("\n"), "", "  # note"]), max_size=30),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
    st.booleans(),
)
def test_layout_of_any_sound_text_is_what_the_formatter_writes(lines, ending, bom, last):
    text = "\ufeff" * bom + ending.join(lines) + ending * last
    document = OpenDocument(text)
    parsed = parse(document.data)
    if not parsed.ok:
        with pytest.raises(ValueError, match="errors"):
            layout(document, parsed)
        return
    edit = layout(document, parsed)
    crlf = text.count("\r\n") * 2 > text.count("\n")
    wanted = "\ufeff" * bom + format_file(parsed).replace("\n", "\r\n" if crlf else "\n")
    assert (applied(document, edit) if edit else text) == wanted


def applied(document: OpenDocument, edit) -> str:
    """The text with an edit made, as a client does it."""
    starts = [0, *(match.end() for match in re.finditer(r"\r\n|\n|\r", document.text))]

    def offset(point) -> int:
        return starts[point.line] + point.character

    return document.text[: offset(edit.start)] + edit.text + document.text[offset(edit.end) :]


def test_diagnostics_are_those_of_validation():
    text = SKILL.replace("find analyze", "fnd").replace("  optional", "  optionl", 1)
    parsed = parse(text.encode())
    findings = findings_of(parsed, name="demo")
    problems = read(OpenDocument(text), "demo").problems
    assert [(one.span.line, one.code, one.message) for one in problems] == [
        (finding.line, finding.code, finding.message) for finding in findings
    ]


def test_the_words_of_a_line_are_those_that_the_parser_read():
    parsed = parse(SKILL.encode())
    lines = SKILL.split("\n")
    for number, row in parsed.rows.items():
        found = tokens(lines, number)
        assert [(one.kind, one.text) for one in found] == [(word.type, word) for word in row]
        for one in found:
            assert lines[number - 1][one.column - 1 :].startswith(one.text)
