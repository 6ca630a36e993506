"""A repository made to run something: nothing of it runs."""

from __future__ import annotations

import os
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
    tool("n8", "git/diff", staged="true"),
    tool("n9", "code/search", pattern="one"),
)
LOOKS = [
    tool("n1", "git/status"),
    tool("n1", "git/log"),
    tool("n1", "git/branch"),
    tool("n1", "git/diff"),
    tool("n1", "git/show"),
    tool("n1", "code/search", pattern="secret-out"),
]


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


# What git reads line by line it quotes where a line is wrong: a link there would show a file outside.
QUOTED = ("shallow", "packed-refs", "info/grafts", "HEAD")
LINKED = (
    *(
        "info/exclude",
        "info/attributes",
        "info/sparse-checkout",
        "config",
        "index",
        "description",
        "MERGE_HEAD",
    ),
    *(
        "reftable",
        "modules",
        "worktrees",
        "objects/info/alternates",
        "objects/info/commit-graph",
        "objects/pack",
    ),
    *("objects/00", "refs/heads", "refs/tags", "refs/heads/leak", "refs/tags/leak", "logs/HEAD"),
)


@pytest.mark.parametrize(
    ("name", "how"),
    [
        *((name, how) for name in QUOTED for how in ("link", "hard link")),
        *((name, "link") for name in LINKED),
        *((name, "hard link") for name in ("config", "index", "info/attributes", "refs/heads/leak")),
    ],
)
def test_nothing_below_git_shows_a_file_outside(walks: Walks, trap: Path, name: str, how: str) -> None:
    secret, place = walks.workspace.parent / "outside/secret.txt", walks.workspace / ".git" / name
    place.parent.mkdir(parents=True, exist_ok=True)
    if place.is_dir():
        place.rename(walks.workspace.parent / "kept")
    place.unlink(missing_ok=True)
    if how == "link":
        place.symlink_to(secret)
    else:
        os.link(secret, place)
    for node in LOOKS if name in QUOTED else (LOOKS[0], LOOKS[-1]):
        outcome = walks.go(node)
        assert outcome.failure is None or outcome.failure.code in (
            *("REPOSITORY_ELSEWHERE", "NOT_A_REPOSITORY", "GIT_FAILED", "UNKNOWN_COMMIT"),
        )
        assert "the-secret" not in str(outcome.to_json())
    assert secret.read_text() == "the-secret-outside"


@pytest.mark.parametrize(
    "settings",
    [
        {"trace2.normalTarget": "{outside}/trace", "trace2.eventTarget": "{outside}/events"},
        {"core.attributesFile": "{outside}/secret.txt", "core.excludesFile": "{outside}/secret.txt"},
        {"mailmap.file": "{outside}/secret.txt", "blame.ignoreRevsFile": "{outside}/secret.txt"},
        {"include.path": "{outside}/secret.txt"},
        {"include.path": "/dev/zero"},
        {"core.bare": "true"},
        {"core.logAllRefUpdates": "always", "core.sharedRepository": "0777"},
        {"format.pretty": "%(trailers)%x1b[2J", "log.date": "format:%n%n%%", "log.decorate": "full"},
        {"diff.noprefix": "true", "diff.orderFile": "{outside}/secret.txt", "diff.submodule": "log"},
        {"core.splitIndex": "true", "core.untrackedCache": "true", "feature.manyFiles": "true"},
        {"core.worktree": "{outside}", "submodule.recurse": "true", "fetch.recurseSubmodules": "true"},
        {"extensions.partialClone": "origin", "remote.origin.promisor": "true", "remote.origin.vcs": "trap"},
    ],
    ids=lambda found: next(iter(found)),
)
def test_no_setting_makes_git_write_or_show_anything_outside(
    walks: Walks, trap: Path, settings: dict[str, str]
) -> None:
    outside = walks.workspace.parent / "outside"
    for name, value in settings.items():
        walks.git("config", name, value.replace("{outside}", str(outside)))
    outcome = walks.go(ALL)
    assert outcome.failure is None or outcome.failure.code == "GIT_FAILED"
    told = str(outcome.to_json())
    assert "the-secret" not in told
    assert "\\x1b" not in told
    assert sorted(one.name for one in walks.workspace.parent.iterdir()) == ["home", "outside", "trap", "work"]
    assert [one.name for one in outside.iterdir()] == ["secret.txt"]


def test_a_submodule_whose_address_or_name_is_a_trap_runs_nothing(walks: Walks, trap: Path) -> None:
    outside = walks.workspace.parent / "outside"
    walks.write(
        ".gitmodules",
        f'[submodule "../../../outside/owned"]\n\tpath = -u\n\turl = -u{trap}\n'
        f'[submodule "x"]\n\tpath = sub\n\turl = ext::{trap}\n\tupdate = !{trap}\n'
        f"\tbranch = --upload-pack={trap}\n",
    )
    commit = walks.git("rev-parse", "HEAD").strip()
    for path in ("sub", "-u"):
        walks.git("update-index", "--add", "--cacheinfo", f"160000,{commit},{path}")
    walks.git("config", "submodule.x.update", f"!{trap}")
    walks.git("config", "submodule.x.active", "true")
    walks.git("config", "protocol.ext.allow", "always")
    nothing_ran(walks)
    assert [one.name for one in outside.iterdir()] == ["secret.txt"]


@pytest.mark.parametrize(
    "name", ["-x", "--output=owned", "a\nb", "\x1b[2J", "\u202egpj.sh", "$(id)", " ", "\udcff\udcfe"]
)
def test_files_of_any_name_are_told_of_and_do_nothing(walks: Walks, trap: Path, name: str) -> None:
    (walks.workspace / name).write_text("one\n")
    walks.git("add", "--", name)
    walks.git("commit", "-q", "-m", f"Add {name}")
    (walks.workspace / name).write_text("two\n")
    outcome = walks.go(ALL)
    assert outcome.failure is None, outcome.failure
    told = "".join(str(one) for output in outcome.outputs.values() for one in output.values())  # type: ignore[attr-defined]  # objects
    assert not {"\x1b", "\u202e", "\udcff"} & set(told)
    assert sorted(one.name for one in walks.workspace.iterdir()) == sorted([".git", "a.txt", name])


def test_the_past_of_a_secret_file_is_as_closed_as_the_file(walks: Walks, trap: Path) -> None:
    for path in (".env", "deep/id_rsa", "server.pem.bak"):
        walks.write(path, "the-secret-of-then")
    walks.git("add", "-f", ".")
    walks.git("commit", "-q", "-m", "Add secrets")
    for path in (".env", "deep/id_rsa", "server.pem.bak"):
        walks.git("rm", "-q", path)
    walks.git("commit", "-q", "-m", "Remove them")
    for commit in ("HEAD", "HEAD~1"):
        found = walks.ask(tool("n1", "git/show", commit=commit))
        assert "the-secret" not in str(found)
        assert found["hidden"] == 3
    for path in (".env", "deep/../.env", "deep/id_rsa", "DEEP/ID_RSA", "server.pem.bak", "./.env"):
        assert walks.refusal(tool("n1", "git/show", commit="HEAD~1", file=path)) in (
            "PROTECTED_PATH",
            "OUT_OF_SCOPE",
        )


@pytest.mark.parametrize(
    "commit",
    [
        *("-p", "--output=owned", "HEAD:.env", ":.env", "HEAD:../outside", "HEAD\n", "HEAD --output=owned"),
        *("HEAD..main", "^HEAD", "@{u}", "main@{upstream}", "HEAD^{blob}", "HEAD^{tree}", "refs/../../x"),
        *("HEAD^{/(a*)*b}", "a" * 199, "@", "HEAD@{99999999999999}", "HEAD~99999999999"),
    ],
)
def test_no_name_of_a_commit_is_an_option_or_shows_what_is_none(
    walks: Walks, trap: Path, commit: str
) -> None:
    outcome = walks.go(tool("n1", "git/show", commit=commit))
    if outcome.failure is None:
        assert outcome.outputs["n1"]["commit"] == walks.git("rev-parse", "HEAD").strip()  # type: ignore[index]  # an object
    else:
        assert outcome.failure.code in ("INVALID_ARGS", "UNKNOWN_COMMIT")
    assert not (walks.workspace / "owned").exists()


@pytest.mark.parametrize("place", ["{work}/bin", "bin", ".", "", "{link}", "{work}/bin/../bin"])
def test_a_program_of_the_workspace_does_not_stand_in_for_git(
    walks: Walks, trap: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """A PATH often begins with a folder of the project."""
    for name in ("bin/git", "git"):
        walks.write(name, trap.read_text()).chmod(0o755)
    link = walks.workspace.parent / "link"
    link.symlink_to(walks.workspace / "bin")
    monkeypatch.chdir(walks.workspace)
    first = place.format(work=walks.workspace, link=link)
    monkeypatch.setenv("PATH", f"{first}:{os.environ['PATH']}")
    walks.go(ALL)
    assert not (walks.workspace.parent / "mark").exists()
