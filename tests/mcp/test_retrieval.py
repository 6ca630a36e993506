"""Finding a tool by what it is wanted for: what fits, in which order, how well, and in any language."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from mcl.plugins.mcp.shelf import ToolIndex, ToolText, entry_of, words

LABELLED = Path(__file__).with_name("retrieval")
FEW = (
    ToolText("github:create_issue", "Opens a new issue in a repository", ("owner", "repo", "title")),
    ToolText("git:log", "Shows the commits of a branch", ("max_count",)),
    ToolText("files:readTextFile", "Gives the contents of a file", ("path", "encoding")),
)


def _tools() -> list[ToolText]:
    servers = tomllib.loads((LABELLED / "tools.toml").read_text())
    return [
        ToolText(f"{server}:{tool}", told["says"], tuple(told["takes"]))
        for server, tools in servers.items()
        for tool, told in tools.items()
    ]


def _questions() -> list[tuple[str, list[str]]]:
    return [
        (asked, right)
        for asked, right in tomllib.loads((LABELLED / "questions.toml").read_text())["questions"]
    ]


def _recall(questions: list[tuple[str, list[str]]]) -> float:
    tools = _tools()
    index = ToolIndex(tools)
    hits = sum(
        any(tools[found.place].name in right for found in index.find(asked, 5)) for asked, right in questions
    )
    return hits / len(questions)


def _names(index: ToolIndex, query: str, limit: int = 5) -> list[str]:
    return [index.entries[found.place].name for found in index.find(query, limit)]


def test_the_labelled_set_is_as_large_as_it_says_and_names_only_tools_that_there_are() -> None:
    tools, questions = [tool.name for tool in _tools()], _questions()
    assert len(tools) == len(set(tools)) == 136
    assert len(questions) == len(dict(questions)) == 102
    assert all(name in tools for _, right in questions for name in right)


def test_of_ten_plain_questions_eight_find_their_tool_among_the_first_five() -> None:
    """Measured 0.863 on the half that chose the weights, 0.804 on the other: docs/mcp.md tells both."""
    questions = _questions()
    assert _recall(questions[0::2]) >= 0.85
    assert _recall(questions[1::2]) >= 0.80


def test_each_field_finds_tools() -> None:
    index = ToolIndex(FEW)
    assert _names(index, "create") == ["github:create_issue"]
    assert _names(index, "contents") == ["files:readTextFile"]
    assert _names(index, "encoding") == ["files:readTextFile"]
    assert _names(index, "the server of git") == ["git:log"]


def test_names_are_split_at_their_joints() -> None:
    assert words("box-server:read_text/HTTPGet.readTextFile") == [
        *("box", "server", "read", "text", "http", "get", "read", "text", "fil")
    ]


def test_a_word_in_another_form_is_the_same_word() -> None:
    for one, other in (
        ("files", "file"),
        ("creating", "create"),
        ("committed", "commits"),
        ("queries", "query"),
        ("modified", "modify"),
        ("branches", "branch"),
        ("ＦＩＬＥ", "file"),
    ):
        assert words(one) == words(other), (one, other)


def test_words_that_say_nothing_find_nothing() -> None:
    index = ToolIndex(FEW)
    for query in ("", "  ", "the of and", "?!", "🦆", "\x00", "zzz"):
        assert index.find(query) == []


def test_a_question_may_be_in_any_script() -> None:
    index = ToolIndex(
        [*FEW, ToolText("wetter:heute", "天気を調べる", ()), ToolText("x:y", "Прогноз погоды на завтра", ())]
    )
    assert _names(index, "今日の天気") == ["wetter:heute"]
    assert _names(index, "погоды?") == ["x:y"]
    assert _names(index, "Datei öffnen") == []


def test_scores_lie_between_0_and_1_and_tell_how_much_of_a_question_is_met() -> None:
    index = ToolIndex(_tools())
    (whole, *_), (half, *_) = index.find("commit log"), index.find("commit log zebra giraffe")
    assert 0 < half.score < whole.score <= 1
    assert (whole.place, whole.score) == (index.find("Log, COMMIT!")[0].place, whole.score)


def test_equal_scores_are_told_in_the_order_of_the_tools() -> None:
    same = [ToolText(f"s{n}:tool", "does it") for n in range(20)]
    assert [found.place for found in ToolIndex(same).find("tool", 20)] == list(range(20))
    assert [found.place for found in ToolIndex(same).find("tool", 3)] == [0, 1, 2]


def test_only_tools_that_may_be_told_are_told() -> None:
    index = ToolIndex(_tools())
    found = index.find("commit", 50, among=lambda place: index.entries[place].name.startswith("git:"))
    assert found
    assert all(index.entries[one.place].name.startswith("git:") for one in found)
    assert len(index.find("commit", 2)) == 2
    assert index.find("commit", 0) == []


def test_nothing_can_be_found_where_there_is_nothing() -> None:
    assert ToolIndex([]).find("file") == []
    assert ToolIndex([ToolText("", "", ())]).find("file") == []


def test_a_hostile_definition_is_searched_as_far_as_it_is_one() -> None:
    assert entry_of("s:t", {"name": 3, "description": ["x"], "inputSchema": "no"}) == ToolText("s:t", "", ())
    long = ToolText("s:long", "word " * 1_000_000, ("a" * 100_000,))
    assert _names(ToolIndex([*FEW, long]), "word") == ["s:long"]


@given(st.text(max_size=200), st.integers(0, 10))
def test_any_text_is_a_question(query: str, limit: int) -> None:
    found = ToolIndex(FEW).find(query, limit)
    assert len(found) <= limit
    assert all(0 < one.score <= 1 for one in found)


@given(st.lists(st.text(max_size=30), min_size=1, max_size=5), st.text(max_size=50))
def test_any_text_is_a_description(texts: list[str], query: str) -> None:
    ToolIndex([ToolText(text, text, (text,)) for text in texts]).find(query)


def test_two_processes_tell_the_same() -> None:
    code = (
        "from mcl.plugins.mcp.shelf import *\n"
        "tools = [ToolText(f's:{n % 7}-{n}', 'reads or writes files', (f'a{n % 3}',)) for n in range(60)]\n"
        "print(ToolIndex(tools).find('read the file a1 5', 60))"
    )
    told = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(told) == 1
    assert "Hit" in told.pop()
