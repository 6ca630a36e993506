"""git/checkout, repo/inspect and process/mqlaunch, with real repositories and programs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from walks import NODE, Walks, code, done, granted, tool

from mcl.plugins.versions.tools.repo.inspect import plain_address


@pytest.fixture
def walks(walks: Walks) -> Walks:
    granted(walks, also=["shell"])
    return walks


def checkout(name: str, **args: Any) -> NODE:
    return tool("n1", "git/checkout", "write", name=name, **args)


INSPECT = tool("n1", "repo/inspect")


class TestCheckout:
    def test_a_branch_is_made_where_head_is_and_everything_stays(self, walks: Walks) -> None:
        walks.git("init", "-q", "-b", "main")
        walks.write("a.txt", "one\n")
        walks.write("b.txt", "one\n")
        walks.git("add", ".")
        walks.git("commit", "-q", "-m", "Add both")
        walks.write("a.txt", "staged\n")
        walks.git("add", "a.txt")
        walks.write("b.txt", "changed\n")
        walks.write("c.txt", "new\n")
        before, head = walks.git("status", "--porcelain"), walks.git("rev-parse", "HEAD").strip()
        found = done(walks, checkout("feature/hal-router"))
        assert found == {
            "branch": "feature/hal-router",
            "from": "main",
            "commit": head,
            "text": "made and checked out branch feature/hal-router, from main",
        }
        assert walks.git("symbolic-ref", "--short", "HEAD").strip() == "feature/hal-router"
        assert walks.git("rev-parse", "HEAD", "main").split() == [head, head]
        assert walks.git("status", "--porcelain") == before
        # git itself finds the way back: HEAD's log says what was moved from.
        walks.git("checkout", "-q", "-")
        assert walks.git("symbolic-ref", "--short", "HEAD").strip() == "main"

    def test_from_no_branch_and_before_the_first_commit(self, walks: Walks) -> None:
        walks.git("init", "-q", "-b", "main")
        assert done(walks, checkout("first")) == {
            "branch": "first",
            "from": "main",
            "commit": "",
            "text": "made and checked out branch first, from main",
        }
        walks.git("commit", "-q", "--allow-empty", "-m", "Begin")
        walks.git("checkout", "-q", "--detach")
        found = done(walks, checkout("second"))
        assert (found["from"], found["text"]) == ("", "made and checked out branch second")
        assert walks.git("branch", "--format=%(refname:short)").split() == ["first", "second"]

    def test_one_that_begins_elsewhere_is_refused(self, walks: Walks) -> None:
        walks.git("init", "-q", "-b", "main")
        walks.git("commit", "-q", "--allow-empty", "-m", "Begin")
        assert done(walks, checkout("same", start="main"))["from"] == "main"
        walks.git("commit", "-q", "--allow-empty", "-m", "Go on")
        for start in ("main", "nowhere"):
            assert code(walks.go(checkout("other", start=start))) == "STARTS_ELSEWHERE"
        assert walks.git("branch", "--format=%(refname:short)").split() == ["main", "same"]

    def test_a_branch_that_cannot_be_switched_to_is_not_left_behind(self, walks: Walks) -> None:
        walks.git("init", "-q", "-b", "main")
        walks.git("commit", "-q", "--allow-empty", "-m", "Begin")
        (walks.workspace / ".git/HEAD.lock").touch()
        assert code(walks.go(checkout("made"))) == "GIT_FAILED"
        assert walks.git("branch", "--format=%(refname:short)").split() == ["main"]

    def test_it_is_done_in_the_folder_that_is_named_and_nowhere_above(self, walks: Walks) -> None:
        walks.git("init", "-q", "-b", "main")
        walks.git("init", "-q", "-b", "main", "below")
        (walks.workspace / "plain").mkdir()
        done(walks, checkout("made", repo="below"))
        assert walks.git("-C", "below", "symbolic-ref", "--short", "HEAD").strip() == "made"
        assert walks.git("symbolic-ref", "--short", "HEAD").strip() == "main"
        assert code(walks.go(checkout("made", repo="plain"))) == "NOT_A_REPOSITORY"


class TestInspect:
    def test_it_tells_what_a_repository_is_and_how(self, walks: Walks) -> None:
        walks.git("init", "-q", "-b", "main")
        walks.write("pyproject.toml", "[tool.ruff]\n[tool.pytest.ini_options]\n")
        for name in ("a.py", "b.py", "README.md", "c.h"):
            walks.write(name, "x\n")
        walks.git("add", ".")
        walks.git("commit", "-q", "-m", "Add it all")
        walks.git("branch", "other")
        walks.git("remote", "add", "origin", "https://ada:hunter2hunter2@example.org/a/b.git?token=abc#x")
        walks.write("a.py", "y\n")
        walks.write("b.py", "y\n")
        walks.git("add", "b.py")
        walks.write("new/d.py", "z\n")
        walks.write("new/e.py", "z\n")
        found = done(walks, INSPECT)
        assert found["branch"] == "main"
        assert found["commit"] == walks.git("rev-parse", "HEAD").strip()
        assert (found["last"]["author"], found["last"]["subject"]) == ("Ada", "Add it all")
        assert found["counts"] == {
            "files": 7, "branches": 2, "staged": 1, "changed": 1, "untracked": 1, "conflicts": 0,
        }  # fmt: skip
        assert found["languages"] == [
            {"language": "python", "files": 4},
            *({"language": name, "files": 1} for name in ("c", "markdown", "toml")),
        ]
        assert (found["suite"], found["linter"]) == ("pytest", "ruff")
        assert found["remotes"] == [{"name": "origin", "url": "https://example.org/a/b.git"}]
        assert "hunter2" not in str(found)
        failing = {one["name"]: one["why"] for one in found["checks"] if not one["ok"]}
        failing.pop("ripgrep", None)
        assert failing == {"remotes": "a password stands in: origin"}
        assert found["ok"] is False
        assert "look remotes: a password stands in: origin" in found["text"]

    def test_the_checks_say_what_is_good_to_know(self, walks: Walks) -> None:
        walks.git("init", "-q", "-b", "main")
        walks.write("a.txt", "one\n")
        walks.write(".env", "A=1\n")
        walks.git("add", "-f", ".")
        walks.git("commit", "-q", "-m", "One")
        walks.git("branch", "theirs")
        walks.write("a.txt", "two\n")
        walks.git("commit", "-qam", "Two")
        walks.git("checkout", "-q", "theirs")
        walks.write("a.txt", "three\n")
        walks.git("commit", "-qam", "Three")
        walks.git("branch", "-q", "--set-upstream-to=main")
        with pytest.raises(Exception, match="merge"):
            walks.git("merge", "main")
        (walks.workspace / ".git/index.lock").touch()
        found = done(walks, INSPECT)
        failing = {one["name"]: one["why"] for one in found["checks"] if not one["ok"]}
        failing.pop("ripgrep", None)
        assert failing == {
            "upstream": "1 commits behind main",
            "conflicts": "in conflict: a.txt",
            "operation": "a merge is under way",
            "lock": ".git/index.lock is there: git is at work, or was killed",
            "secrets": "in version control: .env",
            "tests": "no tests are known",
        }
        assert found["counts"]["conflicts"] == 1
        assert (found["upstream"], found["ahead"], found["behind"]) == ("main", 1, 1)

    def test_before_the_first_commit_and_without_a_repository(self, walks: Walks) -> None:
        assert code(walks.go(INSPECT)) == "NOT_A_REPOSITORY"
        walks.git("init", "-q", "-b", "main")
        found = done(walks, INSPECT)
        assert (found["commit"], found["last"], found["languages"]) == ("", {}, [])
        assert {one["name"] for one in found["checks"] if not one["ok"]} - {"ripgrep"} == {"commit", "tests"}


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("https://example.org/a/b", "https://example.org/a/b"),
        ("https://u:p@example.org:8443/a", "https://example.org:8443/a"),
        ("https://ghp_token@example.org/a", "https://example.org/a"),
        ("https://u:p@ss@example.org/a", "https://example.org/a"),
        ("https://u:pa/ss@example.org/a", "https://(hidden)"),
        ("https://u:12/34@example.org/a", "https://(hidden)"),
        ("https://u:12?34@example.org/a", "https://(hidden)"),
        ("https://u:p%40s@[::1]:80/a", "https://[::1]:80/a"),
        ("https://u:@pa?ss@example.org/a", "https://(hidden)"),
        ("https://example.org/@scope/a", "https://(hidden)"),
        ("https://example.org/a?token=x", "https://example.org/a"),
        ("git@example.org:a/b.git", "example.org:a/b.git"),
        ("u:p@example.org:a/b", "example.org:a/b"),
        ("ssh://git@example.org/a", "ssh://example.org/a"),
        ("/srv/git/a@b", "/srv/git/a@b"),
        ("../other", "../other"),
        ("ext::sh -c curl%20-u%20u:p", "ext::(hidden)"),
        ("file:///srv/a", "file:///srv/a"),
        ("", ""),
    ],
)
def test_an_address_is_told_without_what_is_secret_in_it(url: str, told: str) -> None:
    assert plain_address(url)[0] == told


@given(
    st.sampled_from(["https", "http", "ssh", "ftp"]),
    st.text("abAB09%-_~.", min_size=1, max_size=8),
    st.text("QZ7:/@?#%!+=", min_size=1, max_size=12),
    st.text("abc/:", max_size=12),
)
def test_no_part_of_a_password_is_told(scheme: str, user: str, password: str, path: str) -> None:
    told, _ = plain_address(f"{scheme}://{user}:{password}@example.org/{path}")
    assert not {"Q", "Z", "7"} & set(told)


LAUNCHER = """#!/bin/sh
echo "asked for: $*"
pwd
[ "$1" = doctor ] || { echo "not well" >&2; exit 7; }
"""


@pytest.mark.usefixtures("unsandboxed")
class TestMqlaunch:
    @pytest.fixture
    def launcher(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        place = tmp_path / "programs/mqlaunch"
        place.parent.mkdir()
        place.write_text(LAUNCHER)
        place.chmod(0o755)
        monkeypatch.setenv("PATH", f"{place.parent}{os.pathsep}{os.environ['PATH']}")
        return place

    def test_one_of_its_commands_runs_in_the_folder_and_its_status_is_an_answer(
        self, walks: Walks, launcher: Path
    ) -> None:
        found = done(walks, tool("n1", "process/mqlaunch", "shell", command="doctor"))
        assert (found["command"], found["passed"], found["status"]) == ("doctor", True, 0)
        assert found["text"].startswith("mqlaunch doctor: passed in ")
        assert found["text"].endswith(f"asked for: doctor\n{walks.workspace}")
        found = done(walks, tool("n1", "process/mqlaunch", "shell", command="perf"))
        assert (found["passed"], found["status"]) == (False, 7)
        assert "not well" in found["text"]

    def test_any_other_command_is_refused(self, walks: Walks, launcher: Path) -> None:
        for command in ("rm -rf /", "Doctor", "doctor;ls", "", "--help"):
            node = tool("n1", "process/mqlaunch", "shell", command=command)
            assert code(walks.go(node)) == "INVALID_ARGS", command

    def test_one_of_the_workspace_is_never_run(
        self, walks: Walks, launcher: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        own = walks.write("bin/mqlaunch", LAUNCHER)
        own.chmod(0o755)
        node = tool("n1", "process/mqlaunch", "shell", command="doctor")
        monkeypatch.setenv("PATH", f"{own.parent}:.:bin:/usr/bin:/bin")
        assert code(walks.go(node)) == "COMMAND_NOT_FOUND"
        launcher.unlink()
        launcher.symlink_to(own)
        monkeypatch.setenv("PATH", f"{launcher.parent}:/usr/bin:/bin")
        assert code(walks.go(node)) == "COMMAND_NOT_FOUND"


class TestTree:
    def test_files_that_git_knows_or_would_take_are_listed_and_no_others(self, walks: Walks) -> None:
        walks.git("init", "-q", "-b", "main")
        for path in ("src/app.py", "README.md", ".gitignore", ".env", "build/out.bin", "node_modules/x/y.js"):
            walks.write(path, "build/\n" if path == ".gitignore" else "x\n")
        walks.git("add", "src")
        found = done(walks, tool("n1", "repo/tree"))
        assert found["files"] == [".gitignore", "README.md", "src/app.py"]
        assert found["text"] == ".gitignore\nREADME.md\nsrc/app.py"
        assert done(walks, tool("n1", "repo/tree", path="src"))["files"] == ["src/app.py"]

    def test_what_is_left_out_for_its_number_is_told(self, walks: Walks) -> None:
        for number in range(5):
            walks.write(f"{number}.txt", "x")
        found = done(walks, tool("n1", "repo/tree", limit="3"))
        assert (found["files"], found["count"], found["truncated"]) == (["0.txt", "1.txt", "2.txt"], 5, True)

    def test_long_names_leave_room_for_the_answer(self, walks: Walks) -> None:
        folder = walks.workspace / ("å" * 120) / ("ä" * 120) / ("ö" * 120)
        folder.mkdir(parents=True)
        for number in range(400):
            (folder / f"{number:03}-{'é' * 115}").touch()
        found = done(walks, tool("n1", "repo/tree", limit="5000"))
        assert found["count"] == 400
        assert found["truncated"]
        assert 0 < len(found["files"]) < 400

    def test_an_empty_folder_has_no_files(self, walks: Walks) -> None:
        assert done(walks, tool("n1", "repo/tree"))["text"] == "no files"
