"""git in a linked work tree: its history lies elsewhere, in a folder that a person has to know of."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from walks import Walks, sequence, tool

from executor import Grants

LOOKS = sequence(
    "n0",
    tool("n1", "git/status"),
    tool("n2", "git/log"),
    tool("n3", "git/branch"),
    tool("n4", "git/diff"),
    tool("n5", "git/show", file="a.txt"),
    tool("n6", "code/search", pattern="two"),
    tool("n7", "repo/inspect"),
)


@pytest.fixture
def main(walks: Walks) -> Iterator[Path]:
    """A repository beside the workspace, which is a linked work tree of it, on `topic`."""
    with TemporaryDirectory() as ground:  # tests may lie in /dev, where nothing can be granted
        walks.workspace = Path(ground).resolve() / "work"
        walks.workspace.mkdir()
        yield _made(walks, walks.workspace.parent / "main")


def _made(walks: Walks, place: Path) -> Path:
    walks.git("init", "-q", "-b", "main", "--template=", str(place))
    (place / "a.txt").write_text("one\n")
    walks.git("-C", str(place), "add", "a.txt")
    walks.git("-C", str(place), "commit", "-q", "-m", "Add a")
    walks.git("-C", str(place), "worktree", "add", "-q", "-b", "topic", str(walks.workspace))
    walks.write("a.txt", "two\n")
    return place


def named(walks: Walks, *folders: Path) -> None:
    walks.home.repositories = lambda: tuple(map(str, folders))


def refused(walks: Walks, which: str = "git/status", effect: str = "read", **args: str) -> str:
    failure = walks.go(tool("n1", which, effect, **args)).failure
    assert failure is not None
    assert failure.code in ("REPOSITORY_ELSEWHERE", "NOT_A_REPOSITORY")
    return f"{failure.message} {failure.fix}"


def test_a_named_repository_is_read_and_written_from_its_work_tree(walks: Walks, main: Path) -> None:
    named(walks, main)
    outcome = walks.go(LOOKS)
    assert outcome.failure is None, outcome.failure
    found = {name: one for name, one in outcome.outputs.items() if isinstance(one, dict)}
    assert (found["n1"]["branch"], found["n1"]["count"]) == ("topic", 1)
    assert [one["name"] for one in found["n3"]["branches"]] == ["main", "topic"]
    assert (found["n4"]["added"], found["n5"]["content"]) == (1, "one\n")
    assert "a.txt" in str(found["n6"])
    assert all(one["ok"] for one in found["n7"]["checks"] if one["name"] in ("operation", "lock"))
    walks.ask(tool("n1", "git/branch", "write", name="made/here"))
    walks.ask(tool("n1", "git/checkout", "write", name="next"))
    assert walks.git("branch", "--show-current").strip() == "next"
    assert walks.git("-C", str(main), "branch", "--format=%(refname:short)").split() == [
        *("made/here", "main", "next", "topic"),
    ]
    assert walks.git("-C", str(main), "branch", "--show-current").strip() == "main"
    assert walks.git("-C", str(main), "status", "--porcelain") == ""


def test_looking_writes_nothing_into_the_repository(walks: Walks, main: Path) -> None:
    named(walks, main)

    def kept() -> dict[str, tuple[int, bytes]]:
        files = (one for one in (main / ".git").rglob("*") if one.is_file())
        return {str(one): (one.stat().st_mtime_ns, one.read_bytes()) for one in files}

    before = kept()
    assert walks.go(LOOKS).failure is None
    assert kept() == before


def test_a_merge_under_way_is_the_work_trees_own(walks: Walks, main: Path) -> None:
    named(walks, main)

    def operation() -> bool:
        checks = walks.ask(tool("n1", "repo/inspect"))["checks"]
        return all(one["ok"] for one in checks if one["name"] == "operation")

    (main / ".git/MERGE_HEAD").write_text("0" * 40)
    assert operation()
    (main / ".git/worktrees/work/MERGE_HEAD").write_text("0" * 40)
    assert not operation()


def test_what_nobody_named_is_refused_and_the_refusal_says_what_to_type(walks: Walks, main: Path) -> None:
    for which, effect in (("git/status", "read"), ("git/branch", "write")):
        said = refused(walks, which, effect, **({"name": "made"} if effect == "write" else {}))
        assert f"mcl repo add main {main}" in said
        assert f"mcl grant add read --root {main}" in said
    assert (
        walks.ask(tool("n1", "code/search", pattern="two"))["count"] == 1
    )  # the files are there all the same


def test_a_granted_folder_is_read_and_not_written(walks: Walks, main: Path) -> None:
    grants, agent = Grants(walks.home), walks.home.keyring.agent.did
    grants.grant_roots(agent, [main.parent / "main"])
    assert walks.ask(tool("n1", "git/status"))["branch"] == "topic"
    for which in ("git/branch", "git/checkout"):
        said = refused(walks, which, "write", name="made")
        assert f"mcl repo add main {main}" in said
        assert "--root" not in said
    assert walks.git("branch", "--list", "made") == ""
    grants.revoke_roots(agent, [main])
    refused(walks)


def test_an_allowed_folder_is_read_and_a_work_tree_that_is_named_itself_is_written(
    walks: Walks, main: Path
) -> None:
    walks.home.allowed = (str(main),)
    assert walks.ask(tool("n1", "git/status"))["branch"] == "topic"
    refused(walks, "git/branch", "write", name="made")
    walks.home.allowed = ()
    refused(walks)
    named(walks, walks.workspace)
    walks.ask(tool("n1", "git/branch", "write", name="made"))


def test_a_work_tree_and_its_repository_inside_one_workspace_need_no_name(walks: Walks, main: Path) -> None:
    walks.workspace = main
    walks.git("worktree", "add", "-q", "-b", "below", ".trees/a b")
    assert walks.ask(tool("n1", "git/status", repo=".trees/a b"))["branch"] == "below"
    walks.ask(tool("n1", "git/checkout", "write", repo=".trees/a b", name="further"))
    assert walks.git("-C", ".trees/a b", "branch", "--show-current").strip() == "further"
    (main / ".trees/a b/new.py").write_text("needle\n")
    assert walks.ask(tool("n1", "code/search", path=".trees/a b", pattern="needle"))["count"] == 1


def test_paths_that_are_relative_to_each_other_are_followed(walks: Walks, main: Path) -> None:
    """As `git worktree add --relative-paths` writes them."""
    named(walks, main)
    (walks.workspace / ".git").write_text("gitdir: ../main/.git/worktrees/work\n")
    (main / ".git/worktrees/work/gitdir").write_text("../../../../work/.git\n")
    assert walks.ask(tool("n1", "git/status"))["branch"] == "topic"


def test_a_work_tree_of_a_bare_repository_is_one_and_the_bare_one_is_none(walks: Walks, main: Path) -> None:
    bare, tree = main.parent / "bare.git", main.parent / "tree"
    walks.git("clone", "-q", "--bare", "--no-hardlinks", str(main), str(bare))
    walks.git("-C", str(bare), "worktree", "add", "-q", str(tree), "topic")
    walks.workspace = tree
    assert f"mcl repo add bare.git {bare}" in refused(walks)
    named(walks, bare)
    assert walks.ask(tool("n1", "git/status"))["branch"] == "topic"
    walks.workspace = bare
    assert "is a bare repository" in refused(walks)


def test_a_submodule_is_read_and_not_written(walks: Walks, main: Path) -> None:
    above = main.parent / "above"
    walks.git("init", "-q", "-b", "main", str(above))
    walks.git(
        *("-C", str(above), "-c", "protocol.file.allow=always", "submodule", "--quiet", "add"),
        *(str(main), "deep/inner"),
    )
    walks.workspace = above
    assert walks.ask(tool("n1", "git/log", repo="deep/inner"))["count"] == 1
    assert "is only read" in refused(walks, "git/branch", "write", repo="deep/inner", name="made")
    walks.workspace = above / "deep/inner"
    assert f"mcl grant add read --root {above}" in refused(walks)
    named(walks, above)
    assert walks.ask(tool("n1", "git/status"))["branch"] == "main"


TRIES = """
import json, os, pathlib, subprocess
def tried(act):
    try:
        return act()
    except OSError as problem:
        return type(problem).__name__
def test_tries():
    log = subprocess.run(["git", "log", "--format=%s"], capture_output=True, text=True)
    told = {
        "log": log.stdout.strip(),
        "branch": tried(lambda: (MAIN / ".git/refs/heads/evil").write_text("x")),
        "own": tried(lambda: (MAIN / ".git/worktrees/work/HEAD").write_text("x")),
        "pointer": tried(lambda: pathlib.Path(".git").write_text("x")),
        "settings": tried(lambda: (MAIN / ".git/config").read_text()),
        "files": os.path.exists(MAIN / "a.txt"),
    }
    pathlib.Path("told.json").write_text(json.dumps(told))
"""


@pytest.mark.slow
def test_a_command_in_bubblewrap_sees_the_history_and_cannot_change_it(
    walks: Walks, main: Path, sandboxed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    grants, agent = Grants(walks.home), walks.home.keyring.agent.did
    grants.grant(agent, ["shell"])
    walks.write("test_it.py", f"import pathlib\nMAIN = pathlib.Path({str(main)!r})\n{TRIES}")

    def told() -> object:
        assert walks.go(tool("n1", "process/tests", "shell"), verb="build").failure is None
        return json.loads((walks.workspace / "told.json").read_text())

    away = dict.fromkeys(("branch", "own", "settings"), "FileNotFoundError")
    assert told() == {"log": "", "pointer": "OSError", "files": False, **away}
    named(walks, main)
    closed = dict.fromkeys(("branch", "own", "pointer"), "OSError")  # a read-only file system
    assert told() == {"log": "Add a", "settings": "", "files": False, **closed}
