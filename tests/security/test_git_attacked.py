"""A repository made to run something: nothing of it runs."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from walks import Walks, sequence, tool


@pytest.fixture
def trap(walks: Walks) -> Path:
    """A program that leaves a mark when it runs, in a repository with a changed file."""
    mark = walks.workspace.parent / "mark"
    program = walks.workspace.parent / "trap"
    program.write_text(f"#!/bin/sh\necho ran >> {mark}\ncat\nexit 0\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    walks.git("init", "-q", "-b", "main")
    walks.write("a.txt", "one\n")
    walks.git("add", "a.txt")
    walks.git("commit", "-q", "-m", "Add a")
    walks.write("a.txt", "two\n")
    return program


ALL = sequence(
    "n0",
    tool("n1", "git/status"),
    tool("n2", "git/log", path="a.txt"),
    tool("n3", "git/branch"),
    tool("n4", "git/branch", "write", name="made"),
    tool("n5", "git/diff"),
    tool("n6", "git/show"),
    tool("n7", "git/show", file="a.txt"),
)


def nothing_ran(walks: Walks) -> None:
    outcome = walks.go(ALL)
    assert outcome.failure is None, outcome.failure
    assert not (walks.workspace.parent / "mark").exists()


@pytest.mark.parametrize("name", ["core.fsmonitor", "filter.trap.clean", "hook"])
def test_the_traps_work_on_a_git_that_is_not_careful(walks: Walks, trap: Path, name: str) -> None:
    walks.write(".gitattributes", "*.txt filter=trap\n")
    if name == "hook":
        (walks.workspace / ".git/hooks/reference-transaction").symlink_to(trap)
    else:
        walks.git("config", name, str(trap))
    walks.git("status")
    walks.git("branch", "made")
    assert (walks.workspace.parent / "mark").exists()


@pytest.mark.parametrize(
    "name",
    [
        "core.fsmonitor",
        "core.pager",
        "pager.log",
        "pager.status",
        "pager.branch",
        "diff.external",
        "core.editor",
        "core.sshCommand",
        "core.askPass",
        "core.alternateRefsCommand",
        "gpg.program",
        "credential.helper",
        "filter.trap.clean",
        "filter.trap.smudge",
        "filter.trap.process",
        "filter.a=b.clean",
        "diff.trap.textconv",
        "diff.trap.command",
        "alias.status",
        "uploadpack.packObjectsHook",
    ],
)
def test_a_program_named_in_the_repositorys_configuration_is_not_run(
    walks: Walks, trap: Path, name: str
) -> None:
    value = f"!{trap}" if name.startswith("alias") else str(trap)
    walks.git("config", name, value)
    walks.git("config", "log.showSignature", "true")
    walks.git("config", "status.submoduleSummary", "true")
    walks.write(".gitattributes", "*.txt filter=trap diff=trap\n*.txt filter=a=b\n")
    nothing_ran(walks)


def test_a_program_named_in_an_included_configuration_is_not_run(walks: Walks, trap: Path) -> None:
    included = walks.workspace.parent / "included"
    included.write_text(
        f'[filter "trap"]\n\tclean = {trap}\n\trequired = true\n[core]\n\tfsmonitor = {trap}\n'
    )
    walks.git("config", "include.path", str(included))
    walks.write(".gitattributes", "*.txt filter=trap\n")
    nothing_ran(walks)


def test_a_program_named_in_the_configuration_of_the_work_tree_is_not_run(walks: Walks, trap: Path) -> None:
    walks.git("config", "extensions.worktreeConfig", "true")
    (walks.workspace / ".git/config.worktree").write_text(f'[filter "trap"]\n\tclean = {trap}\n')
    walks.write(".gitattributes", "*.txt filter=trap\n")
    nothing_ran(walks)


@pytest.mark.parametrize("name", ["refs/heads", "refs/heads/made", "logs", "logs/refs/heads/made"])
def test_a_branch_is_not_written_through_a_link(walks: Walks, trap: Path, name: str) -> None:
    elsewhere, link = walks.workspace.parent / "elsewhere", walks.workspace / ".git" / name
    link.parent.mkdir(parents=True, exist_ok=True)
    if link.exists():
        link.rename(elsewhere)
    else:
        elsewhere.mkdir()
    link.symlink_to(elsewhere)
    before = sorted(elsewhere.rglob("*"))
    outcome = walks.go(tool("n1", "git/branch", "write", name="made/here"))
    assert sorted(elsewhere.rglob("*")) == before
    assert outcome.failure is not None
    assert outcome.failure.code == "REPOSITORY_ELSEWHERE"


def test_hooks_are_not_run(walks: Walks, trap: Path) -> None:
    for hook in ("post-index-change", "reference-transaction", "post-checkout", "pre-auto-gc"):
        (walks.workspace / ".git/hooks" / hook).symlink_to(trap)
    hooks = walks.workspace.parent / "hooks"
    hooks.mkdir()
    (hooks / "reference-transaction").symlink_to(trap)
    walks.git("config", "core.hooksPath", str(hooks))
    nothing_ran(walks)


def test_the_configuration_of_the_user_and_the_system_is_not_read(
    walks: Walks, trap: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = walks.workspace.parent / "person"
    home.mkdir()
    (home / ".gitconfig").write_text(f"[core]\n\tfsmonitor = {trap}\n[diff]\n\texternal = {trap}\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.fsmonitor")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(trap))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", str(trap))
    monkeypatch.setenv("GIT_DIR", "/nonexistent")
    nothing_ran(walks)


def test_a_submodule_is_not_entered(walks: Walks, trap: Path) -> None:
    walks.git("init", "-q", "sub")
    inner = ["-C", "sub", "-c", "core.hooksPath=/dev/null"]
    walks.write("sub/b.txt", "b")
    walks.git(*inner, "add", "b.txt")
    walks.git(*inner, "commit", "-q", "-m", "b")
    walks.git("add", "sub")
    walks.git("commit", "-q", "-m", "sub")
    walks.git("-C", "sub", "config", "core.fsmonitor", str(trap))
    walks.git("-C", "sub", "config", "filter.trap.clean", str(trap))
    walks.write("sub/.gitattributes", "* filter=trap\n")
    walks.write("sub/b.txt", "changed")
    walks.git("config", "submodule.sub.url", f"ext::{trap}")
    walks.write(".gitmodules", f'[submodule "sub"]\n\tpath = sub\n\turl = ext::{trap}\n')
    walks.git("config", "submodule.recurse", "true")
    (walks.workspace.parent / "mark").unlink(missing_ok=True)
    nothing_ran(walks)


@pytest.mark.parametrize("kind", ["file", "link", "alternates", "commondir", "objects"])
def test_a_repository_that_leads_out_of_the_workspace_is_refused(walks: Walks, trap: Path, kind: str) -> None:
    repository, elsewhere = walks.workspace / ".git", walks.workspace.parent / "elsewhere"
    if kind in ("file", "link"):
        repository.rename(elsewhere)
        if kind == "file":
            repository.write_text(f"gitdir: {elsewhere}\n")
        else:
            repository.symlink_to(elsewhere)
    elif kind == "alternates":
        (repository / "objects/info/alternates").write_text("/elsewhere\n")
    elif kind == "commondir":
        (repository / "commondir").write_text("/elsewhere\n")
    else:
        (repository / "objects").rename(elsewhere)
        (repository / "objects").symlink_to(elsewhere)
    for name in ("git/status", "git/log", "git/branch"):
        outcome = walks.go(tool("n1", name))
        assert outcome.failure is not None
        assert outcome.failure.code in ("NOT_A_REPOSITORY", "REPOSITORY_ELSEWHERE")


def test_a_work_tree_named_in_the_configuration_is_not_looked_at(walks: Walks, trap: Path) -> None:
    walks.git("config", "core.worktree", str(walks.workspace.parent / "outside"))
    found = walks.go(tool("n1", "git/status")).outputs["n1"]
    assert "secret" not in str(found)
    assert "a.txt" in str(found)


def test_names_of_files_and_branches_move_no_cursor(walks: Walks, trap: Path) -> None:
    (walks.workspace / "x\x1b[2J\ny").write_text("")
    found = walks.go(tool("n1", "git/status"))
    assert "\x1b" not in str(found.outputs)
    assert "\\x1b[2J" in found.outputs["n1"]["text"]


@pytest.mark.parametrize("which", ["git/log", "git/diff", "git/show"])
@pytest.mark.parametrize("path", ["--output=owned", "-p", "--ext-diff", "--", "-"])
def test_a_path_that_looks_like_an_option_is_refused(walks: Walks, trap: Path, path: str, which: str) -> None:
    assert walks.refusal(tool("n1", which, path=path)) == "LOOKS_LIKE_OPTION"
    assert not (walks.workspace / "owned").exists()


@pytest.mark.parametrize("path", [":(top)a.txt", ":!a.txt", "*.txt"])
def test_a_path_that_looks_like_a_pattern_is_a_path(walks: Walks, trap: Path, path: str) -> None:
    found = walks.go(tool("n1", "git/log", path=path))
    assert found.outputs["n1"]["commits"] == []  # type: ignore[index]  # an object


def test_an_object_that_is_missing_is_fetched_from_nowhere(walks: Walks, trap: Path) -> None:
    blob = walks.git("rev-parse", "HEAD:a.txt").strip()
    place = walks.workspace / ".git/objects" / blob[:2] / blob[2:]
    place.chmod(0o644)
    place.unlink()
    for name, value in {
        "core.repositoryformatversion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.promisor": "true",
        "remote.origin.url": f"ext::{trap} %S",
        "remote.origin.vcs": "ext",
        "protocol.ext.allow": "always",
    }.items():
        walks.git("config", name, value)
    for node in (tool("n1", "git/show", file="a.txt"), tool("n1", "git/show")):
        assert walks.refusal(node) == "GIT_FAILED"
    assert not (walks.workspace.parent / "mark").exists()
