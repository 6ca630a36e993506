"""`mcl compile --batch`: JSON lines in, JSON lines out."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from mcl import compile_batch

KEYS = ("id", "outcome", "skill", "verb", "slots", "frame", "unknowns", "confidence", "ms")
AT = "2026-11-21T10:00:00Z"
GOALS = (
    {"id": "a", "prose": "find the word invoice in the folder notes"},
    {"id": 2, "prose": "list the last 5 commits", "skill": "repo-status"},
    {"id": "c", "prose": "find the word x in notes", "skill": "files-find", "slots": {"text": "tax"}},
)


def write(path: Path, lines: Sequence[Mapping[str, Any] | bytes | str]) -> Path:
    """A file of lines, each an object, or text or bytes as they are."""
    rows = [one if isinstance(one, bytes) else _text(one).encode() for one in lines]
    path.write_bytes(b"".join(row + b"\n" for row in rows))
    return path


def _text(one: Mapping[str, Any] | str) -> str:
    return one if isinstance(one, str) else json.dumps(one)


def read(path: Path) -> list[dict[str, Any]]:
    """The results in a file; every one of its lines must be whole."""
    data = path.read_bytes()
    assert data == b"" or data.endswith(b"\n")
    return [json.loads(line) for line in data.splitlines()]


def steady(results: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Results without what differs from one run to the next."""
    return [{key: value for key, value in one.items() if key not in ("ms", "intent")} for one in results]


def run(mcl: Any, source: Path, out: Path, *more: str) -> Any:
    """A batch without a model that must end well; its summary."""
    done = mcl("compile", "--batch", str(source), "--out", str(out), "--no-ai", "--at", AT, "--json", *more)
    assert done.code == 0, done.err
    return done.document


def test_each_line_becomes_one_of_the_same_id_in_the_same_order(mcl: Any, tmp_path: Path) -> None:
    source, out = write(tmp_path / "in", GOALS), tmp_path / "out"
    summary = run(mcl, source, out)
    results = read(out)
    assert [one["id"] for one in results] == ["a", 2, "c"]
    assert all(tuple(one)[: len(KEYS)] == KEYS for one in results)
    assert (summary["lines"], summary["kept"], sum(summary["outcomes"].values())) == (3, 0, 3)
    first, second, third = results
    assert (first["skill"], first["verb"], first["slots"]["text"]) == ("files-find", "find", "invoice")
    assert first["frame"]["verb"] == "find"
    assert second["slots"]["count"] == 5
    assert third["slots"]["text"] == "tax"


def test_what_was_compiled_is_in_the_journal_unless_it_is_not_wanted_there(mcl: Any, tmp_path: Path) -> None:
    source = write(tmp_path / "in", GOALS[:1])
    run(mcl, source, tmp_path / "unstored", "--no-store")
    assert mcl("list", "--json").document["intents"] == []
    run(mcl, source, tmp_path / "stored")
    (result,) = read(tmp_path / "stored")
    assert [one["id"] for one in mcl("list", "--json").document["intents"]] == [result["intent"]]
    assert "intent" not in read(tmp_path / "unstored")[0]


BAD = {
    b"no json": "JSON_SYNTAX",
    b"[1]": "LINE_FIELD",
    b'"text"': "LINE_FIELD",
    b"null": "LINE_FIELD",
    b"{}": "LINE_FIELD",
    b"": "LINE_EMPTY",
    b'{"prose":"x"}': "LINE_FIELD",
    b'{"id":"","prose":"x"}': "LINE_FIELD",
    b'{"id":true,"prose":"x"}': "LINE_FIELD",
    b'{"id":"1"}': "LINE_FIELD",
    b'{"id":"1","prose":7}': "LINE_FIELD",
    b'{"id":"1","prose":""}': "GOAL_EMPTY",
    b'{"id":"1","prose":" \\t "}': "GOAL_EMPTY",
    b'{"id":"1","prose":"a\\u0000b"}': "GOAL_BINARY",
    b'{"id":"1","prose":"a\0b"}': "JSON_SYNTAX",
    b'{"id":"1","prose":"a \\ud800 b"}': "LONE_SURROGATE",
    b'{"id":"1","id":"2","prose":"x"}': "DUPLICATE_KEY",
    b'{"id":"1","prose":"x","skill":"no-such"}': "SKILL_UNKNOWN",
    b'{"id":"1","prose":"x","skill":["a"]}': "LINE_FIELD",
    b'{"id":"1","prose":"x","verb":"sing"}': "VERB_UNKNOWN",
    b'{"id":"1","prose":"x","at":"yesterday"}': "TIME_INVALID",
    b'{"id":"1","prose":"x","slots":[]}': "LINE_FIELD",
    b'{"id":"1","prose":"x","slots":{"a":{}},"skill":"files-find"}': "LINE_FIELD",
    b'{"id":"1","prose":"x","slots":{"no":"1"},"skill":"files-find"}': "SLOT_UNKNOWN",
    b'{"id":"1","prose":NaN}': "NOT_A_NUMBER",
    b'{"id":"1","prose":"' + b"long " * 3000 + b'"}': "GOAL_TOO_LONG",
    b'{"id":"1","prose":"' + b"x" * 10_000_000 + b'"}': "LINE_TOO_LONG",
    b"[" * 100_000: "TOO_DEEP",
    b'{"id":"\xff","prose":"x"}': "NOT_UTF8",
}


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_bad_line_is_told_with_code_message_and_place_and_costs_the_others_nothing(
    mcl: Any, tmp_path: Path, jobs: str
) -> None:
    source, out = write(tmp_path / "in", [*BAD, GOALS[0]]), tmp_path / "out"
    summary = run(mcl, source, out, "--jobs", jobs, "--no-store")
    *bad, good = read(out)
    assert [one["error"]["code"] for one in bad] == list(BAD.values())
    for number, one in enumerate(bad, 1):
        assert one["outcome"] == "error"
        assert one["error"]["message"]
        assert one["error"]["fix"], one
        assert one["error"]["place"].startswith(f"line {number}")
    assert good["skill"] == "files-find"
    assert summary["outcomes"]["error"] == len(BAD)


def test_empty_lines_at_the_end_count_for_nothing_and_a_last_line_needs_no_end(
    mcl: Any, tmp_path: Path
) -> None:
    (tmp_path / "in").write_bytes(b"\xef\xbb\xbf" + json.dumps(GOALS[0]).encode() + b"\r\n\n \n")
    assert run(mcl, tmp_path / "in", tmp_path / "out")["outcomes"]["error"] == 0
    assert len(read(tmp_path / "out")) == 1
    (tmp_path / "in2").write_text(json.dumps(GOALS[0]))
    assert run(mcl, tmp_path / "in2", tmp_path / "out2")["lines"] == 1
    (tmp_path / "in3").write_bytes(b"")
    assert run(mcl, tmp_path / "in3", tmp_path / "out3")["lines"] == 0


def test_the_skills_of_a_named_folder_are_the_only_choices(mcl: Any, tmp_path: Path) -> None:
    for name in ("brew-tea", "wash-car"):
        assert mcl("skill", "new", name, "--verb", "build", "--in", str(tmp_path / "own")).code == 0
    lines = [
        {"id": "1", "prose": "brew tea"},
        {"id": "2", "prose": "find the word invoice in the folder notes"},
        {"id": "3", "prose": "list files", "skill": "files-find"},
    ]
    run(mcl, write(tmp_path / "in", lines), tmp_path / "out", "--skills", str(tmp_path / "own"))
    tea, other, named = read(tmp_path / "out")
    assert {tea["skill"], *other.get("nearest", ())} <= {"brew-tea", "wash-car", ""}
    assert other["skill"] != "files-find"
    assert named["error"]["code"] == "SKILL_UNKNOWN"


@pytest.mark.parametrize(
    ("folder", "code"), [("missing", "NO_FOLDER"), ("empty", "NO_SKILLS"), ("broken", "SKILL_INVALID")]
)
def test_a_folder_of_skills_that_cannot_be_used_ends_the_batch_before_it_begins(
    mcl: Any, tmp_path: Path, folder: str, code: str
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken" / "one").mkdir(parents=True)
    (tmp_path / "broken" / "one" / "SKILL.mtx").write_text("§SKILL\nid=")
    source, out = write(tmp_path / "in", GOALS), tmp_path / "out"
    where = ("--skills", str(tmp_path / folder))
    for jobs in ("1", "2"):
        done = mcl(
            "compile", "--batch", str(source), "--out", str(out), "--no-ai", "--json", "--jobs", jobs, *where
        )
        assert (done.code, done.document["error"]["code"]) == (2, code)
        assert read(out) == []


# ---- going on ---------------------------------------------------------------------------------------------


def test_what_is_there_already_is_kept_and_half_a_line_is_made_whole(mcl: Any, tmp_path: Path) -> None:
    source, out = write(tmp_path / "in", [*GOALS, "bad", *GOALS]), tmp_path / "out"
    run(mcl, source, out, "--no-store")
    whole = out.read_bytes()
    lines = whole.splitlines(keepends=True)
    for cut in (0, 1, 5, len(lines[0]), len(lines[0]) + 9, len(whole) - 1, len(whole)):
        out.write_bytes(whole[:cut])
        summary = run(mcl, source, out, "--no-store")
        kept = whole[:cut].count(b"\n")
        assert summary["kept"] == kept
        assert summary["lines"] == len(lines)
        assert out.read_bytes().splitlines()[:kept] == whole.splitlines()[:kept]
        assert steady(read(out)) == steady([json.loads(line) for line in lines])


@pytest.mark.parametrize(
    "there",
    [
        "my notes\n",
        "my notes",
        "{}\n",
        '{"id":"b","outcome":"compiled"}\n',
        '{"id":"a","outcome":"compiled","of":"0123456789abcdef"}\n',
        "\n",
        "[" * 100_000 + "\n",
    ],
)
def test_an_output_that_is_not_of_this_input_is_refused_and_left_as_it_is(
    mcl: Any, tmp_path: Path, there: str
) -> None:
    source, out = write(tmp_path / "in", GOALS), tmp_path / "out"
    out.write_text(there)
    done = mcl("compile", "--batch", str(source), "--out", str(out), "--no-ai", "--json")
    assert (done.code, done.document["error"]["code"]) == (2, "OUT_DIFFERS")
    assert done.document["error"]["place"] == f"{out}:1"
    assert out.read_text() == there


def test_an_output_of_other_goals_settings_or_of_more_lines_is_refused(mcl: Any, tmp_path: Path) -> None:
    source, out = write(tmp_path / "in", GOALS), tmp_path / "out"
    run(mcl, source, out)
    given = ("compile", "--batch", str(source), "--out", str(out), "--no-ai", "--at", AT, "--json")
    other_zone = mcl(*given, "--zone", "Pacific/Apia")
    write(source, GOALS[:2])
    fewer = mcl(*given)
    write(source, [{**GOALS[0], "prose": "find the word tax in notes"}, *GOALS[1:]])
    other_goal = mcl(*given)
    for done, line in ((other_zone, 1), (fewer, 3), (other_goal, 1)):
        assert (done.code, done.document["error"]["code"]) == (2, "OUT_DIFFERS")
        assert done.document["error"]["place"] == f"{out}:{line}"


@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_batch_that_was_killed_goes_on_and_ends_with_the_same_file(
    mcl: Any, tmp_path: Path, jobs: str
) -> None:
    mcl("init")
    goals = [{**GOALS[n % 3], "id": f"g{n}"} for n in range(200)]
    source, out = write(tmp_path / "in", goals), tmp_path / "out"
    given = ("compile", "--batch", str(source), "--out", str(out), "--no-ai", "--no-store", "--at", AT)
    begun = mcl.start(*given, "--jobs", jobs)
    while not out.exists() or out.stat().st_size < 10_000:
        assert begun.poll() is None, "it ended before it could be killed"
        time.sleep(0.002)
    os.kill(begun.pid, signal.SIGKILL)
    begun.communicate()
    before = out.read_bytes()
    there = len(read(out))
    assert 0 < there < len(goals)
    assert mcl(*given, "--jobs", jobs).code == 0
    assert out.read_bytes().startswith(before)
    fresh = tmp_path / "fresh"
    run(mcl, source, fresh, "--no-store")
    assert steady(read(out)) == steady(read(fresh))


def test_several_processes_give_what_one_gives(mcl: Any, tmp_path: Path) -> None:
    goals = [{**GOALS[n % 3], "id": n} for n in range(40)]
    source = write(tmp_path / "in", goals)
    run(mcl, source, tmp_path / "one", "--no-store")
    run(mcl, source, tmp_path / "three", "--no-store", "--jobs", "3")
    assert steady(read(tmp_path / "one")) == steady(read(tmp_path / "three"))


def test_two_batches_do_not_write_one_file(mcl: Any, tmp_path: Path) -> None:
    mcl("init")
    source, out = write(tmp_path / "in", [GOALS[0]] * 300), tmp_path / "out"
    given = ("compile", "--batch", str(source), "--out", str(out), "--no-ai", "--no-store")
    first = mcl.start(*given)
    while not out.exists() or not out.stat().st_size:
        assert first.poll() is None
        time.sleep(0.002)
    second = mcl(*given, "--json")
    first.kill()
    first.communicate()
    assert (second.code, second.document["error"]["code"]) == (2, "OUT_BUSY")


# ---- files and streams ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "out", "exit_code", "code"),
    [
        ("missing", "out", 2, "IN_UNREADABLE"),
        (".", "out", 2, "IN_UNREADABLE"),
        ("in", ".", 5, "OUT_UNWRITABLE"),
        ("in", "no/such/out", 5, "OUT_UNWRITABLE"),
        ("in", "/dev/full", 5, "OUT_UNWRITABLE"),
        ("in", "in", 2, "OUT_IS_IN"),
    ],
)
def test_a_file_that_cannot_be_read_or_written_ends_with_a_code(
    mcl: Any, tmp_path: Path, source: str, out: str, exit_code: int, code: str
) -> None:
    before = write(tmp_path / "in", GOALS).read_bytes()
    given = ("--batch", str(tmp_path / source), "--out", str(tmp_path / out))
    done = mcl("compile", *given, "--no-ai", "--no-store", "--json")
    assert (done.code, done.document["error"]["code"]) == (exit_code, code)
    assert (tmp_path / "in").read_bytes() == before


def test_dashes_are_standard_input_and_output_and_the_sum_is_told_beside_them(mcl: Any) -> None:
    fed = b"".join(json.dumps(one).encode() + b"\n" for one in GOALS)
    done = mcl.other("compile", "--batch", "-", "--out", "-", "--no-ai", "--no-store", stdin=fed)
    assert done.code == 0
    assert [json.loads(line)["id"] for line in done.out.splitlines()] == ["a", 2, "c"]
    assert "3 lines" in done.err


def test_who_writes_into_a_pipe_gets_an_answer_to_each_line(mcl: Any) -> None:
    talk = mcl.start("compile", "--batch", "-", "--out", "-", "--no-ai", "--no-store", "--jobs", "2")
    assert talk.stdin is not None
    assert talk.stdout is not None
    for goal in GOALS:
        talk.stdin.write(json.dumps(goal).encode() + b"\n")
        talk.stdin.flush()
        assert json.loads(talk.stdout.readline())["id"] == goal["id"]
    talk.communicate()
    assert talk.returncode == 0


@pytest.mark.parametrize(
    "given",
    [
        ("compile",),
        ("compile", "a goal", "--out", "x"),
        ("compile", "a goal", "--jobs", "2"),
        ("compile", "a goal", "--no-store"),
        ("compile", "--batch", "-"),
        ("compile", "a goal", "--batch", "-", "--out", "-"),
        ("compile", "--batch", "-", "--out", "-", "--skill", "files-find"),
        ("compile", "--batch", "-", "--out", "-", "--dry-run"),
        ("compile", "--batch", "in", "--out", "out", "--jobs", "0"),
        ("compile", "--batch", "in", "--out", "out", "--jobs", "100000"),
    ],
)
def test_options_that_do_not_go_together_are_refused(given: tuple[str, ...], mcl: Any) -> None:
    write(mcl.folder / "in", GOALS)
    done = mcl(*given, "--no-ai", "--json")
    assert done.code == 2
    assert done.document["error"]["code"] in ("USAGE", "BATCH_JOBS")


def test_a_line_that_its_process_dies_of_is_an_error_and_the_others_are_compiled(
    mcl: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stands in for an abort of the model's library, which no handler in Python can stop."""
    (tmp_path / "sitecustomize.py").write_text(
        "import os\n"
        "import mcl.usecases.batch.goals as goals\n"
        "read = goals.read_goal\n"
        "def dying(line):\n"
        "    goal = read(line)\n"
        "    if goal.prose == 'die': os.abort()\n"
        "    return goal\n"
        "goals.read_goal = dying\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    source = write(
        tmp_path / "in", [GOALS[0], {"id": "x", "prose": "die"}, *GOALS, {"id": "y", "prose": "die"}]
    )
    run(mcl, source, tmp_path / "out", "--jobs", "2", "--no-store")
    results = read(tmp_path / "out")
    assert [one["id"] for one in results] == ["a", "x", "a", 2, "c", "y"]
    died = [one for one in results if one["outcome"] == "error"]
    assert [one["error"]["code"] for one in died] == ["WORKER_FAILED"] * 2
    assert "signal 6" in died[0]["error"]["message"]


def test_the_library_does_the_same_as_the_command(
    mcl: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MCL_HOME", str(mcl.home))
    told: list[tuple[int, int | None]] = []
    source = write(tmp_path / "in", GOALS)
    done = compile_batch(
        source,
        tmp_path / "out",
        ai=False,
        at=AT,
        store=False,
        progress=lambda done, total: told.append((done, total)),
    )
    run(mcl, source, tmp_path / "other", "--no-store")
    assert steady(read(tmp_path / "out")) == steady(read(tmp_path / "other"))
    assert (done.lines, done.kept) == (3, 0)
    assert told == [(0, 3), (1, 3), (2, 3), (3, 3)]


@pytest.mark.slow  # each process takes a second to open the key
def test_a_sealed_key_signs_in_every_process_and_its_absence_is_told(mcl: Any, tmp_path: Path) -> None:
    mcl.passphrase = "open sesame"
    assert mcl("init", "--passphrase").code == 0
    source = write(tmp_path / "in", GOALS)
    run(mcl, source, tmp_path / "out", "--jobs", "2")
    assert all("intent" in one for one in read(tmp_path / "out"))
    mcl.passphrase = ""
    for jobs in ("1", "2"):
        given = ("--batch", str(source), "--out", str(tmp_path / f"none{jobs}"), "--jobs", jobs)
        done = mcl("compile", *given, "--no-ai", "--json")
        assert done.code != 0
        assert "KEY" in done.document["error"]["code"]
        assert read(tmp_path / f"none{jobs}") == []


def test_what_a_model_answered_before_counts_where_it_is_kept_and_never_with_no_store(
    mcl: Any, tmp_path: Path
) -> None:
    source = write(tmp_path / "in", GOALS)

    def cached(out: str, *more: str) -> tuple[int, list[bool]]:
        done = mcl(
            "compile", "--batch", str(source), "--out", str(tmp_path / out), "--at", AT, "--json", *more
        )
        assert done.code == 0, done.err
        return done.document["cached"], [one.get("cached", False) for one in read(tmp_path / out)]

    assert cached("first") == (0, [False] * 3)
    assert cached("second", "--jobs", "2") == (3, [True] * 3)
    assert cached("third", "--no-store") == (0, [False] * 3)
    assert cached("fourth", "--no-cache") == (0, [False] * 3)
    alike = [steady(read(tmp_path / out)) for out in ("first", "second", "third", "fourth")]
    for results in alike:
        for one in results:
            one.pop("cached", None)
    assert all(results == alike[0] for results in alike)
    single = mcl("compile", GOALS[0]["prose"], "--json")
    assert single.document["cached"]


@pytest.mark.parametrize("more", [(), ("--no-ai",)], ids=["model", "matcher"])
def test_a_skill_that_names_no_verbs_may_be_chosen_with_any(
    mcl: Any, tmp_path: Path, more: tuple[str, ...]
) -> None:
    assert mcl("skill", "new", "brew-tea", "--verb", "build", "--in", str(tmp_path / "own")).code == 0
    file = tmp_path / "own" / "brew-tea" / "SKILL.mtx"
    (tmp_path / "own" / "brew-tea" / "plan.yaml").unlink()
    file.write_text("".join(line for line in file.open() if not line.startswith("mcl.verbs")))
    lines = [
        {"id": 1, "prose": "brew tea", "skill": "brew-tea"},
        {"id": 2, "prose": "brew tea", "skill": "brew-tea", "verb": "monitor"},
        {"id": 3, "prose": "brew tea"},
    ]
    source, out = write(tmp_path / "in", lines), tmp_path / "out"
    where = ("--skills", str(tmp_path / "own"), "--no-store")
    assert mcl("compile", "--batch", str(source), "--out", str(out), *where, *more).code == 0
    results = read(out)
    assert [one for one in results if one["outcome"] == "error"] == []
    assert results[1]["verb"] == "monitor"


# ---- what none of it could be tried of ----

BAD_LINES: tuple[Mapping[str, Any] | str, ...] = (
    *("no json", "[]", '{"id": 1}', '{"id": 1, "prose": ""}', '{"id": 1, "id": 2, "prose": "x"}', "null"),
    *('{"prose": "find x"}', '{"id": 1, "prose": 7}', '{"id": 1, "prose": "\\ud800"}'),
    *({"id": 1, "prose": "find x", "skill": "none"}, {"id": 1, "prose": "find x", "verb": "destroy"}),
    {"id": 1, "prose": "find x", "at": "never"},
)


@pytest.mark.parametrize("more", [(), ("--json",)], ids=["text", "json"])
def test_a_batch_of_errors_alone_failed_and_one_with_anything_else_did_not(
    mcl: Any, tmp_path: Path, more: tuple[str, ...]
) -> None:
    def code(name: str, *lines: Mapping[str, Any] | str) -> int:
        source, out = write(tmp_path / f"{name}.in", lines), tmp_path / f"{name}.out"
        given = ("compile", "--batch", str(source), "--out", str(out), "--no-ai", "--no-store", *more)
        first = mcl(*given)
        assert mcl(*given).code == first.code  # what is there already counts as it did
        return int(first.code)

    for number, line in enumerate(BAD_LINES):
        assert code(f"bad-{number}", line) == 5, line
    assert code("all", *BAD_LINES) == 5
    assert code("some", *BAD_LINES, GOALS[0]) == 0
    assert code("refused", {"id": 1, "prose": "hello"}) == 0
    assert code("none") == 0
