"""The files of a home, each written to by somebody who holds no key: what that wins, and what it does not."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from executor import Home
from tests.cli.conftest import ROOT, Shell

PAGE = (ROOT / "docs/security.md").read_text()
COMMAND = "[hello]\ndescription = 'Say hello.'\nargv = ['echo', 'hello']\neffect = 'read'\n"


def table() -> list[tuple[str, str]]:
    """The files of the page, and where each is said to be tried."""
    part = PAGE.partition("## The files of the home")[2].partition("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in part.splitlines() if line.startswith("| ")]
    return [(row[0], row[3]) for row in rows[1:]]


def used(mcl: Shell) -> Shell:
    """A home that was used in many ways."""
    assert mcl("run", mcl.signed()).code == 0
    (mcl.home / "commands.toml").write_text(COMMAND)
    (mcl.home / "policy.toml").write_text('deny = ["fs/delete"]\n')
    (mcl.folder / "a.txt").write_text("before")
    assert mcl("grant", "add", "shell").code == 0
    for words in (("process/run-hello",), ("fs/write", "path=a.txt", "content=after", "overwrite=true")):
        assert mcl("tool", "call", *words, "--yes", "--yes-gates").code == 0
    assert mcl("repo", "add", str(mcl.folder), "--name", "here").code in (0, 2)
    return mcl


def test_each_file_of_a_home_is_on_the_page_with_tests_that_are_there(mcl: Shell) -> None:
    named = {one for files, _ in table() for one in re.findall(r"`([\w./-]+?)/?`", files)}
    found = {str(one.relative_to(mcl.home)) for one in used(mcl).home.rglob("*") if one.is_file()}
    for one in found:
        beside = Path(one).name.startswith(".") or one.startswith("mcl.db-")
        assert beside or named & {one, one.partition("/")[0]}, one
    tests = {path.stem for path in (ROOT / "tests").rglob("test_*.py")}
    for files, tried in table():
        for name in re.findall(r"test_\w+", tried):
            assert any(one.startswith(name) for one in tests), (files, name)


@pytest.mark.parametrize("role", ["user", "agent"])
def test_another_key_in_the_place_of_ones_own_runs_nothing_that_was_signed_before(
    mcl: Shell, role: str
) -> None:
    id = mcl.signed()
    with Home.open(mcl.home.parent / "strange", state=mcl.home.parent / "s"):
        pass
    shutil.copy(mcl.home.parent / "strange/keys" / f"{role}.json", mcl.home / "keys" / f"{role}.json")
    assert mcl.other("run", id).code == 6
    verified = mcl.other("log", "verify", "--json")
    assert verified.code == 6
    assert "UNKNOWN_KEY" in {one["code"] for one in verified.document["findings"]}


def test_a_command_that_was_used_and_says_otherwise_is_refused(mcl: Shell) -> None:
    used(mcl)
    (mcl.home / "commands.toml").write_text(COMMAND.replace("'echo', 'hello'", "'touch', 'stolen'"))
    refused = mcl("tool", "call", "process/run-hello", "--yes", "--yes-gates")
    assert (refused.code, "TOOL_CHANGED" in refused.err) == (4, True)
    assert not (mcl.folder / "stolen").exists()


def test_a_new_command_runs_nothing_without_the_grant(mcl: Shell) -> None:
    mcl.signed()
    (mcl.home / "commands.toml").write_text(COMMAND.replace("'echo', 'hello'", "'touch', 'stolen'"))
    refused = mcl("tool", "call", "process/run-hello", "--yes", "--yes-gates")
    assert (refused.code, "CAPABILITY_DENIED" in refused.err) == (4, True)
    assert not (mcl.folder / "stolen").exists()


def test_a_core_module_that_was_changed_is_told_by_replay(mcl: Shell) -> None:
    id = mcl.compiled()
    source = next((ROOT / "grammars/core").glob("confidence*.mtx"))
    (mcl.home / "core").mkdir(exist_ok=True)
    text = source.read_text()
    changed = re.sub(r"(?m)^(\s*display=).*$", r'\1"Other"', text, count=1)
    (mcl.home / "core" / source.name).write_text(changed if changed != text else text + "\n")
    told = mcl.other("replay", id, "--json")
    if changed != text:
        assert told.code == 6
    run = mcl.other("show", id, "--json").document
    assert run["state"] == "proposed"


def spoiled(data: bytes) -> bytes:
    return b"\x00" + data[1:]


SPOILERS: dict[str, Callable[[bytes], bytes]] = {
    "emptied": lambda data: b"",
    "cut": lambda data: data[: len(data) // 2],
    "changed": spoiled,
    "other": lambda data: json.dumps({"v": 1, "made": "by a stranger"}).encode(),
}


@pytest.mark.parametrize("how", SPOILERS)
def test_whatever_stands_in_the_cache_the_same_goal_gives_the_same_bytes(mcl: Shell, how: str) -> None:
    fixed = ("--at", "2026-11-21T10:00:00Z", "--dry-run", "--json")
    first = mcl.other(*mcl.COMPILE, *fixed, "--id", "01KAGZ3M5N0000000000000001")
    assert first.code == 0, first.err
    files = [one for one in (mcl.home / "cache").rglob("*") if one.is_file()]
    for one in files:
        one.chmod(0o600)
        one.write_bytes(SPOILERS[how](one.read_bytes()))
    again = mcl.other(*mcl.COMPILE, *fixed, "--id", "01KAGZ3M5N0000000000000001")
    assert again.document["intent"] == first.document["intent"]


def test_what_is_in_the_cache_under_another_name_is_not_taken_for_it(mcl: Shell) -> None:
    fixed = ("--at", "2026-11-21T10:00:00Z", "--dry-run", "--json", "--id", "01KAGZ3M5N0000000000000001")
    first = mcl.other(*mcl.COMPILE, *fixed)
    by_folder: dict[Path, list[Path]] = {}
    for one in sorted((mcl.home / "cache").rglob("*")):
        if one.is_file():
            by_folder.setdefault(one.parent, []).append(one)
    for files in by_folder.values():
        contents = [one.read_bytes() for one in files]
        for one, data in zip(files, contents[1:] + contents[:1], strict=True):
            one.chmod(0o600)
            one.write_bytes(data)
    assert mcl.other(*mcl.COMPILE, *fixed).document["intent"] == first.document["intent"]


@pytest.mark.parametrize("how", SPOILERS)
def test_a_before_image_that_is_another_is_not_put_back(mcl: Shell, how: str) -> None:
    used(mcl)
    images = [one for one in (mcl.home / "undo").rglob("*") if one.is_file()]
    assert images
    for one in images:
        one.chmod(0o600)
        one.write_bytes(SPOILERS[how](one.read_bytes()))
    undone = mcl("undo", "@last", "--yes")
    assert undone.code != 0, undone.out
    assert (mcl.folder / "a.txt").read_text() == "after"


def test_locks_that_lead_elsewhere_write_nothing_there(mcl: Shell) -> None:
    id = mcl.signed()
    elsewhere = mcl.home.parent / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kept").write_text("kept")
    shutil.rmtree(mcl.home / "locks", ignore_errors=True)
    (mcl.home / "locks").symlink_to(elsewhere)
    ran = mcl.other("run", id)
    assert "Traceback" not in ran.err
    assert (elsewhere / "kept").read_text() == "kept"
    assert mcl.other("log", "verify").code == 0


def test_names_of_repositories_that_lead_to_secrets_open_none(mcl: Shell) -> None:
    (mcl.folder / ".env").write_text("the-secret-of-this-folder")
    (mcl.home / "x").mkdir(parents=True, exist_ok=True)
    mcl("list")
    (mcl.home / "repos.json").write_text(json.dumps({"mine": str(mcl.home), "work": str(mcl.folder)}))
    for name in ("mine", "work"):
        for path in ("keys/user.json", ".env"):
            told = mcl("repo", "run", f"open {path} in {name}", "--yes")
            assert "the-secret-of-this-folder" not in told.out + told.err
            assert '"secret"' not in told.out + told.err
            assert "Traceback" not in told.err


def test_a_state_of_a_model_that_somebody_else_wrote_is_made_anew(mcl: Shell, tmp_path: Path) -> None:
    """With a sum that fits: it would be read into the memory of llama.cpp."""
    from mcl.core.cache import write_own
    from mcl.model.llama.context import Prefixes

    assert mcl("init").code == 0
    folder = mcl.home / "cache" / "prefix"
    ours, theirs = object.__new__(Prefixes), tmp_path / "theirs"
    ours._folder = folder
    ours._save("a" * 64, b"a state")
    assert ours._load("a" * 64) == b"a state"
    write_own(theirs / f"{'a' * 64}.kv", b"another")  # in no home: sealed with nothing
    shutil.copy(theirs / f"{'a' * 64}.kv", folder / f"{'a' * 64}.kv")
    assert ours._load("a" * 64) is None
