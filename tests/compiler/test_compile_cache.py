"""The model's answers of an earlier compile count again; everything else is done anew."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from executor.store.home import Home
from ir import canonical_bytes
from mcl import Compiled, compile_goal, open_home, replay
from mcl.compiler.stages.request import GoalRequest
from mcl.compiler.tape import About, Tapes
from mcl.language.mtx.core import core_of
from mcl.memory import MemoryStore
from mcl.usecases.installed import installed
from mcl.usecases.models import Models

GOAL = "find the word invoice in the folder notes"
AT = "2026-11-21T10:00:00Z"
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    monkeypatch.chdir(tmp_path)
    with open_home(tmp_path / "home") as opened:
        yield opened


def compiled(home: Home, goal: str = GOAL, **more: Any) -> Compiled:
    result = compile_goal(goal, home=home, **{"skill": "files-find", **more})
    assert isinstance(result, Compiled), result
    return result


def tape_files(home: Home) -> list[Path]:
    return sorted(Tapes.of(home.path).folder.glob("*.tape"))


def test_the_same_goal_is_answered_from_the_cache_with_a_fresh_id_time_and_signature(home: Home) -> None:
    first, second = compiled(home), compiled(home)
    assert (first.cached, second.cached) == (False, True)
    assert first.intent.id != second.intent.id
    assert first.intent.frame == second.intent.frame
    assert second.intent.compile_metadata is not None
    assert first.intent.compile_metadata is not None
    assert (
        second.intent.compile_metadata.model_copy(update={"seed": first.intent.compile_metadata.seed})
        == first.intent.compile_metadata
    )
    assert [row.kind for row in home.journal.rows(second.intent.id)][:2] == [
        "intent.draft",
        "intent.compiled",
    ]


def test_equal_inputs_give_equal_bytes_with_and_without_a_hit_and_both_replay(home: Home) -> None:
    id = "01M7Y6X0000000000000000009"
    asked = [compiled(home, id=id, at=AT, dry_run=True, cache=cache) for cache in (False, True, True)]
    assert [one.cached for one in asked] == [False, False, True]
    assert len({canonical_bytes(one.intent) for one in asked}) == 1
    assert asked[1].plan == asked[2].plan
    assert asked[1].prompt == asked[2].prompt
    hit = compiled(home)
    assert hit.cached
    again = replay(hit.intent.id, home=home)
    assert again.same, again.items


def test_days_are_read_from_the_moment_of_the_compile_not_of_the_kept_answer(home: Home) -> None:
    goal = f"{GOAL} by Friday"
    first = compiled(home, goal, at=AT)
    second = compiled(home, goal, at="2026-12-05T10:00:00Z")
    assert second.cached
    assert first.intent.deadline
    assert second.intent.deadline > first.intent.deadline


@pytest.mark.parametrize(
    "other",
    [
        {"goal": "find the word tax in the folder notes"},
        {"zone": "Europe/Stockholm"},
        {"verb": "find"},
        {"slots": {"folder": "notes"}},
        {"skill": None},
    ],
    ids=lambda other: next(iter(other)),
)
def test_what_is_asked_otherwise_is_not_answered_from_the_cache(home: Home, other: dict[str, Any]) -> None:
    compiled(home)
    result = compile_goal(home=home, **{"goal": GOAL, "skill": "files-find", **other})
    assert not result.cached


def test_a_key_covers_all_that_an_answer_depends_on(home: Home) -> None:
    tapes, skills, core = Tapes.of(home.path), installed(home.path), core_of(home.path)
    request = GoalRequest("01M7Y6X0000000000000000009", AT, "UTC", "did:a", "did:b", GOAL)
    about = About(request, core, skills, "0" * 64)

    def key(model: str = "m", **other: Any) -> str:
        asked = {name: value for name, value in other.items() if name not in ("core", "skills", "memories")}
        rest = {name: value for name, value in other.items() if name not in asked}
        return tapes.key(replace(about, request=replace(request, **asked), **rest), model)

    fewer = replace(skills, by_id=dict(list(skills.by_id.items())[1:]))
    changed_id, one = next(iter(skills.by_id.items()))
    rewritten = replace(skills, by_id={**skills.by_id, changed_id: replace(one, file_digest="f" * 64)})
    modules = dict(core.modules)
    modules["verb"] = replace(modules["verb"], digest="e" * 64)
    keys = [
        key(),
        key("n"),
        key(actor="did:c"),
        key(prose="other"),
        key(zone="Europe/Oslo"),
        key(skill="x"),
        key(verb="find"),
        key(slots={"a": "b"}),
        key(skills=fewer),
        key(skills=rewritten),
        key(core=replace(core, modules=modules)),
        key(memories="1" * 64),
    ]
    assert len(set(keys)) == len(keys)
    assert key(id="01M7Y6X000000000000000000A", at="2027-01-01T00:00:00Z") == key()


def test_a_new_memory_makes_the_kept_answers_of_before_unfit(home: Home) -> None:
    compiled(home)
    MemoryStore(home).put("Fact", "The notes are in the folder notes.", tags=("files",))
    assert not compiled(home).cached


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "a flipped byte": lambda data: data[:200] + bytes([data[200] ^ 1]) + data[201:],
    "a flipped sum": lambda data: bytes([data[0] ^ 1]) + data[1:],
    "cut short": lambda data: data[: len(data) // 2],
    "empty": lambda data: b"",
    "something else": lambda data: b"\0" * 500,
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_entry_is_a_miss_and_is_written_again(home: Home, damage: Callable[[bytes], bytes]) -> None:
    first = compiled(home)
    (file,) = tape_files(home)
    whole = file.read_bytes()
    file.write_bytes(damage(whole))
    again = compiled(home)
    assert not again.cached
    assert again.intent.frame == first.intent.frame
    assert file.read_bytes() == whole
    assert compiled(home).cached


def test_a_sound_entry_that_is_no_tape_or_another_keys_is_a_miss(home: Home) -> None:
    tapes = Tapes.of(home.path)
    compiled(home)
    (file,) = tape_files(home)
    key = file.read_bytes()[32:96].decode()
    for other in (b"[]", b"{}", b"not json", b'{"digest":1,"version":2,"grammar":3,"answers":{}}', b"null"):
        tapes.keep(key, other)
        assert tapes.find(key) == other
        assert not compiled(home).cached
        assert compiled(home).cached
    elsewhere = key[:3] + "0" * 61
    tapes.keep(elsewhere, b"of another")
    assert tapes.find(key) is None
    assert len(tape_files(home)) == 1


def test_an_entry_that_others_may_write_is_not_believed(home: Home) -> None:
    compiled(home)
    (file,) = tape_files(home)
    file.chmod(0o666)
    assert not compiled(home).cached


def test_the_folder_never_has_more_entries_than_there_are_places(tmp_path: Path) -> None:
    tapes = Tapes(tmp_path / "compile")
    for number in range(300):
        tapes.keep(f"{number % 7:03x}{number:061x}", b"x" * 100)
    assert tapes.size() == (7, 7 * (32 + 64 + 100))
    tapes.keep("f" * 64, b"x" * 10_000_000)
    assert tapes.find("f" * 64) is None


def test_a_folder_that_cannot_be_written_costs_nothing_but_time(home: Home) -> None:
    folder = Tapes.of(home.path).folder
    folder.parent.mkdir(exist_ok=True)
    folder.write_text("a file in its place")
    assert not compiled(home).cached
    assert not compiled(home).cached


def test_without_the_cache_nothing_is_read_or_kept(home: Home) -> None:
    compiled(home, cache=False)
    assert tape_files(home) == []
    compiled(home)
    assert not compiled(home, cache=False).cached


def test_an_open_model_and_the_matcher_are_always_asked(home: Home) -> None:
    model = Models(home).open()
    for given in ({"model": model}, {"ai": False}):
        assert [compiled(home, **given).cached for _ in range(2)] == [False, False]
    assert tape_files(home) == []


def test_questions_are_answered_from_the_cache_too_and_can_still_be_settled(home: Home) -> None:
    asked = [compile_goal("do the thing", home=home, skill="note-write") for _ in range(2)]
    assert [one.cached for one in asked] == [False, True]
    assert type(asked[0]) is type(asked[1])


def test_two_processes_at_once_harm_nothing(home: Home) -> None:
    code = (
        "from pathlib import Path\n"
        "from mcl.compiler.tape import Tapes\n"
        "import sys\n"
        f"tapes = Tapes(Path({str(Tapes.of(home.path).folder)!r}))\n"
        "for round in range(300):\n"
        "    key = f'{round % 3:03x}' + sys.argv[1] * 61\n"
        "    tapes.keep(key, sys.argv[1].encode() * 5000)\n"
        "    found = tapes.find(key)\n"
        "    assert found in (None, sys.argv[1].encode() * 5000), found[:20]\n"
    )
    both = [subprocess.Popen([sys.executable, "-c", code, name], cwd=ROOT) for name in "ab"]
    assert [one.wait(60) for one in both] == [0, 0]
    assert len(tape_files(home)) == 3
    assert not [path for path in Tapes.of(home.path).folder.iterdir() if path.suffix != ".tape"]


def test_the_command_line_tells_of_a_hit_and_can_leave_the_cache_out(
    home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from mcl.cli.main import main

    monkeypatch.setenv("MCL_HOME", str(home.path))

    def told(*more: str) -> Any:
        capsys.readouterr()
        main(["compile", GOAL, "--skill", "files-find", "--json", *more])
        return json.loads(capsys.readouterr().out)["cached"]

    assert [told(), told(), told("--no-cache")] == [False, True, False]
    main(["model", "show", "bundled", "--json"])
    assert json.loads(capsys.readouterr().out)["compile_cache"] == {
        "folder": str(Tapes.of(home.path).folder),
        "entries": 1,
        "bytes": tape_files(home)[0].stat().st_size,
    }
    main(["model", "show", "bundled"])
    shown = capsys.readouterr().out
    assert "entries 1" in shown
    assert not {"None", "True", "False", "{"} & set(shown.replace("{", " { ").split())
