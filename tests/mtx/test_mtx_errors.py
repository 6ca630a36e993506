"""Every error of a file is told at once, each at its place, with the way out; nothing else is told."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mtx_writing import EXAMPLE

from mcl.language.mtx.checks import check
from mcl.language.mtx.parser import findings_of, parse
from mcl.language.mtx.source import MtxFinding, show


def found(text: str | bytes) -> list[tuple[str, int, int, str]]:
    """Code, line, column and offending text of each error of the text itself."""
    data = text if isinstance(text, bytes) else text.encode()
    return [(one.code, one.line, one.column, one.text) for one in parse(data).findings]


def one(text: str) -> MtxFinding:
    findings = parse(text.encode()).findings
    assert len(findings) == 1, findings
    return findings[0]


def test_the_example_of_the_language_has_no_errors_and_no_warnings() -> None:
    parsed = parse(EXAMPLE.encode())
    assert parsed.findings == ()
    assert check(parsed.file, name="find-flights") == []


@pytest.mark.parametrize(
    ("old", "new", "code", "text", "hint"),
    [
        ("  required\n  hint", "  requird\n  hint", "UNEXPECTED", "requird", 'did you mean "required"?'),
        ("flights\"\nauthor", "flights\" junk\nauthor", "JUNK", "junk", "put the whole value"),
        ("§OUTPUTS", "§OUTPUT", "UNKNOWN_SECTION", "§OUTPUT", 'did you mean "§OUTPUTS"?'),
        ("§OUTPUTS", "$OUTPUTS", "UNKNOWN_SECTION", "$OUTPUTS", 'did you mean "§OUTPUTS"?'),
        ("§OUTPUTS", "[OUTPUTS]", "UNKNOWN_SECTION", "[OUTPUTS]", 'did you mean "§OUTPUTS"?'),
        ("§OUTPUTS", "Â§OUTPUTS", "UNKNOWN_SECTION", "Â§OUTPUTS", 'did you mean "§OUTPUTS"?'),
        ("§OUTPUTS", "§§OUTPUTS", "UNKNOWN_SECTION", "§§OUTPUTS", 'did you mean "§OUTPUTS"?'),
        ("enum<economy", "enmu<economy", "UNKNOWN_TYPE", "enmu", 'did you mean "enum"?'),
        ("§SUB_SKILLS\nnone", "§TOOLS", "DUPLICATE_SECTION", "§TOOLS", ""),
        ("§CORTEX", " §CORTEX", "INDENT", "§CORTEX", "write §CORTEX at"),
        ("  max=5", "\tmax=5", "TAB", "\t", "indent with spaces"),
        ("  max=5", "max=5", "INDENT", "max", "indent it"),
        ("  max=5", "  max=5\n  max=6", "DUPLICATE_KEY", "max", ""),
        ("id=find", "id=x\nid=find", "DUPLICATE_KEY", "id", "keep one"),
        ("Find flights", "Find\0flights", "CONTROL", "\0", "remove it"),
        ("Find flights", "Find\\qflights", "BAD_ESCAPE", "\\q", "legal escapes"),
        ('"Find flights"', '"Find flights', "UNCLOSED_STRING", '"Find flights', "end it"),
        ("slot target: ArtifactRef", "slot target: Artefact", "UNKNOWN_TYPE", "Artefact", "ArtifactRef"),
        ("slot target: A", "slot target A", "UNEXPECTED", "ArtifactRef", "expected :"),
        ("limit=5)", "limit=5", "INCOMPLETE", "", "expected )"),
        ("<- cortex", "<= cortex", "UNEXPECTED", "<", "expected <-"),
        ("on verb=find", "on verb", "UNEXPECTED", "verb", ""),
        ("on confidence<0.75", "on confidence=0.75", "UNEXPECTED", "=", "expected < <= >"),
        ("  kind=", "  knd=", "UNEXPECTED", "knd", 'did you mean "kind"?'),
        ("    options=[a b]", "    options=a b", "UNEXPECTED", "options", "write options=["),
        ("    options=[a b]", "    options=[a b", "INCOMPLETE", "", "expected"),
        ("  suggest=", "  sugest=", "UNEXPECTED", "sugest", 'did you mean "suggest"?'),
        ("matrix://tool/http/get@1.0.0", "http://tool", "UNEXPECTED", "http://tool", "expected a matrix://"),
        ("none", "none\nmatrix://skill/a@1.0.0", "UNEXPECTED", "matrix://skill/a@1.0.0", "`none` above"),
    ],
)  # fmt: skip
def test_each_error_is_told_once_and_at_its_place(
    old: str, new: str, code: str, text: str, hint: str
) -> None:
    start = EXAMPLE.index(old)
    changed = EXAMPLE.replace(old, new, 1)
    place = changed.rindex(text, start, start + len(new) + 20) if text else changed.index("\n", start)
    line, column = changed.count("\n", 0, place) + 1, place - changed.rindex("\n", 0, place)
    finding = one(changed)
    assert (finding.code, finding.line, finding.column, finding.text) == (code, line, column, text)
    assert hint in finding.hint


def test_all_errors_of_a_file_are_told_at_once() -> None:
    text = (
        EXAMPLE.replace("  required\n  hint", "  requird\n  hint")
        .replace("limit=5)", "limit=5")
        .replace("on confidence<0.75", "on confidence<high")
        .replace("  action=fail", "  acton=fail")
    )
    assert [code for code, *_ in found(text)] == ["UNEXPECTED", "INCOMPLETE", "UNEXPECTED", "UNEXPECTED"]


def test_a_block_that_is_not_closed_is_told_where_it_opens() -> None:
    text = EXAMPLE.replace("    options=[a b]\n  end\nend", "    options=[a b]\n  end")
    finding = one(text)
    assert (finding.code, finding.line, finding.text) == ("UNCLOSED_BLOCK", 46, "on")


def test_a_block_left_open_at_the_end_of_the_file_is_told() -> None:
    text = EXAMPLE[: EXAMPLE.index("  unknown slot.target")]
    assert [(code, line) for code, line, *_ in found(text)] == [("UNCLOSED_BLOCK", 33)]


def test_an_end_too_many_is_told() -> None:
    assert found(EXAMPLE.replace("\n§OUTPUTS", "end\n§OUTPUTS")) == [("STRAY_END", 54, 1, "end")]


def test_a_block_where_none_can_stand_is_told_once_with_all_that_is_in_it() -> None:
    text = EXAMPLE.replace("§OUTPUTS\n", '§OUTPUTS\nprompt\n  system="a"\n  user="b"\nend\n')
    assert [code for code, *_ in found(text)] == ["UNEXPECTED"]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "EMPTY"),
        (b"\n  \n# only a comment\n", ""),
        (b"\xff\xfe\x00", "NOT_UTF8"),
        (b"\xef\xbb\xbf" + EXAMPLE.encode(), ""),
        (EXAMPLE.replace("\n", "\r\n").encode(), ""),
        (EXAMPLE.replace("\n", "\r").encode(), "CONTROL"),
        (b"x" * 2**20, "TOO_LONG"),
        ("§SKILL\n".encode() * 9_999, "DUPLICATE_SECTION"),
        ("§SKILL\n".encode() * 10_000, "TOO_MANY_SECTIONS"),
        (EXAMPLE.replace("on verb=find\n", "on verb=find\n" * 1_000).encode(), "TOO_DEEP"),
        (EXAMPLE.replace("author=did:key:z6Mk...", "author=" + "#" * 100_000).encode(), ""),
        (EXAMPLE.replace("Find flights", "\\" * 100_000).encode(), ""),
        ("§SKILL\n".encode() + b'a="' * 60_000, "JUNK"),
        ("§PROCEDURE\n".encode() + b"end\n" * 50_000, "STRAY_END"),
        ("§INPUTS\nslot x: enum<".encode() + b"a|" * 100_000, "INCOMPLETE"),
    ],
)  # fmt: skip
def test_hostile_files_are_read_in_little_time(data: bytes, code: str) -> None:
    start = time.perf_counter()
    findings = parse(data).findings
    assert time.perf_counter() - start < 60
    assert len(findings) <= 200
    assert code in {finding.code for finding in findings} if code else not findings


@given(st.binary(max_size=300) | st.text(max_size=300).map(str.encode))
@settings(max_examples=150, deadline=None)
def test_any_bytes_are_read_without_a_crash(data: bytes) -> None:
    parsed = parse(data)
    check(parsed.file)


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_any_damage_to_a_good_file_is_read_without_a_crash_and_told_inside_it(data: st.DataObject) -> None:
    text = EXAMPLE
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        stop = data.draw(st.integers(start, min(len(text), start + 30)))
        put = data.draw(
            st.sampled_from(
                ["", "end\n", "§", "\n", '"', "on ", " x=", "[", "#", "slot.", "prompt\n", "\0", "é"]
            )
        )
        text = text[:start] + put + text[stop:]
    parsed = parse(text.encode())
    for finding in [*parsed.findings, *check(parsed.file)]:
        assert finding.line <= parsed.text.count("\n") + 1
        assert show(finding, "SKILL.mtx", parsed.text)


def test_an_error_is_shown_with_its_line_a_caret_and_a_hint() -> None:
    text = EXAMPLE.replace("  required\n  hint", "  requird\n  hint")
    assert show(one(text), "skills/a/SKILL.mtx", text) == (
        "skills/a/SKILL.mtx:13:3: error: 'requird' cannot stand here [UNEXPECTED]\n"
        "      requird\n"
        "      ^^^^^^^\n"
        '    did you mean "required"?'
    )


def test_files_from_the_wild_are_taken_as_they_are() -> None:
    text = (
        EXAMPLE.replace("author=did:key:z6Mk...", "author=did:pax:0xAB:cd,ef # who")
        .replace(
            'description="Searches flights and compares prices"',
            "description=Finds: cheap, fast, C#1 flights",
        )
        .replace("action=fail", "action=succeed")
        .replace("options=[a b]", 'options=["just one"]\n\n    # why not\n')
        .replace("on verb=find\n", "on verb=find   # main\n\n\n# deep\n")
    )
    parsed = parse(text.encode())
    assert parsed.findings == ()
    assert parsed.file.settings()["author"] == "did:pax:0xAB:cd,ef"
    assert parsed.file.settings()["description"] == "Finds: cheap, fast, C#1 flights"
    assert parsed.file.failures[1].action is not None
    assert parsed.file.failures[1].action.value == "succeed"


def test_a_place_in_a_prompt_is_told_where_it_stands_in_the_line() -> None:
    text = EXAMPLE.replace("{prose}", "{goal} {gaol}")
    findings = findings_of(parse(text.encode()))
    assert [(one.line, one.column, one.text) for one in findings] == [(38, 17, "{goal}"), (38, 24, "{gaol}")]


def test_a_text_that_is_no_mtx_file_is_told_once() -> None:
    finding = one('{"id": "x",\n  "version": 1}\nand more\n')
    assert (finding.line, finding.column, finding.hint) == (1, 1, "a file begins with §SKILL")
    assert one(f"a text\nof two lines\n{EXAMPLE}").line == 1


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("resolve slot.target", "resolve slot.targt", "slot.targt"),
        ("cortex.find(", "cortex.fnd(", "cortex.fnd"),
        ("mcl.verbs=find acquire", 'mcl.verbs="find acquir"', "acquir"),
        ("mcl.verbs=find acquire", "mcl.verbs=x:find fin", "fin"),
    ],
)
def test_a_check_points_at_the_words_that_are_wrong(old: str, new: str, text: str) -> None:
    changed = EXAMPLE.replace(old, new, 1)
    (finding,) = findings_of(parse(changed.encode()), name="find-flights")
    line = changed.split("\n")[finding.line - 1]
    assert line[finding.column - 1 :].startswith(text)


@pytest.mark.parametrize(
    "line", ["<", "<b>", "slot a: <b>", "slot a:enmu<b>", "enmu<b>", "§§", "[§SKILL]", "Â"]
)
def test_odd_lines_are_told_once_wherever_they_stand(line: str) -> None:
    for section in ("§SKILL", "§INPUTS", "§TOOLS", "§PROCEDURE", "§FAILURE_MODES"):
        assert findings_of(parse(EXAMPLE.replace(section, f"{section}\n{line}", 1).encode()))
    assert findings_of(parse(f"{line}\n{EXAMPLE}".encode()))


def test_a_second_slot_of_a_name_is_told_and_the_first_one_counts() -> None:
    changed = EXAMPLE.replace("slot tags: string[]", "slot target: uint[]", 1)
    (finding,) = findings_of(parse(changed.encode()), name="find-flights")
    assert (finding.code, finding.text) == ("V4", "target")


def test_line_ends_of_carriage_returns_alone_are_told_once() -> None:
    finding = parse(EXAMPLE.replace("\n", "\r").encode()).findings[0]
    assert (finding.code, finding.line, finding.hint) == ("CONTROL", 1, "end lines with LF or CRLF")
    assert found(EXAMPLE.replace("\n", "\r").encode()).count(("CONTROL", 1, finding.column, "\r")) == 1
    assert [code for code, *_ in found(EXAMPLE.replace("\n", "\r"))].count("CONTROL") == 1


@pytest.mark.parametrize(
    "line",
    ["slot x: enum<<>", "slot x: enum<<a|b>", "slot x: enum<a|<b>", "slot enum<a>", "slot x: enum<a><b>"],
)
def test_a_sign_too_many_in_an_enum_is_told(line: str) -> None:
    parsed = parse(f"§INPUTS\n{line}\n".encode())
    assert [finding.code for finding in parsed.findings if finding.line == 2] != []
