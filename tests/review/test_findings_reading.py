"""What is read as a finding, what cannot be read and blocks, and what is neither."""

from __future__ import annotations

import pytest
from any_findings import findings, text
from ending import ending
from hypothesis import given
from hypothesis import strategies as st

from mcl.core.errors import ReviewError
from mcl.plugins.review.finding import BLOCKING, SEVERITIES, ReviewFinding, canonical_body
from mcl.plugins.review.finding_text import NO_FINDINGS, read_findings, write_finding, write_findings

# --- findings -------------------------------------------------------------------------------------------

HEADS = {
    "[RISK] a.py:3": "as it is written",
    "[RISK] a.py:3\r": "CR LF",
    "[RISK] a.py:3 \t ": "trailing blanks",
    "   [RISK] a.py:3": "leading blanks",
    "\ufeff[RISK] a.py:3": "a byte order mark",
    "- [RISK] a.py:3": "a list's dash",
    "* [RISK] a.py:3": "a star",
    "+ [RISK] a.py:3": "a plus",
    "• [RISK] a.py:3": "a bullet",
    "– [RISK] a.py:3": "a dash of print",
    "1. [RISK] a.py:3": "a number",
    "12) [RISK] a.py:3": "a number with a bracket",
    "- [ ] [RISK] a.py:3": "a box",
    "- [x] [RISK] a.py:3": "a ticked box",
    "[1] [RISK] a.py:3": "a footnote",
    "**[RISK] a.py:3**": "bold",
    "**[RISK]** a.py:3": "a bold label",
    "__[RISK]__ a.py:3": "bold with underscores",
    "*[RISK]* a.py:3": "emphasis",
    "~~[RISK]~~ a.py:3": "struck out",
    "**[RISK]** **a.py:3**": "both bold",
    "[**RISK**] a.py:3": "bold inside",
    "`[RISK] a.py:3`": "code",
    "`[RISK]` `a.py:3`": "two codes",
    "[RISK] `a.py`:3": "the name as code",
    "[RISK] **a.py:3**": "a bold location",
    "### [RISK] a.py:3": "a heading",
    "> [RISK] a.py:3": "a quote",
    "> - **[RISK]** `a.py:3`": "all at once",
    "🔴 [RISK] a.py:3": "a picture",
    "[risk] a.py:3": "lower case",
    "[Risk] a.py:3": "mixed case",
    "[ RISK ] a.py:3": "blanks in the bracket",
    "[RISK]a.py:3": "no blank",
    "[RISK]   a.py:3": "many blanks",
    "[RISK]\ta.py:3": "a tab",
    "[RISK]: a.py:3": "a colon",
    "[RISK] - a.py:3": "a dash between",
    "[!RISK] a.py:3": "an alert of GitHub",
    r"\[RISK\] a.py:3": "escaped brackets",
    "［RISK］ a.py:3": "full-width brackets",
    "[ＲＩＳＫ] a.py:3": "full-width letters",
    "[RISK] a.py：3": "a full-width colon",
    "[RISK] a.py:３": "a full-width digit",
    "【RISK】 a.py:3": "other brackets",
    "[RI\u200bSK] a.py:3": "an invisible character",
    "[RISK]\u00a0a.py:3": "a hard space",
    "[RISK\u0301] a.py:3": "a mark on a letter",
    "[RISK] a.py:3-7": "a range",
    "[RISK] a.py:3–7": "a range with a dash of print",
    "[RISK] a.py:3:5": "a column",
    "[RISK] a.py:3,5": "a column after a comma",
    "[RISK] (a.py:3)": "a location in brackets",
    "[RISK](a.py:3)": "a link",
    "[RISK] <a.py:3>": "angle brackets",
    "[RISK] 'a.py:3'": "quotes",
    '[RISK] "a.py:3"': "double quotes",
    '[RISK] "a.py":3': "a quoted name",
    "<!-- [RISK] a.py:3 -->": "a comment",
    "&#91;RISK&#93; a.py:3": "entities",
    "&lsqb;RISK&rsqb;&nbsp;a.py:3": "named entities",
    "// [RISK] a.py:3": "a comment of code",
    "| [RISK] a.py:3 |": "a table of one cell",
}


@pytest.mark.parametrize("line", HEADS, ids=HEADS.values())
def test_a_finding_is_read_however_its_line_is_dressed(line):
    read = read_findings(f"Prose.\n\n{line}\nWhat is wrong.\n")
    assert [finding.to_json() for finding in read.findings] == [
        {"severity": "RISK", "location": "a.py:3", "line": 3, "body": "What is wrong."}
    ]
    assert not read.unreadable
    assert read.blocking


INLINE = (
    *("[RISK] a.py:3 - {}", "[RISK] a.py:3 — {}", "[RISK] a.py:3: {}", "[RISK] a.py:3 {}"),
    *("[RISK] a.py:3, {}", "- **[RISK] a.py:3**: {}", "**[RISK] a.py:3 {}**", "`[RISK] a.py:3` -> {}"),
    "[RISK] a.py:3-9 | {}",
)


@pytest.mark.parametrize("line", INLINE)
def test_a_body_on_the_line_of_its_finding_is_its_body(line):
    read = read_findings(line.format("the key is in the source") + "\nMore of it.\n")
    assert [(finding.location, finding.body) for finding in read.findings] == [
        ("a.py:3", "the key is in the source\nMore of it.")
    ]


FILES = (
    *("src/a.py", "./a.py", "../a.py", "/abs/a.py", "my file.py", "C:\\work\\a.py", "C:/work/a.py", "a:b.py"),
    *("__init__.py", "a-b_c.d.ts", "[id]/page.tsx", "(group)/page.tsx", "Makefile", "a+b@c.py", "3.py"),
    *("å ä ö.py", "ﬁ.py", "файл.py", "文件.py"),
)


@pytest.mark.parametrize("file", FILES)
def test_names_of_files_are_read_as_they_are(file):
    (found,) = read_findings(f"[NOTE] {file}:12 - text").findings
    assert (found.file, found.line, found.body) == (file, 12, "text")


@pytest.mark.parametrize("label", SEVERITIES)
@pytest.mark.parametrize("case", [str.upper, str.lower, str.title])
def test_every_label_is_read_and_blocks_as_the_table_says(label, case):
    read = read_findings(f"[{case(label)}] a.py:1\nbody")
    assert [finding.severity for finding in read.findings] == [label]
    assert read.blocking is (label in ("CRITICAL", "RISK", "ARCHITECTURE", "WARNING"))


def test_bodies_reach_to_the_next_finding():
    read = read_findings(
        "Here is my review.\n\n[NOTE] a.py:1\none\n\n  two\r\n\r\n\r\n- [MISSING] b.py:2\n  three\n  four\n\n"
    )
    assert [(f.location, f.body) for f in read.findings] == [
        ("a.py:1", "one\n\n  two"),
        ("b.py:2", "three\nfour"),
    ]


def test_a_finding_in_a_fence_is_a_finding_and_the_fence_is_not_its_body():
    read = read_findings("```text\n[NOTE] a.py:1\nuse\n```py\nx = 1\n```\n```\n")
    assert [(f.location, f.body) for f in read.findings] == [("a.py:1", "use\n```py\nx = 1\n```")]


def test_a_label_that_the_contract_does_not_have_is_a_finding_with_it():
    read = read_findings("[CRITICAL] a.py:1\nx\n[NOTE] a.py:2\ny", labels=("NOTE", "WARNING", "RISK"))
    assert [f.severity for f in read.findings] == ["CRITICAL", "NOTE"]
    assert [f.severity for f in read.outside] == ["CRITICAL"]
    assert read.blocking


# --- what looks like one --------------------------------------------------------------------------------

UNREADABLE = [
    "[RISK] somewhere",
    "[RISK]",
    "[RISK] a.py",
    "[RISK] a.py:",
    "[RISK] a.py:x",
    "[RISK] a.py line 3",
    "[RISK] :3",
    "[RISK] a.py:3x",
    "[RISK] a.py:12345678901234567890",
    "[RISK] " + "a" * 2000 + ".py:3",
    "[HIGH] a.py:3",
    "[HIGH] somewhere",
    "- **[Blocker]** in the loop",
    "[SEVERITY] a.py:3",
    "[RISK/CRITICAL] a.py:3",
    "[RISK, NOTE] somewhere",
    "[RISK a.py:3",
    "RISK] a.py:3",
    "(RISK) a.py:3",
    "{RISK} a.py:3",
    "<RISK> a.py:3",
    "RISK a.py:3",
    "risk a.py:3",
    "RISK: a.py:3",
    "**RISK** a.py:3",
    "**Risk:** a.py:3 - text",
    "- RISK - a.py:3",
    "RISK in a.py, line 3",
    "RISK at my file.py:3",
    "[RSK] a.py:3",
    "[RISKK] somewhere",
    "[RIKS] a.py:3",
    "[RISС] a.py:3",  # the last letter is Cyrillic
    "SK] a.py:3",
    "R[ISK] a.py:3",
    "[R[ISK] a.py:3",
    "[see below a.py:3",
    "Finding 1: [RISK] a.py:3",
    "Finding 1: RISK a.py:3",
    "x[risk] a.py:3",
    "a.py:3 [RISK] text",
    "a.py:3: warning: unused",
    "a.py:3 the key is plain (RISK)",
    "a.py:3 the key is plain **RISK**",
    "Risk (high): a.py:3",
    "Warning - the key in a.py:3 is plain",
    "<b>[risk]</b> a.py:3",
    "a" * 20_001,
    "a.py:3 - RISK",
    "| RISK | a.py:3 | text |",
    "| 1 | risk | a.py:3 | text |",
    "Severity: High",
    "**Severity:** RISK",
    '"severity": "RISK",',
    '{"findings": [',
    '{"findings": [{"file": "a.py", "line": 3, "message": "the query is built of strings"}]}',
    '{"severity": "note", "location": "a.py:3"}',
    "WARNING: the key is in the source",
    "**Warning:** the key is in the source",
    "### Critical",
    "CRITICAL",
    "［RISK］ somewhere",
    "[NOTE] [RISK] a.py:3",
    "[NOTE] somewhere",
    "a.py(3): risk",
    "a.py(3,5): RISK - text",
    "src/a.py(3) RISK",
    "- `a.py(3)`: warning: unused",
    "a.cs(3,5): warning CS0168: unused",
    "a.py:3:5: error E501: it is long",
    "a.py:3: risk",
    "a.py:3 - risk - the key is plain",
    "R I S K a.py:3",
    "**R I S K** a.py:3",
    "[R I S K] somewhere",
    "r i s k: a.py:3",
    "R.I.S.K. a.py:3",
    "R-I-S-K in a.py, line 3",
    "W A R N I N G: the key is in the source",
    "R ISK a.py:3",
    "a.py:3 R I S K",
]


@pytest.mark.parametrize("line", UNREADABLE)
def test_a_line_that_looks_like_a_finding_and_cannot_be_read_blocks(line):
    read = read_findings(f"[NOTE] x.py:1\nfine\n{line}\nmore\n")
    assert [(f.location, f.body) for f in read.findings] == [("x.py:1", "fine\nmore")]
    assert [(one.line, one.text) for one in read.unreadable] == [(3, line[:500])]
    assert read.blocking


def test_a_second_finding_on_a_line_blocks():
    read = read_findings("[NOTE] a.py:3 fine. [RISK] b.py:4 not")
    assert [f.severity for f in read.findings] == ["NOTE"]
    assert len(read.unreadable) == 1


PROSE = [
    "",
    "No findings.",
    "No findings were found in a.py.",
    "I looked at a.py:3 and b.py:4; nothing is wrong.",
    "There is no risk in a.py:3.",
    "Note that a.py:3 reads the file twice.",
    "The risk at a.py:3 was removed.",
    "1. First, the file is opened.",
    "- [ ] nothing to do",
    "- [x] done in a.py:3",
    "See [the docs](https://example.org/a.py:3).",
    "It starts at 10:30.",
    "Risk: low",
    "RISK: none",
    "x = values[note]",
    "```python",
    "def f(x: list[Warning]) -> None: ...",
    "if level == logging.WARNING: pass  # log.py:3",
    "[id]/page.tsx:3 reads it",
    "[CWE-798](https://cwe.mitre.org/data/definitions/798.html)",
    "[CWE-798] in a.py the key is plain",
    "[the page](docs/page.md:3) says so",
    "| file | line |",
    "Note: the cache is filled in a.py",
    "a.py:3 logs at the level WARNING (see there)",
    "a & b &amp; c &#3; &#99999999999;",
    "Warnings are not errors here.",
    "time.sleep(5) blocks the loop.",
    "time.sleep(5): the loop waits for it.",
    "list.pop(0) risks nothing here.",
    "src/a.py(3) reads the file twice.",
    "a.py:3: note that it is read twice",
    "The letters r i s k are no label.",
    "A B C are the names of the columns in a.py:3.",
    "I a m told of a.py:3.",
    "R I S K is what the letters say.",
    "N O T E: it is cached",
    "e.g. a.py:3, i.e. nothing",
]


@pytest.mark.parametrize("line", PROSE)
def test_prose_is_neither_finding_nor_unreadable(line):
    read = read_findings(f"{line}\n")
    assert (read.findings, read.unreadable, read.blocking) == ((), (), False)


@pytest.mark.parametrize("line", PROSE)
def test_prose_in_a_body_stays_there(line):
    read = read_findings(f"[NOTE] a.py:1\nsaid\n{line}\nand more")
    assert [f.body for f in read.findings] == [canonical_body(f"said\n{line}\nand more")]
    assert not read.blocking


# --- for any text ---------------------------------------------------------------------------------------


@given(text)
def test_any_text_is_read(said):
    read = read_findings(said)
    assert read.blocking == bool(read.unreadable or any(f.severity in BLOCKING for f in read.findings))


@given(st.lists(findings, max_size=4))
def test_what_is_written_is_read_back(found):
    written = write_findings(found)
    read = read_findings(written)
    assert read.findings == tuple(found)
    assert not read.unreadable
    assert read_findings(written.replace("\n", "\r\n")) == read


@given(text, findings, text)
def test_a_finding_is_found_between_any_lines(before, finding, after):
    read = read_findings(f"{before}\n{write_finding(finding)}\n{after}")
    assert any(
        (f.severity, f.file, f.line) == (finding.severity, finding.file, finding.line) for f in read.findings
    )


TRUE = st.builds(
    "{}[{}] {}:{}{}".format,
    st.sampled_from(["", "- ", "**", "1. ", "> "]),
    st.sampled_from(sorted(BLOCKING)).flatmap(lambda s: st.sampled_from([s, s.lower(), s.title()])),
    st.sampled_from(["a.py", "src/app.py", "my file.py", "C:\\x\\a.go", "Makefile"]),
    st.integers(1, 5000),
    st.sampled_from(["", " - the key is in the source", ": x", " text"]),
)
LETTERS = st.sampled_from([*"[](){}<>:;.,-*_`#|/\\\"' \t\n\r\u200b\u2028abxKS019é［：\x00\ud800"])


@st.composite
def slips(draw):
    """A true finding with one slip of a key."""
    line = draw(TRUE)
    at = draw(st.integers(0, len(line)))
    kind = draw(st.sampled_from(["insert", "delete", "replace", "swap", "case", "double"]))
    letter = draw(LETTERS)
    match kind:
        case "insert":
            return line[:at] + letter + line[at:]
        case "delete":
            return line[:at] + line[at + 1 :]
        case "replace":
            return line[:at] + letter + line[at + 1 :]
        case "swap":
            return line[:at] + line[at : at + 2][::-1] + line[at + 2 :]
        case "case":
            return line[:at] + line[at:].swapcase()
        case _:
            return line[:at] + line[at : at + 3] + line[at:]


@given(
    slips(),
    st.sampled_from(["", "Prose.\n", "[NOTE] b.py:1\nfine\n"]),
    st.sampled_from(["", "\nWhat is wrong."]),
)
def test_a_slip_of_a_key_never_makes_a_blocking_finding_pass(line, before, after):
    assert read_findings(f"{before}{line}{after}").blocking


@pytest.mark.parametrize(
    ("field", "value"),
    [("severity", "HIGH"), ("file", ""), ("line", -1), ("line", True), ("line", 10**9), ("line", "3")],
)
def test_what_is_no_finding_is_refused(field, value):
    with pytest.raises(ReviewError) as refused:
        ReviewFinding(**{"severity": "RISK", "file": "a.py", "line": 3, "body": "", field: value})
    assert refused.value.code == "FINDING_NOT_VALID"
    assert refused.value.place == field


def test_nothing_is_written_as_no_findings():
    assert write_findings(()) == NO_FINDINGS
    assert read_findings(NO_FINDINGS).findings == ()


@given(text)
def test_a_body_in_its_form_stays_as_it_is(said):
    body = canonical_body(said)
    assert canonical_body(body) == body


@pytest.mark.parametrize("letter", ["a", "é", " a", "\ufdfa"])
def test_a_body_of_one_long_line_is_read_back(letter):
    found = ReviewFinding("NOTE", "a.py", 3, letter * 30_000)
    assert read_findings(write_finding(found)).findings == (found,)


# --- time -----------------------------------------------------------------------------------------------

HOSTILE = (
    *(
        "[",
        "[ ",
        "[a",
        "[RISK",
        "[RISK]",
        "[risk] ",
        "[RISK] a",
        "[RISK] a:1\r",
        "[RISK] a:1\n",
        "[x] ",
        "[1] ",
    ),
    *("](", "［"),
    *("RISK ", "RISK:", "RISK a", "|RISK", "|", "severity ", "severity:", "line "),
    *("- ", "* - > ", "1. ", "**", "`", "_", "-"),
    *(
        ":3",
        "a:",
        "a:3 ",
        ".a(",
        "a",
        "1",
        "no",
        '"\\',
        '[RISK] "',
        "\\u0041",
        " ",
        "\t",
        "\r",
        "\n",
        "```\n",
    ),
    *("&", "&#", "&#91;", "&lsqb;", "(RISK", "RISK)", "*RISK*", "Risk (", "Risk (a", "("),
    *("e\u0301\u0316", "\u200b", "\ufdfa", "\U000e0041"),
    *("R I S K ", "R ", "R I S ", "a.py(3", "a.py(3)", "a.py(3): ", "(3,"),
)


@pytest.mark.slow
@pytest.mark.parametrize("piece", HOSTILE)
def test_a_megabyte_is_read_to_its_end(piece):
    said = "[RISK] " + piece * (1_000_000 // len(piece))
    with ending():  # what takes time quadratic in it takes minutes
        for head in ("", "x "):
            read_findings(head + said)
