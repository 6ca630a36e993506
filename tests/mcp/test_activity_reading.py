"""Finding records: filters against a plain reference, pages, counts, and what is not to be believed."""

from __future__ import annotations

import asyncio
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from executor import Home
from executor.core.clock import FixedClock
from ir import MclError
from mcl.core.errors import McpError
from mcl.core.home import open_home
from mcl.plugins.mcp.records import NAMES, Activity, ActivityFlaw, CallRecord, Filters, Reader, parse_filters
from mcl.plugins.mcp.records.stats import GROUPS, stats

pytestmark = pytest.mark.attended  # no command of a person is given, and rows are counted

NOW = "2026-11-21T12:00:00.000Z"
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
INTENTS = ("", "01M7Y6X0000000000000000009", "01M7Y6X000000000000000000A", "01M8000000000000000000000B")
WORDS = ("Straße", "STRASSE", "fox", "Fo", 'say "hi"', "a  b", "\n", "é", "ſ", "\x1f", "ﬁ", "")
SEVERAL = {
    "server": ("github", "files", "mcl"),
    "tool": ("read", "create_issue", "mcl:read", "files:read", "a b"),
    "operation": ("read", "write", "destructive", "none"),
    "sensitivity": ("public", "internal", "private", "unknown"),
    "status": ("allowed", "asked", "denied", "failed"),
    "code": ("SERVER_DOWN", "SERVER_MISMATCH"),
    "intent": ("01M7", *INTENTS[1:], f"matrix://intent/{INTENTS[2]}"),
    "agent": ("did:key:z6MkA", "did:key:z6Mk"),
    "client": ("inspector", "Inspector", "fast mcp"),
}


def moment(text: str) -> datetime:
    """The plain reading of since and until."""
    if ago := re.fullmatch(r"(\d+)([smhdw])", text):
        unit = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}[ago[2]]
        return NOON - timedelta(**{unit: int(ago[1])})
    read = datetime.fromisoformat(text)
    return read if read.tzinfo else read.replace(tzinfo=UTC)


def wanted(entry: CallRecord, asked: Mapping[str, Any]) -> bool:
    """The plain meaning of the filters, over what was told."""

    def any_of(name: str) -> list[str]:
        value = asked[name]
        return [value] if isinstance(value, str) else list(value)

    said = {
        "server": entry.server,
        "operation": entry.operation_type or "none",
        "sensitivity": entry.data_sensitivity or "unknown",
        "status": entry.verdict,
        "code": entry.code,
        "client": entry.client,
    }
    for name in asked:
        if name in said and said[name] not in any_of(name):
            return False
    if "tool" in asked and not {entry.tool, f"{entry.server}:{entry.tool}"} & set(any_of("tool")):
        return False
    if "intent" in asked and not any(
        entry.intent_id.startswith(one.rpartition("/")[2]) for one in any_of("intent")
    ):
        return False
    if "agent" in asked and not any(entry.agent.startswith(one) for one in any_of("agent")):
        return False
    at = datetime.fromisoformat(entry.at)
    if "since" in asked and at < moment(asked["since"]):
        return False
    if "until" in asked and at >= moment(asked["until"]):
        return False
    if "text" in asked:
        shown = (f"{entry.server}:{entry.tool}", entry.reason, f'{{"q":"{entry.args["q"]}"}}', entry.code)
        needle = " ".join(asked["text"].casefold().split())
        return any(
            needle in " ".join(text.casefold().split()) for text in (*shown, entry.client, *entry.warnings)
        )
    return True


moments = st.integers(-4 * 86400, 0).map(lambda seconds: NOON + timedelta(seconds=seconds))
entries = st.builds(
    CallRecord,
    server=st.sampled_from(SEVERAL["server"]),
    tool=st.sampled_from(("read", "create_issue", "a b")),
    verdict=st.sampled_from(SEVERAL["status"]),
    code=st.sampled_from(("", *SEVERAL["code"])),
    operation_type=st.sampled_from(("read", "write", "destructive", "")),
    data_sensitivity=st.sampled_from((*SEVERAL["sensitivity"], "")),
    reason=st.lists(st.sampled_from(WORDS), max_size=3).map(" ".join),
    args=st.sampled_from(("fox", "Straße", "x")).map(lambda word: {"q": word}),
    agent=st.sampled_from(("did:key:z6MkA", "did:key:z6MkB")),
    client=st.sampled_from(("", *SEVERAL["client"])),
    intent_id=st.sampled_from(INTENTS),
    warnings=st.lists(st.sampled_from(("policy", "Fox")), max_size=2).map(tuple),
    at=moments.map(lambda at: at.isoformat(timespec="milliseconds").replace("+00:00", "Z")),
)
times = st.sampled_from(
    ("36h", "90m", "2d", "0s", "1w", "2026-11-20", "2026-11-20T06:30Z", "2026-11-19T23:00+02:00")
)
asked_for = st.fixed_dictionaries(
    {},
    optional={
        **{
            name: st.sampled_from(values) | st.lists(st.sampled_from(values), min_size=1, max_size=3)
            for name, values in SEVERAL.items()
        },
        "since": times,
        "until": times,
        "text": st.sampled_from(
            ("fox", "strasse", "A B", '"hi"', "github:c", "é", "fi", "olic", "b:r", "\x00")
        ),
    },
).filter(
    lambda asked: not {"since", "until"} <= asked.keys() or moment(asked["since"]) < moment(asked["until"])
)


def keep(home: Home, told: Sequence[CallRecord]) -> None:
    async def talk() -> None:
        activity = Activity(home)
        await asyncio.gather(*(activity.keep(entry) for entry in told))

    asyncio.run(talk())


def filters(**asked: Any) -> Filters:
    return parse_filters(asked, now=NOW)


def calls(home: Home, **asked: Any) -> list[CallRecord]:
    found = list(Reader(home).oldest(filters(**asked)))
    assert not [one for one in found if isinstance(one, ActivityFlaw)]
    return [one for one in found if isinstance(one, CallRecord)]


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Home]]:
    """Where a property test has its homes: one that each example adds to takes a tenth of the time."""
    homes: list[Home] = []
    folder = tmp_path_factory.mktemp("homes")
    homes.append(open_home(folder / "home"))
    yield homes
    for home in homes:
        home.close()


@settings(max_examples=60)
@given(told=st.lists(entries, max_size=12), asked=asked_for, limit=st.integers(1, 5))
@example(told=[], asked={}, limit=1)
def test_pages_hold_exactly_what_was_asked_for_newest_first(
    shelf: list[Home], told: list[CallRecord], asked: dict[str, Any], limit: int
) -> None:
    home = shelf[0]
    before = home.journal.size()
    keep(home, told)
    expected = [before + place for place, entry in enumerate(told, 1) if wanted(entry, asked)]
    reader, read = Reader(home), filters(**asked)
    found: list[int] = []
    cursor = ""
    while True:
        page = reader.page(read, limit=limit, cursor=cursor)
        assert not page.flaws
        assert len(page.calls) <= limit
        found += [call.seq for call in page.calls]
        cursor = page.next
        if not cursor or found[-1] <= before:
            break
    assert [seq for seq in found if seq > before] == expected[::-1]
    mine = takewhile(lambda call: call.seq > before, reader.newest(filters()))
    assert [one.seq for one in mine if isinstance(one, CallRecord) and read.matches(one)] == expected[::-1]


@settings(max_examples=25)
@given(told=st.lists(entries, max_size=12), asked=asked_for)
def test_the_numbers_are_those_of_the_calls_that_were_asked_for(
    tmp_path_factory: pytest.TempPathFactory, told: list[CallRecord], asked: dict[str, Any]
) -> None:
    from dataclasses import replace

    told = [replace(one, latency_ms=n * 1.5, result_bytes=n * n) for n, one in enumerate(told)]
    with open_home(tmp_path_factory.mktemp("numbers") / "home") as home:
        keep(home, told)
        numbers = stats(home, filters(**asked))
    mine = [one for one in told if wanted(one, asked)]
    of = {
        "server": lambda one: one.server,
        "tool": lambda one: f"{one.server}:{one.tool}",
        "operation": lambda one: one.operation_type or "none",
        "status": lambda one: one.verdict,
        "code": lambda one: one.code,
        "sensitivity": lambda one: one.data_sensitivity or "unknown",
    }
    assert set(of) == set(GROUPS)
    check_count(numbers.total, mine)
    for name, key in of.items():
        names = {key(one) for one in mine} - {""}
        assert {count.name for count in numbers.by[name]} == names
        for count in numbers.by[name]:
            check_count(count, [one for one in mine if key(one) == count.name])


def check_count(count: Any, mine: Sequence[CallRecord]) -> None:
    latencies = sorted(one.latency_ms for one in mine)
    assert count.calls == len(mine)
    assert count.result_bytes == sum(one.result_bytes for one in mine)
    for share, told in ((50, count.p50_ms), (95, count.p95_ms)):
        if mine:
            assert told in latencies
            assert 100 * sum(one <= told for one in latencies) >= share * len(mine)
            assert 100 * sum(one < told for one in latencies) < share * len(mine)
        else:
            assert told == 0


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ({"server": "GitHub"}, "server"),
        ({"server": ["github", "no such!"]}, "server"),
        ({"server": []}, "server"),
        ({"server": None}, "server"),
        ({"server": 7}, "server"),
        ({"server": ["github", 7]}, "server"),
        ({"server": {"a": 1}}, "server"),
        ({"tool": ""}, "tool"),
        ({"tool": "a\x1bb"}, "tool"),
        ({"tool": "t" * 201}, "tool"),
        ({"operation": "readonly"}, "operation"),
        ({"operation": "READ"}, "operation"),
        ({"sensitivity": "secret"}, "sensitivity"),
        ({"status": "ok"}, "status"),
        ({"code": "server mismatch"}, "code"),
        ({"intent": "@first"}, "intent"),
        ({"intent": "../x"}, "intent"),
        ({"agent": "me"}, "agent"),
        ({"client": " "}, "client"),
        ({"client": "\ud800"}, "client"),
        ({"since": "tomorrow"}, "since"),
        ({"since": "2h ago"}, "since"),
        ({"since": "-2h"}, "since"),
        ({"since": "2026-02-30"}, "since"),
        ({"since": "2026-11-21T25:00Z"}, "since"),
        ({"since": "2026-W47-1"}, "since"),
        ({"since": 1700000000}, "since"),
        ({"since": ["2h", "3h"]}, "since"),
        ({"until": "٣d"}, "until"),
        ({"since": "1h", "until": "2h"}, "until"),
        ({"since": "2026-11-21", "until": "2026-11-21"}, "until"),
        ({"text": ""}, "text"),
        ({"text": "\n"}, "text"),
        ({"text": ["a"]}, "text"),
        ({"text": "x" * 201}, "text"),
    ],
)
def test_a_filter_that_cannot_be_right_is_an_error_that_says_what_is_allowed(
    asked: dict[str, Any], name: str
) -> None:
    with pytest.raises(McpError) as caught:
        filters(**asked)
    assert (caught.value.code, caught.value.place) == ("BAD_FILTER", name)
    assert name in caught.value.message
    assert caught.value.fix.startswith("allowed: ")
    caught.value.message.encode()


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("operation_type", "operation"),
        ("data_sensitivity", "sensitivity"),
        ("servers", "server"),
        ("zzz", ""),
    ],
)
def test_a_filter_that_there_is_not_is_an_error_that_names_them_all(name: str, meant: str) -> None:
    with pytest.raises(McpError) as caught:
        filters(**{name: "x"})
    assert caught.value.code == "BAD_FILTER"
    assert f"did you mean {meant}?" in caught.value.message if meant else "mean" not in caught.value.message
    assert all(known in caught.value.fix for known in NAMES)


@given(
    st.dictionaries(
        st.sampled_from(NAMES) | st.text(max_size=5),
        st.text(st.characters(codec=None), max_size=30) | st.lists(st.text(max_size=5)) | st.integers(),
        max_size=3,
    )
)
def test_any_filters_are_read_or_refused_as_bad(asked: dict[str, Any]) -> None:
    try:
        filters(**asked)
    except McpError as problem:
        assert problem.code == "BAD_FILTER"  # noqa: PT017


@pytest.mark.parametrize(
    "cursor", ["7", "7-0000000", "0-00000000", "7-00000000", "x", "-", "٣-00000000", None, 7]
)
def test_a_cursor_that_is_not_of_these_filters_is_refused(home: Home, cursor: Any) -> None:
    keep(home, [CallRecord("s", "t", "allowed")] * 3)
    with pytest.raises(McpError, match="cursor"):
        Reader(home).page(filters(), cursor=cursor)
    other = Reader(home).page(filters(server="s"), limit=1).next
    with pytest.raises(McpError, match="cursor"):
        Reader(home).page(filters(), cursor=other)


@pytest.mark.parametrize("limit", [0, -1, 1001, True, 2.0, "7"])
def test_a_limit_beyond_what_a_page_holds_is_refused(home: Home, limit: Any) -> None:
    with pytest.raises(McpError, match="limit"):
        Reader(home).page(filters(), limit=limit)


def test_a_page_ends_where_its_bytes_end_and_goes_on_there(home: Home) -> None:
    keep(home, [CallRecord("s", f"t{n}", "allowed", args={"text": "x" * 3000}) for n in range(9)])
    reader, found, cursor = Reader(home), list[str](), ""
    while True:
        page = reader.page(filters(), limit=50, cursor=cursor, max_bytes=9000)
        assert 1 <= len(page.calls) <= 3
        found += [call.tool for call in page.calls]
        if not (cursor := page.next):
            break
    assert found == [f"t{n}" for n in reversed(range(9))]


def test_calls_are_told_apart_by_the_moment_whatever_its_digits(home: Home) -> None:
    told = (
        "2026-11-21T10:00:00Z",
        "2026-11-21T10:00:00.000Z",
        "2026-11-21T10:00:00.5Z",
        "2026-11-21T10:00:01Z",
    )
    keep(home, [CallRecord("s", "t", "allowed", at=at) for at in told])
    found = calls(home, since="2026-11-21T10:00:00.5Z", until="2026-11-21T10:00:01Z")
    assert [call.seq for call in found] == [3]


# ---- what is not to be believed ----


@contextmanager
def as_intruder(home: Home) -> Iterator[sqlite3.Connection]:
    """A way to the file that knows no rules."""
    connection = sqlite3.connect(home.path / "mcl.db", isolation_level=None)
    connection.executescript("DROP TRIGGER IF EXISTS journal_keeps; DROP TRIGGER IF EXISTS journal_stays;")
    yield connection
    connection.close()


@pytest.fixture
def three(home: Home) -> Home:
    keep(home, [CallRecord("s", f"t{n}", "denied", reason="harmless") for n in (1, 2, 3)])
    return home


@pytest.mark.parametrize("column", ["wire", "at", "id", "self_hash"])
def test_a_record_that_was_changed_is_told_and_never_shown(three: Home, column: str) -> None:
    with as_intruder(three) as file:
        (value,) = file.execute(f"SELECT {column} FROM journal WHERE seq = 2").fetchone()
        changed = {
            "wire": lambda: value.replace(b"harmless", b"harmful!"),
            "at": lambda: value[:-1] + "0",
            "id": lambda: "7" + value[1:],  # of a time far from here: the ids of one moment are neighbours
            "self_hash": lambda: value[:-1] + "0Z"[value[-1] != "Z"],
        }[column]()
        assert changed != value
        file.execute(f"UPDATE journal SET {column} = ? WHERE seq = 2", (changed,))
    for fresh in (False, True):
        page = Reader(three, fresh=fresh).page(filters(status="denied"))
        assert [call.tool for call in page.calls] == ["t3", "t1"]
        assert [flaw.seq for flaw in page.flaws] == [2]
        assert page.flaws[0].code in ("BAD_SIGNATURE", "COLUMN_MISMATCH")
    with pytest.raises(MclError):
        Reader(three).find("2")
    assert stats(three, filters(), fresh=True).flaws == (2,)
    assert stats(three, filters()).total.calls == 2


def test_a_record_that_is_gone_is_told(three: Home) -> None:
    with as_intruder(three) as file:
        file.execute("DELETE FROM journal WHERE seq = 2")
    page = Reader(three).page(filters())
    assert [(flaw.seq, flaw.code) for flaw in page.flaws] == [(2, "ROW_UNKNOWN")]


def test_an_index_that_was_changed_shows_nothing_that_is_not_so_and_is_made_anew(three: Home) -> None:
    with as_intruder(three) as file:
        file.execute("UPDATE activity SET status = 'allowed', server = 'bank' WHERE seq = 1")
        file.execute("DELETE FROM activity WHERE seq = 2")
        file.execute("UPDATE activity_read SET seq = 3")
    page = Reader(three).page(filters(server="bank"))
    assert not page.calls
    assert [(flaw.seq, flaw.code) for flaw in page.flaws] == [(1, "INDEX_DIFFERS")]
    assert [call.tool for call in Reader(three, fresh=True).page(filters()).calls] == ["t3", "t2", "t1"]
    assert not Reader(three).page(filters()).flaws


@pytest.mark.parametrize("damage", ["DELETE FROM activity", "DELETE FROM activity WHERE seq = 2", "SELECT 1"])
def test_an_index_that_is_behind_catches_up(three: Home, damage: str) -> None:
    with as_intruder(three) as file:
        file.execute(damage)
    assert len(Reader(three).page(filters(text="harmless")).calls) == 3


def test_an_index_of_another_journal_is_made_anew(three: Home) -> None:
    with as_intruder(three) as file:
        file.execute("UPDATE activity_read SET seq = 1000")
        file.execute("UPDATE activity SET server = 'bank'")
    assert [call.server for call in calls(three)] == ["s", "s", "s"]


def test_a_record_of_another_kind_or_of_no_use_is_no_call(three: Home) -> None:
    three.journal.record("record.other", {"server": "s"})
    three.journal.record("record.mcp.call", {"server": "s"})
    page = Reader(three).page(filters())
    assert len(page.calls) == 3
    assert [(flaw.seq, flaw.code) for flaw in page.flaws] == [(5, "ACTIVITY_SHAPE")]
    with pytest.raises(MclError) as caught:
        Reader(three).find("4")
    assert caught.value.code == "RECORD_UNKNOWN"


def test_a_record_is_found_by_row_id_beginning_and_as_the_last(tmp_path: Path) -> None:
    from executor import Home as Whole

    with Whole.open(tmp_path / "home", clock=FixedClock(NOW)) as home:
        keep(home, [CallRecord("s", f"t{n}", "allowed") for n in (1, 2)])
        home.journal.record("record.other", {})
        reader = Reader(home)
        ids = [row.id for row in home.journal.rows()]
        assert reader.find("2")[0].tool == reader.find("@last")[0].tool == "t2"
        assert reader.find(ids[0])[0].tool == reader.find(ids[0].lower())[0].tool == "t1"
        for name in ("99", "", "%", "7" * 40, ids[2], ids[0][:8]):
            with pytest.raises(McpError) as caught:
                reader.find(name)
            assert caught.value.code == "RECORD_" + ("AMBIGUOUS" if name == ids[0][:8] else "UNKNOWN")
