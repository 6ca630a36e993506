"""The repositories that a person named: files read strictly and written whole, and which one is meant."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from executor.sandbox.paths import KEY
from ir import MclError
from mcl.core.errors import RepoError
from mcl.core.repositories import Repositories, Repository


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    for name in ("hal", "scripts"):
        (tmp_path / name).mkdir()
    return tmp_path / "home"


@pytest.fixture
def two(home: Path) -> Repositories:
    """hal, which is active, and scripts."""
    known = Repositories(home)
    known.add("hal", home.parent / "hal")
    known.add("scripts", home.parent / "scripts")
    return known


def refused(call: object, *args: object, **more: object) -> RepoError:
    assert callable(call)
    with pytest.raises(RepoError) as caught:
        call(*args, **more)
    return caught.value


def test_the_first_that_is_named_is_the_active_one_until_another_is(two: Repositories, home: Path) -> None:
    assert two.keys() == ("hal", "scripts")
    assert two.active() == Repository("hal", home.parent / "hal")
    assert two.switch("scripts") == two.active() == Repository("scripts", home.parent / "scripts")
    assert json.loads((home / "repos.json").read_text()) == {
        "hal": str(home.parent / "hal"),
        "scripts": str(home.parent / "scripts"),
    }
    assert json.loads((home / "state.json").read_text()) == {"active": "scripts"}
    assert {(home / name).stat().st_mode & 0o777 for name in ("repos.json", "state.json")} == {0o600}


def test_one_that_is_forgotten_is_active_no_more_and_its_folder_stays(two: Repositories, home: Path) -> None:
    assert two.remove("hal").path.is_dir()
    assert (two.keys(), two.active()) == (("scripts",), None)
    assert refused(two.remove, "hal").code == "UNKNOWN_REPOSITORY"
    error = refused(two.resolve, None, kind="git_status")
    assert (error.code, error.exit, error.fix) == (
        "NO_REPOSITORY",
        1,
        "mcl repo switch KEY chooses one",
    )


def test_a_home_without_repositories_has_none(home: Path) -> None:
    known = Repositories(home)
    assert (known.all(), known.active()) == ((), None)
    error = refused(known.resolve, "hal", kind="git_status")
    assert (error.code, error.exit, error.fix) == (
        "NO_REPOSITORY",
        1,
        "name one: mcl repo add KEY PATH",
    )
    assert list(home.iterdir()) == []


READS = ("git_status", "git_log", "grep_repo", "repo_tree", "repo_status_json", "print_cd", "pwd")


@pytest.mark.parametrize("kind", READS)
def test_the_active_one_stands_in_for_one_that_is_not_known_where_it_is_only_read(
    two: Repositories, kind: str
) -> None:
    found = two.resolve("halt", kind=kind)
    assert (found.key, found.note) == (
        "hal",
        "there is no repository 'halt'; the active one, hal, stands in for it",
    )
    assert two.resolve("scripts", kind=kind).note == two.resolve(None, kind=kind).note == ""
    error = refused(two.resolve, "halt", kind=kind, strict=True)
    assert (error.code, error.exit) == ("UNKNOWN_REPOSITORY", 2)


ACTS = ("create_branch", "run_test", "open_editor", "run_mqlaunch", "switch_repo")


@pytest.mark.parametrize("kind", ACTS)
def test_nothing_is_changed_or_run_in_another_repository_than_was_said(two: Repositories, kind: str) -> None:
    error = refused(two.resolve, "halt", kind=kind)
    assert (error.code, error.exit, error.fix) == ("UNKNOWN_REPOSITORY", 2, "choose one of: hal, scripts")
    assert two.resolve("scripts", kind=kind).key == "scripts"
    assert two.resolve(None, kind=kind).key == "hal"


def test_a_folder_that_is_gone_is_said_to_be(two: Repositories, home: Path) -> None:
    (home.parent / "hal").rmdir()
    for error in (refused(two.resolve, None, kind="git_log"), refused(two.switch, "hal")):
        assert (error.code, error.exit) == ("REPOSITORY_GONE", 1)


@pytest.mark.parametrize("key", ["", "-x", ".x", "a b", "a/b", "å", "a\n", "x" * 65, "_a", "a:b", "../x"])
def test_a_key_is_a_plain_word(home: Path, key: str) -> None:
    assert refused(Repositories(home).add, key, home.parent / "hal").code == "BAD_KEY"
    assert refused(Repositories(home).switch, key).code == "UNKNOWN_REPOSITORY"


def test_a_key_stands_for_one_folder(two: Repositories, home: Path) -> None:
    assert two.add("hal", home.parent / "hal") == Repository("hal", home.parent / "hal")
    for key in ("hal", "HAL"):
        error = refused(two.add, key, home.parent / "scripts")
        assert (error.code, error.fix) == (
            "REPOSITORY_EXISTS",
            "choose another key, or: mcl repo remove hal",
        )


def test_a_path_is_kept_as_it_really_is(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home.parent / "link").symlink_to(home.parent / "hal")
    monkeypatch.chdir(home.parent)
    monkeypatch.setenv("HOME", str(home.parent))
    known = Repositories(home)
    for key, path in {"a": "link", "b": "hal/../hal", "c": "~/hal"}.items():
        assert known.add(key, Path(path)).path == home.parent / "hal"


def test_what_is_no_folder_to_work_in_is_refused(home: Path) -> None:
    (home.parent / "file").touch()
    (home.parent / "loop").symlink_to(home.parent / "loop")
    (home.parent / "two\nlines").mkdir()
    (home / "inside").mkdir()
    places = ("file", "missing", "loop", "two\nlines", "~nobody-of-that-name/x", "a\0b")
    for place in places:
        assert refused(Repositories(home).add, "x", home.parent / place).code == "NOT_A_FOLDER", place
    for folder in (home, home / "inside", Path("/")):
        assert refused(Repositories(home).add, "x", folder).code == "OUT_OF_SCOPE", folder
    assert Repositories(home).all() == ()


BAD = {
    "no JSON": b"{",
    "no object": b'["/tmp"]',
    "no text": b"\xff\xfe",
    "a mark of order": b'\xef\xbb\xbf{"a": "/tmp"}',
    "a key twice": b'{"a": "/tmp", "a": "/etc"}',
    "no key": b'{"../a": "/tmp"}',
    "keys but for case": b'{"a": "/tmp", "A": "/tmp"}',
    "a number": b'{"a": 1}',
    "no number": b'{"a": NaN}',
    "relative": b'{"a": "tmp"}',
    "from the home": b'{"a": "~/x"}',
    "a control": b'{"a": "/tmp/\\u001b[2J"}',
    "half a character": b'{"a": "/tmp/\\ud800"}',
    "too deep": b'{"a":' + b"[" * 100_000,
    "too long": b'{"a": "/' + b"x" * 5000 + b'"}',
    "too large": b'{"a": "/tmp"}' + b" " * (1 << 20),
    "too many": json.dumps({f"k{number}": "/tmp" for number in range(1001)}).encode(),
}


@pytest.mark.parametrize("name", BAD)
def test_a_file_that_is_not_as_it_should_be_is_refused_and_kept(
    two: Repositories, home: Path, name: str
) -> None:
    (home / "repos.json").write_bytes(BAD[name])
    for call, *args in (
        (two.all,), (two.active,), (two.switch, "a"), (two.add, "b", home.parent), (two.remove, "a")
    ):  # fmt: skip
        error = refused(call, *args)
        assert (error.code, error.exit, error.place) == ("BAD_CONFIGURATION", 1, str(home / "repos.json"))
        assert len(error.message) < 300
        assert error.message.isprintable()
    assert (home / "repos.json").read_bytes() == BAD[name]


@pytest.mark.parametrize("inside", [".", "cache", "link"])
def test_a_path_that_came_to_lead_into_the_home_is_worked_in_by_nobody(
    two: Repositories, home: Path, inside: str
) -> None:
    (home / "cache").mkdir()
    (home / "link").symlink_to("/")
    (home / "repos.json").write_text(json.dumps({"hal": str(home / inside)}))
    for error in (refused(two.resolve, "hal", kind="git_log"), refused(two.switch, "hal")):
        assert (error.code, error.exit, error.fix) == ("REPOSITORY_CLOSED", 1, "mcl repo remove hal")
    assert two.remove("hal").key == "hal"


@pytest.mark.parametrize("name", [".git", ".GIT/refs", ".ssh", ".env.d/.aws"])
def test_a_folder_of_settings_and_secrets_is_no_repository(home: Path, name: str) -> None:
    folder = home.parent / name
    folder.mkdir(parents=True)
    assert refused(Repositories(home).add, "x", folder).code == "OUT_OF_SCOPE"


@pytest.mark.parametrize(
    "state", ['{"active": 1}', '{"active": "a b"}', '{"active": "hal", "x": 1}', "[]", ""]
)
def test_a_state_that_is_not_as_it_should_be_is_refused(two: Repositories, home: Path, state: str) -> None:
    (home / "state.json").write_text(state)
    assert refused(two.active).code == "BAD_CONFIGURATION"


def test_a_state_that_names_what_is_not_known_names_nothing(two: Repositories, home: Path) -> None:
    (home / "state.json").write_text('{"active": "gone"}')
    assert two.active() is None
    assert two.add("third", home.parent / "hal") == two.active()


@pytest.mark.parametrize("name", ["repos.json", "state.json"])
def test_a_file_that_is_a_link_a_pipe_or_a_folder_is_not_read(
    two: Repositories, home: Path, tmp_path: Path, name: str
) -> None:
    place = home / name
    place.rename(tmp_path / "moved")
    place.symlink_to(tmp_path / "moved")
    assert refused(two.active).code == "BAD_CONFIGURATION"
    place.unlink()
    os.mkfifo(place)
    assert refused(two.active).code == "BAD_CONFIGURATION"
    place.unlink()
    place.mkdir()
    with pytest.raises(MclError):
        two.active()


@settings(max_examples=8)  # each is a dozen files on disk
@given(st.dictionaries(st.from_regex(KEY, fullmatch=True), st.integers(0, 3), max_size=8), st.data())
def test_what_is_said_is_what_is_known(
    tmp_path_factory: pytest.TempPathFactory, said: dict[str, int], data: st.DataObject
) -> None:
    place = tmp_path_factory.mktemp("known")
    folders = [place / str(number) for number in range(4)]
    for folder in (place / "home", *folders):
        folder.mkdir()
    known, expected = Repositories(place / "home"), dict[str, Path]()
    for key, number in said.items():
        if key.casefold() not in {one.casefold() for one in expected}:
            known.add(key, folders[number])
            expected[key] = folders[number]
        else:
            assert refused(known.add, key, place).code == "REPOSITORY_EXISTS"
    for key in data.draw(st.lists(st.sampled_from(sorted(expected)), unique=True)) if expected else ():
        known.switch(key)
        assert known.resolve(None, kind="git_log").key == key
        known.remove(key)
        del expected[key]
    assert {one.key: one.path for one in known.all()} == expected


MANY = """
import sys
from pathlib import Path
from mcl.core.repositories import Repositories
home, name = Path(sys.argv[1]), sys.argv[2]
for number in range(20):
    Repositories(home).add(f"{name}{number}", home.parent / "hal")
    Repositories(home).switch(f"{name}{number}")
"""


@pytest.mark.slow
def test_processes_that_write_at_once_lose_nothing(home: Path) -> None:
    running = [subprocess.Popen([sys.executable, "-c", MANY, str(home), name]) for name in ("a", "b", "c")]
    assert [one.wait() for one in running] == [0, 0, 0]
    known = Repositories(home)
    assert len(known.all()) == 60
    active = known.active()
    assert active is not None
    assert active.key.endswith("19")
    assert sorted(one.name for one in home.iterdir()) == [".lock", "repos.json", "state.json"]
