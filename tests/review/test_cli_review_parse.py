"""`mcl review parse`: any text in, findings out, and an exit code that a pipeline may trust."""

from __future__ import annotations

import json

import pytest

from mcl.cli.main import main
from mcl.plugins.review.cli.review import MAX_BYTES

TEXT = "Here it is.\r\n- **[note]** `b.py:9` — fine  \r\n* [Risk] a.py:3\r\n  the key is plain\r\n"


@pytest.fixture
def parse(tmp_path, monkeypatch, capsys):
    """Run the command on a text; what it said as JSON and how it ended."""
    monkeypatch.setenv("MCL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)

    def run(said, *options):
        (tmp_path / "answer.txt").write_bytes(said if isinstance(said, bytes) else said.encode())
        capsys.readouterr()
        code = main(["review", "parse", "answer.txt", *options])
        told = capsys.readouterr()
        return code, told.out, told.err

    return run


def test_findings_are_told_the_worst_first(parse):
    code, told, _ = parse(TEXT, "--json")
    assert code == 1
    assert json.loads(told) == {
        "findings": [
            {"severity": "RISK", "location": "a.py:3", "line": 3, "body": "the key is plain"},
            {"severity": "NOTE", "location": "b.py:9", "line": 9, "body": "fine"},
        ],
        "blocking": True,
        "unreadable": [],
    }


def test_a_person_sees_the_form_and_what_could_not_be_read(parse):
    code, told, _ = parse(TEXT + "[HIGH] c.py:1\n")
    assert code == 1
    assert told.splitlines() == [
        *("[RISK] a.py:3", "the key is plain", "", "[NOTE] b.py:9", "fine"),
        "line 5 cannot be read: [HIGH] c.py:1",
    ]


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("", 4),
        ("No findings.", 0),
        ("[NOTE] a.py:3\nx", 0),
        ("[WARNING] a.py:3\nx", 1),
        ("[NOTE] somewhere", 1),
    ],
)
def test_the_exit_code_is_one_where_something_blocks(parse, said, code):
    assert parse(said)[0] == parse(said, "--json")[0] == code


_NOTHING = [
    *(
        "",
        " ",
        "\n\n",
        "\t \r\n",
        "\ufeff",
        "\u200b\u2060",
        "\u3000\u00a0",
        "```\n```",
        "```json\n\n```\n",
        "~~~\n~~~",
    ),
    *(
        "````text\n````",
        "  ```\n  ```  ",
        "---",
        "***",
        "- ",
        "#",
        ">",
        "...",
        "[]",
        "{}",
        '""',
        "null",
        "```json\nnull\n```",
    ),
    *("&nbsp;", "\x00\x00", "\u2800", "| | |\n|-|-|", "```json\n[]\n```", "`", "\x1b[0m".replace("0m", "")),
]


@pytest.mark.parametrize("said", _NOTHING, ids=repr)
def test_what_says_nothing_is_no_clean_review(parse, said):
    for options in ((), ("--json",), ("--mode", "security")):
        code, out, err = parse(said, *options)
        assert code == 4
        assert "REVIEW_EMPTY" in out + err
        assert "No findings" not in out


@pytest.mark.parametrize(
    "said", ["No findings.", "LGTM", "```\nNo findings.\n```", "inga fynd", "没有发现", "0"]
)
def test_what_says_something_is_read(parse, said):
    assert parse(said)[0] == 0


def test_nothing_found_is_said(parse):
    assert parse("Looks good.")[1] == "No findings.\n"


def test_a_finding_said_twice_is_told_once_as_the_worse(parse):
    _, told, _ = parse("[WARNING] a.py:3\nThe key is plain.\n[RISK] a.py:3\nthe key is plain\n", "--json")
    assert [found["severity"] for found in json.loads(told)["findings"]] == ["RISK"]


def test_a_label_of_another_mode_is_told_of_and_still_counts(parse):
    code, told, beside = parse("[CRITICAL] a.py:3\nx", "--mode", "comment", "--json")
    assert code == 1
    assert [found["severity"] for found in json.loads(told)["findings"]] == ["CRITICAL"]
    assert beside == "CRITICAL at a.py:3: no label of mode comment\n"
    assert parse("[CRITICAL] a.py:3\nx", "--mode", "risk")[2] == ""


def test_a_mode_that_is_none_is_refused(parse):
    code, told, _ = parse("", "--mode", "quick", "--json")
    assert code not in (0, 1)
    assert json.loads(told)["error"]["code"]


def test_standard_input_is_read(parse, tmp_path, monkeypatch, capsys):
    (tmp_path / "in").write_bytes(b"\xef\xbb\xbf[RISK] a.py:3\n")
    for name in ("-", None):
        with (tmp_path / "in").open() as stdin:
            monkeypatch.setattr("sys.stdin", stdin)
            assert main(["review", "parse", *filter(None, [name])]) == 1
        assert capsys.readouterr().out == "[RISK] a.py:3\n"


@pytest.mark.parametrize(
    "said", [b"\xff\xfe[RISK] a.py:3 \xff\n", b"[RISK]\x00 a.py:3", b"\x00[RI\x1b[0mSK] a.py:3"]
)
def test_bytes_that_are_no_text_hide_nothing(parse, said):
    assert parse(said, "--json")[0] == 1


def test_a_text_has_at_most_four_mebibytes(parse):
    assert parse(b"ok" + b"\n" * (MAX_BYTES - 2))[0] == 0
    code, told, _ = parse(b" " * (MAX_BYTES + 1), "--json")
    assert (code, json.loads(told)["error"]["code"]) == (4, "REVIEW_TOO_LONG")


@pytest.mark.parametrize("name", ["nowhere.txt", ".", "a\0b"])
def test_what_cannot_be_read_is_refused(parse, capsys, name):
    parse("")
    assert main(["review", "parse", name, "--json"]) == 4
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "FILE_UNREADABLE"


def test_no_control_character_reaches_the_terminal(parse):
    _, told, _ = parse("[NOTE] a\x1b[31m.py:3\nx\x1b]0;y\x07")
    assert "\x1b" not in told
    assert "\x07" not in told
