"""A repository made to lead tools astray: nothing of it runs, and nothing else is told."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest
from walks import NODE, Walks, code, done, granted, tool

CHECKOUT = tool("n1", "git/checkout", "write", name="made")
INSPECT = tool("n1", "repo/inspect")


@pytest.fixture
def walks(walks: Walks) -> Walks:
    granted(walks, also=["shell"])
    return walks


@pytest.fixture
def trap(walks: Walks) -> Path:
    """A program that leaves a mark when it runs, and a repository with a changed file."""
    program = walks.workspace.parent / "trap"
    program.write_text(f"#!/bin/sh\necho ran >> {mark(walks)}\ncat\nexit 0\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    walks.git("init", "-q", "-b", "main")
    walks.write("a.txt", "one\n")
    walks.git("add", "a.txt")
    walks.git("commit", "-q", "-m", "Add a")
    walks.write("a.txt", "two\n")
    return program


def mark(walks: Walks) -> Path:
    return walks.workspace.parent / "mark"


def grep(query: str, **args: Any) -> NODE:
    return tool("n1", "code/grep", "shell", query=query, **args)


PROGRAMS = [
    *("core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "diff.external", "gpg.program"),
    *("filter.trap.clean", "filter.trap.smudge", "filter.trap.process", "diff.trap.textconv"),
    *("credential.helper", "core.alternateRefsCommand", "sequence.editor"),
]
HOOKS = ["post-checkout", "reference-transaction", "post-index-change", "pre-commit", "fsmonitor-watchman"]


def test_no_program_that_the_repository_names_runs_when_a_branch_is_made_or_looked_at(
    walks: Walks, trap: Path
) -> None:
    walks.write(".gitattributes", "*.txt filter=trap diff=trap\n")
    for name in PROGRAMS:
        walks.git("config", name, str(trap))
    walks.git("config", "filter.trap.required", "true")
    for name in HOOKS:
        (walks.workspace / ".git/hooks" / name).symlink_to(trap)
    walks.git("config", "core.hooksPath", str(walks.workspace / ".git/hooks"))
    assert done(walks, INSPECT)["counts"]["changed"] == 1
    assert done(walks, CHECKOUT)["branch"] == "made"
    assert not mark(walks).exists()


def test_the_trap_works_on_a_git_that_is_not_careful(walks: Walks, trap: Path) -> None:
    (walks.workspace / ".git/hooks/post-checkout").symlink_to(trap)
    walks.git("checkout", "-q", "-b", "made")
    assert mark(walks).exists()


@pytest.mark.parametrize("how", ["no index", "a sparse checkout"])
def test_no_file_is_written_or_taken_away_for_a_new_branch(walks: Walks, trap: Path, how: str) -> None:
    walks.write("b.txt", "not known to git\n")
    if how == "no index":
        (walks.workspace / ".git/index").unlink()
        (walks.workspace / "a.txt").unlink()
    else:
        walks.git("commit", "-qam", "Change a")
        walks.git("config", "core.sparseCheckout", "true")
        (walks.workspace / ".git/info/sparse-checkout").write_text("/b.txt\n")
    before = sorted(path.name for path in walks.workspace.iterdir())
    index = (walks.workspace / ".git/index").read_bytes() if how != "no index" else b""
    done(walks, CHECKOUT)
    assert sorted(path.name for path in walks.workspace.iterdir()) == before
    assert how == "no index" or (walks.workspace / ".git/index").read_bytes() == index
    assert walks.git("symbolic-ref", "--short", "HEAD").strip() == "made"


@pytest.mark.parametrize("place", ["HEAD", "logs/HEAD", "refs/heads/made", "logs/refs/heads", "refs"])
def test_a_repository_that_leads_elsewhere_gets_no_branch(walks: Walks, trap: Path, place: str) -> None:
    inside, outside = walks.workspace / ".git" / place, walks.workspace.parent / "outside/taken"
    if inside.exists():
        inside.rename(outside)
    else:
        outside.write_text("")
    inside.symlink_to(outside)
    before = {one: one.read_bytes() for one in outside.rglob("*") if one.is_file()}
    assert code(walks.go(CHECKOUT)) == "REPOSITORY_ELSEWHERE"
    assert {one: one.read_bytes() for one in outside.rglob("*") if one.is_file()} == before


def test_a_name_that_is_no_branch_is_refused_before_anything_is_written(walks: Walks, trap: Path) -> None:
    names = ("-f", "a..b", "a.lock", "HEAD", "a/", "@{-1}", "a\n")
    for name in names:
        assert code(walks.go(tool("n1", "git/checkout", "write", name=name))) in (
            *("INVALID_ARGS", "BAD_BRANCH_NAME"),
        ), name
    assert code(walks.go(tool("n1", "git/checkout", "write", name="main"))) == "BRANCH_EXISTS"
    assert code(walks.go(tool("n1", "git/checkout", "write", name="main/below"))) == "GIT_FAILED"
    assert walks.git("branch", "--format=%(refname:short)").split() == ["main"]
    assert walks.git("symbolic-ref", "--short", "HEAD").strip() == "main"


@pytest.mark.usefixtures("ripgrep", "unsandboxed")
class TestGrep:
    def test_no_configuration_of_ripgrep_is_read(
        self, walks: Walks, trap: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        settings = walks.write(".rgconfig", f"--pre={trap}\n--hidden\n--no-ignore\n--follow\n")
        walks.write("ripgreprc", settings.read_text())
        walks.write(".env", "needle\n")
        monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(settings))
        walks.write("b.txt", "needle\n")
        assert [one["path"] for one in done(walks, grep("needle"))["matches"]] == ["b.txt"]
        assert not mark(walks).exists()

    def test_a_ripgrep_of_the_workspace_is_not_run(
        self, walks: Walks, trap: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ripgrep: str
    ) -> None:
        own = walks.write("bin/rg", trap.read_text())
        own.chmod(0o755)
        monkeypatch.setenv("PATH", f"{own.parent}:.:bin::{Path(ripgrep).parent}:{os.environ['PATH']}")
        done(walks, grep("needle"))
        # A link elsewhere that leads into the workspace is one of its programs too.
        (tmp_path / "links").mkdir()
        (tmp_path / "links/rg").symlink_to(own)
        monkeypatch.setenv("PATH", f"{tmp_path / 'links'}:{os.environ['PATH']}")
        assert code(walks.go(grep("needle"))) == "COMMAND_NOT_FOUND"
        assert not mark(walks).exists()

    def test_secret_files_are_not_told_whatever_an_ignore_file_says(self, walks: Walks) -> None:
        walks.git("init", "-q")
        for name in (".env", ".ssh/id_rsa", "keys/server.pem", "id_rsa", ".git/needle", "sub/.npmrc"):
            walks.write(name, "needle\n")
        for name in (".ignore", ".rgignore", ".gitignore"):
            walks.write(name, "!.*\n!.env\n!.git\n!.git/**\n!.ssh\n")
        found = done(walks, grep("needle"))
        assert (found["status"], found["matches"], found["truncated"]) == (1, [], False)
        assert done(walks, grep("needle", path="sub"))["matches"] == []

    def test_links_and_second_names_lead_nowhere(self, walks: Walks) -> None:
        outside = walks.workspace.parent / "outside"
        (walks.workspace / "link.txt").symlink_to(outside / "secret.txt")
        (walks.workspace / "folder").symlink_to(outside)
        (walks.workspace / "second.txt").hardlink_to(outside / "secret.txt")
        assert done(walks, grep("secret"))["matches"] == []
        for path in ("folder", "..", "../outside", ".git"):
            assert code(walks.go(grep("secret", path=path))) in ("OUT_OF_SCOPE", "PROTECTED_PATH"), path

    @pytest.mark.parametrize("name", [".ignore", ".gitignore", ".rgignore"])
    def test_an_ignore_file_that_never_ends_does_not_hold_the_search_up(
        self, walks: Walks, name: str
    ) -> None:
        walks.git("init", "-q")
        walks.write("a.txt", "needle\n")
        (walks.workspace / "sub").mkdir()
        os.mkfifo(walks.workspace / "sub" / name)
        (walks.workspace / name).symlink_to("/dev/zero")
        found = done(
            walks, {**grep("needle"), "tool_call": {**grep("needle")["tool_call"], "timeout_ms": 9000}}
        )
        assert found["count"] == 1
        assert f"{name} is no plain file" in found["text"]

    def test_a_file_cannot_speak_for_another(self, walks: Walks) -> None:
        walks.write("b.txt", "hay\n")
        walks.write("x\nb.txt", "needle: 1\n")
        walks.write("y\r./b.txt", "needle: 2\n")
        (walks.workspace / "c.txt").write_bytes(b"b.txt\x01needle\nb.txt:1: needle\n")
        told = [(one["path"], one["text"]) for one in done(walks, grep("needle"))["matches"]]
        assert told == [("c.txt", "b.txt\\x01needle"), ("c.txt", "b.txt:1: needle")]
