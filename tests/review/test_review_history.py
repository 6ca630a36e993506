"""What reviews found before: ten reviews a file, the five worst findings, and never what a file holds."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from executor import FixedClock, Home
from ir.characters import written_out
from mcl.core.errors import ReviewError
from mcl.memory import MemoryStore
from mcl.memory.words import document_in
from mcl.plugins.review.finding import SEVERITIES, ReviewFinding, in_order
from mcl.plugins.review.memory.history import LEFT_OUT, TOP, ReviewMemories, without_quotes

AT = "2026-11-22T10:00:00.000Z"
KEY = "AKIA" + "ABCDEFGHIJKLMNOP"


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    with Home.open(tmp_path / "home", clock=FixedClock(AT)) as opened:
        yield opened


@pytest.fixture
def memories(home: Home, tmp_path: Path) -> ReviewMemories:
    (tmp_path / "work").mkdir()
    return ReviewMemories(home, tmp_path / "work")


def finding(
    severity: str = "NOTE", line: int = 1, body: str = "something", file: str = "a.py"
) -> ReviewFinding:
    return ReviewFinding(severity, file, line, body)  # type: ignore[arg-type]


def test_a_review_is_remembered_with_its_findings_counts_mode_model_skill_intent_and_moment(
    memories: ReviewMemories,
) -> None:
    found = [finding("NOTE", 3), finding("RISK", 9), finding("NOTE", 1)]
    memories.history.record(
        "src/a.py", findings=found, mode="risk", model="m.gguf", skill="python", intent="01ABC", at=AT
    )
    [one] = memories.history.last("src/a.py")
    assert (one.file, one.mode, one.model, one.skill, one.intent, one.at) == (
        *("src/a.py", "risk", "m.gguf", "python", "01ABC"),
        AT,
    )
    assert one.findings == in_order(found)
    assert one.severities == (("RISK", 1), ("NOTE", 2))
    assert (one.total, one.blocking, one.left_out) == (3, 1, 0)


def test_of_a_file_the_newest_ten_are_looked_back_at_and_the_oldest_are_discarded(
    memories: ReviewMemories,
) -> None:
    for number in range(13):
        memories.history.record("a.py", findings=[finding(line=number + 1)], mode="comment")
    assert [one.findings[0].line for one in memories.history.last("a.py")] == list(range(13, 3, -1))
    assert [one.findings[0].line for one in memories.history.last("a.py", 2)] == [13, 12]
    assert len(memories.history.last("a.py", 99)) == 10
    assert memories.history.last("a.py", 0) == memories.history.last("b.py") == ()


def test_the_next_review_is_told_the_five_worst_findings_of_the_last_one(memories: ReviewMemories) -> None:
    memories.history.record("a.py", findings=[finding("CRITICAL", 1, "of an older review")], mode="risk")
    found = [finding(severity, 7) for severity in reversed(SEVERITIES)]
    memories.history.record("a.py", findings=found, mode="risk")
    assert [one.severity for one in memories.history.last("a.py")[0].findings[:TOP]] == list(SEVERITIES[:5])
    memories.history.record("a.py", findings=[], mode="risk")
    assert memories.history.last("a.py")[0].findings == ()


def test_a_file_is_known_by_its_path_in_the_workspace(
    memories: ReviewMemories, home: Home, tmp_path: Path
) -> None:
    memories.history.record("src//./a.py", findings=[finding()], mode="comment")
    assert memories.history.last("src/a.py") == memories.history.last("./src/a.py")
    (tmp_path / "other").mkdir()
    assert ReviewMemories(home, tmp_path / "other").history.last("src/a.py") == ()
    (tmp_path / "link").symlink_to(tmp_path / "work")
    assert ReviewMemories(home, tmp_path / "link").history.last("src/a.py")


@pytest.mark.parametrize(
    "path", ["", ".", "../a.py", "/etc/passwd", "a/../../b", "a\nb", ".env", ".git/config"]
)
def test_what_is_no_file_of_the_workspace_has_no_history(memories: ReviewMemories, path: str) -> None:
    for asked in (
        lambda: memories.history.last(path),
        lambda: memories.history.record(path, findings=[], mode="comment"),
    ):
        with pytest.raises(ReviewError) as caught:
            asked()
        assert (caught.value.code, caught.value.place) == ("REVIEW_PATH", path)


def test_nothing_is_taken_for_a_repetition(memories: ReviewMemories, home: Home) -> None:
    for _ in range(3):
        memories.history.record("a.py", findings=[finding()], mode="comment", at=AT)
    assert len(memories.history.last("a.py")) == 3
    assert home.journal.verify().ok
    assert MemoryStore(home).snapshot().size == 3


def test_files_with_blocking_findings_in_their_last_review_are_open(memories: ReviewMemories) -> None:
    memories.history.record("b.py", findings=[finding("RISK", file="b.py")], mode="risk")
    memories.history.record("a.py", findings=[finding("WARNING")], mode="risk")
    memories.history.record("c.py", findings=[finding("NOTE", file="c.py")], mode="risk")
    assert [one.file for one in memories.history.open()] == ["a.py", "b.py"]
    memories.history.record("a.py", findings=[finding("SUGGESTION")], mode="comment")
    assert [one.file for one in memories.history.open()] == ["b.py"]
    assert [one.file for one in memories.history.files()] == ["a.py", "b.py", "c.py"]


def test_nothing_leaves_this_machine_and_nothing_is_purged(
    memories: ReviewMemories, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("a connection")

    monkeypatch.setattr("socket.socket.connect", never)
    monkeypatch.setattr("socket.getaddrinfo", never)
    for number in range(12):
        memories.history.record("a.py", findings=[finding(line=number)], mode="risk")
    assert memories.history.last("a.py")
    for sql in ("DELETE FROM journal", "UPDATE journal SET kind = 'x'"):
        with pytest.raises(sqlite3.IntegrityError), home.db.write() as connection:
            connection.execute(sql)
    assert home.db.read("SELECT count(*) FROM memories") == [(12,)]


def stored(home: Home) -> str:
    rows = home.db.read("SELECT wire FROM journal WHERE kind LIKE 'record.cortex.%'")
    return "\n".join(document_in(wire).decode() for (wire,) in rows)


def test_what_a_file_holds_is_not_kept_though_a_finding_quotes_it(
    memories: ReviewMemories, home: Home
) -> None:
    content = "def pay(amount):\n    charge_the_card(amount, now=True)\n"
    body = (
        "The line\n\n    charge_the_card(amount, now=True)\n> charge_the_card(amount, now=True)\n"
        "12 | charge_the_card(amount, now=True)\nor `charge_the_card(amount, now=True)`\n"
        "is called twice:\n```python\ncharge_the_card(1)\ncharge_the_card(2)\n```\nCall it once.\n"
        "~~~\nnever closed\n"
    )
    memories.history.record("a.py", findings=[finding(body=body)], mode="comment", content=content)
    kept = memories.history.last("a.py")[0].findings[0].body
    assert (
        kept
        == f"The line\n\n{LEFT_OUT}\nor {LEFT_OUT}\nis called twice:\n{LEFT_OUT}\nCall it once.\n{LEFT_OUT}"
    )
    assert "charge_the_card" not in stored(home)
    assert "never closed" not in stored(home)


LINES = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp"]), max_size=60)


@settings(max_examples=40)
@given(lines=st.lists(LINES, max_size=8), data=st.data())
def test_no_line_of_the_content_is_left_in_a_body(lines: list[str], data: st.DataObject) -> None:
    said = data.draw(st.lists(st.sampled_from([*lines, "prose of mine", "```", "   ```py"]), max_size=12))
    told = without_quotes("\n".join(said), "\n".join(lines)).split("\n")
    long = {line.strip() for line in lines if len(line.strip().strip("`> 0123456789:|")) >= 12}
    assert not long & {line.strip() for line in told}
    assert not any("```" in line for line in told) or any("```" in line for line in lines)


def test_secrets_and_what_drives_a_terminal_are_not_kept(memories: ReviewMemories, home: Home) -> None:
    whole = "-----BEGIN RSA PRIVATE KEY-----\nMIIE"
    found = [
        finding("RISK", 1, f"the key {KEY} \x1b[2J\u200b"),
        finding("RISK", 2, whole),
        finding("NOTE", 3),
    ]
    memories.history.record("a.py", findings=found, mode="security", model="http://user:hunter22@host/m\x07")
    [one] = memories.history.last("a.py")
    assert [found.line for found in one.findings] == [1, 2, 3]
    assert one.findings[0].body == "the key [redacted: AWS access key] \\x1b[2J\\u200b"
    for secret in (KEY, "hunter22", "MIIE", "\x1b"):
        assert secret not in stored(home)


def test_of_very_many_findings_the_worst_are_kept_and_all_are_counted(memories: ReviewMemories) -> None:
    found = [finding(SEVERITIES[number % 7], number + 1, "x" * 300) for number in range(700)]
    memories.history.record("a.py", findings=found, mode="risk")
    [one] = memories.history.last("a.py")
    assert one.total == 700
    assert dict(one.severities) == dict.fromkeys(SEVERITIES, 100)
    assert one.left_out + len(one.findings) == 700
    assert 20 < len(one.findings) < 100
    assert {found.severity for found in one.findings} == {"CRITICAL"}
    assert one.findings == in_order(found)[: len(one.findings)]


def test_a_body_that_is_too_long_says_that_it_was_cut(memories: ReviewMemories) -> None:
    memories.history.record("a.py", findings=[finding(body="word " * 400)], mode="comment")
    body = memories.history.last("a.py")[0].findings[0].body
    assert len(body) <= 600
    assert body.endswith(" … [cut]")


# What is not seen is written out; texts in which that was done stay as they are.
BODIES = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Cf", "Zl", "Zp"]), max_size=40
).map(written_out)
FINDINGS = st.lists(
    st.builds(
        ReviewFinding,
        st.sampled_from(SEVERITIES),
        st.just("a.py"),
        st.integers(0, 10**6),
        BODIES,
        st.just("B602"),
    ),
    max_size=12,
)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(findings=FINDINGS)
def test_what_is_recorded_is_what_is_read(memories: ReviewMemories, findings: list[ReviewFinding]) -> None:
    wanted = [
        ReviewFinding(one.severity, one.file, one.line, without_quotes(one.body), one.rule)
        for one in findings
    ]
    told = memories.history.record("a.py", findings=findings, mode="comment")
    assert sorted(map(repr, told.findings)) == sorted(map(repr, wanted))
    assert memories.history.last("a.py", 1) == (told,)


def test_what_a_person_made_of_the_memory_is_read_as_far_as_it_goes(
    memories: ReviewMemories, home: Home
) -> None:
    memories.history.record("a.py", findings=[finding("RISK")], mode="risk")
    told = memories.history.last("a.py")[0]
    type_, _, id_ = told.uri.removeprefix("matrix://cortex/").partition("@")[0].partition("/")
    for text, data in (
        ("no lines", {"left_out": "1 or 2"}),
        ('x\n{"severity": "RISK"}\n[1]\nnull\n{"severity": [], "line": 1, "body": 2}', {"severities": "[1"}),
        ('x\n{"severity": "LOUD", "line": 1, "body": "b"}', {"severities": '{"RISK": "many"}'}),
        ('x\n{"severity": "RISK", "line": -4, "body": "b"}', {"severities": '{"LOUD": 1}'}),
    ):
        MemoryStore(home).put(type_, text, id=id_, data=list(data.items()))
        assert memories.history.last("a.py")[0].findings == ()
    MemoryStore(home).forget(told.uri)
    assert memories.history.last("a.py") == ()
    memories.history.record("a.py", findings=[], mode="risk")
    assert len(memories.history.last("a.py")) == 1
