"""A file .git that leads elsewhere than it should: no other repository is read or written through it."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest

from executor.core.errors import ToolError
from executor.sandbox.git import repository, text
from executor.sandbox.paths import Known, Workspace


@dataclass
class Yard:
    """A repository with a linked work tree, and another person's repository with one, all of them named."""

    top: Path
    tree: Path

    @property
    def main(self) -> Path:
        return self.top / "main"

    @property
    def own(self) -> Path:
        return self.main / ".git/worktrees/work"

    @property
    def other(self) -> Path:
        return self.top / "other"

    def says(self, *arguments: str, branch: str = "", named: tuple[Path, ...] = ()) -> str:
        """What git says in the work tree, where it may be asked. Raises ToolError."""
        known = Known((), tuple(map(str, named or (self.main, self.other))))

        async def ask() -> str:
            async with repository(workspace, ".", branch=branch) as git:
                return text((await git.answer(*arguments)).out).strip()

        workspace = Workspace(self.tree, known=lambda: known)
        try:
            return anyio.run(ask)
        finally:
            workspace.close()

    def refuses(self, branch: str = "", named: tuple[Path, ...] = ()) -> str:
        """That it may not, and why."""
        with pytest.raises(ToolError) as refused:
            self.says("rev-parse", "HEAD", branch=branch, named=named)
        assert refused.value.code in ("REPOSITORY_ELSEWHERE", "NOT_A_REPOSITORY")
        return f"{refused.value.message} {refused.value.fix}"

    def git(self, *arguments: str) -> str:
        """What a careless git says, in the work tree."""
        said = subprocess.run(
            ["git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org", *arguments],
            cwd=self.tree,
            capture_output=True,
            text=True,
            check=True,
        )
        return said.stdout


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("yard")
    yard = Yard(top, top)
    for place, tree in (("main", "work"), ("other", "others-tree")):
        yard.git("init", "-q", "-b", "main", "--template=", place)
        (top / place / "a.txt").write_text(f"{place}\n")
        yard.git("-C", place, "add", "a.txt")
        yard.git("-C", place, "commit", "-q", "-m", f"In {place}")
        yard.git("-C", place, "worktree", "add", "-q", "-b", "topic", str(top / tree))
    return top


@pytest.fixture
def yard(made: Path, tmp_path: Path) -> Yard:
    top = tmp_path / "top"
    shutil.copytree(made, top)
    for place, tree in (("main", "work"), ("other", "others-tree")):
        own = top / place / ".git/worktrees" / tree
        (top / tree / ".git").write_text(f"gitdir: {own}\n")
        (own / "gitdir").write_text(f"{top / tree}/.git\n")
    return Yard(top, top / "work")


def _points(target: str) -> Callable[[Yard], None]:
    def forge(yard: Yard) -> None:
        (yard.tree / ".git").write_text(f"gitdir: {target.format(top=yard.top)}\n")

    return forge


def _writes(name: str, content: str) -> Callable[[Yard], None]:
    def forge(yard: Yard) -> None:
        place = yard.top / name
        place.unlink(missing_ok=True)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(content.format(top=yard.top))

    return forge


def _links(name: str, *, hard: bool = False) -> Callable[[Yard], None]:
    """A part of the way, moved away, with a link in its place."""

    def forge(yard: Yard) -> None:
        place, away = yard.top / name, yard.top / "away"
        place.rename(away)
        if hard:
            os.link(away, place)
        else:
            place.symlink_to(away)

    return forge


def _linked_new(name: str) -> Callable[[Yard], None]:
    """A part that was not there, as a link to another's file."""

    def forge(yard: Yard) -> None:
        (yard.top / name).parent.mkdir(exist_ok=True)
        (yard.top / name).symlink_to(yard.other / "a.txt")

    return forge


def _copied(yard: Yard) -> None:
    """The folder of git copied into the other repository's: it names this tree, and commondir leads back."""
    made = yard.other / ".git/worktrees/work"
    made.mkdir()
    for one in yard.own.iterdir():
        if one.is_file():
            (made / one.name).write_bytes(one.read_bytes())
    (made / "commondir").write_text(f"{yard.main}/.git\n")
    _points("{top}/other/.git/worktrees/work")(yard)


_OWN = "main/.git/worktrees/work"
FORGED: dict[str, Callable[[Yard], None]] = {
    "another repository": _points("{top}/other/.git"),
    "its own repository, not the work tree's part": _points("{top}/main/.git"),
    "another's work tree": _points("{top}/other/.git/worktrees/others-tree"),
    "by way of its own": _points(
        "{top}/main/.git/worktrees/work/../../../../other/.git/worktrees/others-tree"
    ),
    "a folder that is not there": _points("{top}/main/.git/worktrees/none"),
    "a folder of objects": _points("{top}/main/.git/objects"),
    "the machine": _points("/proc/self/cwd/.git"),
    "a submodule of nobody": _points("{top}/other/.git/modules/x"),
    "two lines": _points("{top}/main/.git/worktrees/work\n/x"),
    "a NUL": _points("{top}/main/.git/worktrees/work\0"),
    "nothing": _writes("work/.git", ""),
    "no pointer": _writes("work/.git", "{top}/main/.git/worktrees/work\n"),
    "too long": _writes("work/.git", "gitdir: " + "./" * 5000 + "x\n"),
    "back link to another tree": _writes(f"{_OWN}/gitdir", "{top}/others-tree/.git\n"),
    "back link to a folder below": _writes(f"{_OWN}/gitdir", "{top}/work/sub/.git\n"),
    "back link of two lines": _writes(f"{_OWN}/gitdir", "{top}/work/.git\n{top}/x/.git\n"),
    "commondir elsewhere": _writes(f"{_OWN}/commondir", "{top}/other/.git\n"),
    "commondir relative elsewhere": _writes(f"{_OWN}/commondir", "../../../../other/.git\n"),
    "commondir in full, as git never writes it": _writes(f"{_OWN}/commondir", "{top}/main/.git\n"),
    "commondir within": _writes(f"{_OWN}/commondir", ".\n"),
    "commondir copied": _copied,
    "alternates": _writes("main/.git/objects/info/alternates", "{top}/other/.git/objects\n"),
    "commondir of the common folder": _writes("main/.git/commondir", "{top}/other/.git\n"),
    "link: .git": _links("work/.git"),
    "hard link: .git": _links("work/.git", hard=True),
    "link: the repository": _links("main"),
    "link: its folder of git": _links("main/.git"),
    "link: worktrees": _links("main/.git/worktrees"),
    "link: the tree's part": _links(_OWN),
    "link: gitdir": _links(f"{_OWN}/gitdir"),
    "hard link: gitdir": _links(f"{_OWN}/gitdir", hard=True),
    "link: commondir": _links(f"{_OWN}/commondir"),
    "link: HEAD": _links(f"{_OWN}/HEAD"),
    "link: index": _links(f"{_OWN}/index"),
    "link: logs": _links(f"{_OWN}/logs"),
    "link: what is checked out": _linked_new(f"{_OWN}/info/sparse-checkout"),
    "link: a table of references": _linked_new(f"{_OWN}/reftable/tables.list"),
    "link: config": _links("main/.git/config"),
    "hard link: config": _links("main/.git/config", hard=True),
    "link: objects": _links("main/.git/objects"),
    "link: refs": _links("main/.git/refs"),
    "link: a branch": _links("main/.git/refs/heads/topic"),
}


def test_the_yard_is_in_order(yard: Yard) -> None:
    assert yard.says("log", "--format=%s") == "In main"
    assert yard.says("status", "--porcelain", branch="made") == ""


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_part_is_refused_for_reading_and_writing(yard: Yard, name: str) -> None:
    FORGED[name](yard)
    yard.refuses()
    yard.refuses(branch="made")
    assert "made" not in yard.git("-C", str(yard.other), "branch")


def test_a_tree_that_is_named_itself_opens_no_other_repository(yard: Yard) -> None:
    """Its own name counts for the history that names it back, and for no other."""
    assert yard.says("log", "--format=%s", named=(yard.tree,)) == "In main"
    _points("{top}/other/.git/worktrees/others-tree")(yard)
    yard.refuses(named=(yard.tree,))


def test_a_tree_that_was_moved_or_copied_is_refused(yard: Yard) -> None:
    moved = yard.top / "moved"
    yard.tree.rename(moved)
    yard.tree = moved
    said = yard.refuses()
    assert ("is of the work tree" in said, "git worktree repair" in said) == (True, True)
    yard.git("worktree", "repair")
    assert yard.says("log", "--format=%s") == "In main"


def test_a_name_with_a_line_end_or_an_escape_is_refused(yard: Yard) -> None:
    for name in ("a\nb", "a\x1b[2J", "a\u202eb"):
        yard.tree = yard.top / name
        yard.tree.mkdir()
        at = yard.git("-C", str(yard.main), "worktree", "add", "-q", "--detach", str(yard.tree))
        assert at == ""
        said = yard.refuses()
        assert not {"\n", "\x1b", "\u202e"} & set(said)


def test_a_folder_of_another_user_is_refused(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    own = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: own + 1)
    assert "another user" in yard.refuses()


@pytest.mark.parametrize("where", ["config", "config.worktree", "included"])
def test_no_setting_of_either_configuration_runs_anything(yard: Yard, where: str) -> None:
    mark, trap = yard.top / "mark", yard.top / "trap"
    trap.write_text(f"#!/bin/sh\necho ran >> {mark}\ncat\nexit 0\n")
    trap.chmod(trap.stat().st_mode | stat.S_IXUSR)
    place = {"config": yard.main / ".git/config", "config.worktree": yard.own / "config.worktree"}.get(
        where, yard.top / "included"
    )
    yard.git("config", "extensions.worktreeConfig", "true")
    if where == "included":
        yard.git("config", f"includeIf.gitdir:{yard.main}/.path", str(place))
        yard.git("config", "include.path", str(place))
    names = (
        *("core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.askPass"),
        *("core.alternateRefsCommand", "diff.external", "gpg.program", "credential.helper"),
        *("filter.trap.clean", "filter.trap.smudge", "filter.trap.process"),
        *("diff.trap.textconv", "diff.trap.command", "uploadpack.packObjectsHook"),
    )
    for name in names:
        yard.git("config", "--file", str(place), name, str(trap))
    hooks = yard.top / "hooks"
    hooks.mkdir()
    for hook in ("reference-transaction", "post-index-change", "post-checkout"):
        (hooks / hook).symlink_to(trap)
    for name, value in {
        **{"core.hooksPath": str(hooks), "core.worktree": str(yard.other), "log.showSignature": "true"},
        **{"core.bare": "true"},
    }.items():
        yard.git("config", "--file", str(place), name, value)
    (yard.tree / ".gitattributes").write_text("*.txt filter=trap diff=trap\n")
    (yard.tree / "a.txt").write_text("changed\n")
    mark.unlink(missing_ok=True)
    assert "a.txt" in yard.says("status", "--porcelain")
    yard.says("log", "-p", "--no-ext-diff", "--no-textconv")
    yard.says("diff", "--no-ext-diff", "--no-textconv")
    yard.says("branch", "made", branch="made")
    assert not mark.exists()
    assert yard.says("ls-files", "--others") == ".gitattributes"  # of this tree, and of no other


def test_hooks_of_the_repository_are_not_run(yard: Yard) -> None:
    mark, hook = yard.top / "mark", yard.main / ".git/hooks/reference-transaction"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\necho ran >> {mark}\n")
    hook.chmod(0o755)
    yard.says("branch", "made", branch="made")
    assert not mark.exists()
    yard.git("branch", "unsafe")
    assert mark.exists()


@pytest.mark.parametrize("name", ["refs/heads/made", "logs/refs/heads/made"])
def test_no_branch_is_written_through_a_link_in_the_repository(yard: Yard, name: str) -> None:
    link, elsewhere = yard.main / ".git" / name, yard.top / "elsewhere"
    elsewhere.mkdir()
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(elsewhere)
    yard.refuses(branch="made/here")
    assert list(elsewhere.iterdir()) == []


def test_what_is_swapped_after_the_look_is_not_what_git_reads(yard: Yard) -> None:
    known, workspace = Known((), (str(yard.main),)), None

    async def swap() -> list[str]:
        async with repository(workspace, ".", branch="made") as git:
            (yard.tree / ".git").write_text(f"gitdir: {yard.other}/.git/worktrees/others-tree\n")
            yard.main.rename(yard.top / "away")
            yard.other.rename(yard.main)
            said = [text((await git.answer("log", "--format=%s")).out).strip()]
            await git.answer("branch", "made", "HEAD")
            return said

    workspace = Workspace(yard.tree, known=lambda: known)
    try:
        assert anyio.run(swap) == ["In main"]
    finally:
        workspace.close()
    assert "made" in yard.git("-C", str(yard.top / "away"), "branch")
    assert "made" not in yard.git("-C", str(yard.main), "branch")


def test_the_home_is_no_repository_whoever_names_it(yard: Yard) -> None:
    """A closed folder stays closed, also as the place of a history."""
    yard.git("-C", str(yard.main), "config", "core.bare", "false")
    known = Known((), (str(yard.main),))
    workspace = Workspace(yard.tree, forbidden=[yard.main], known=lambda: known)

    async def look() -> None:
        async with repository(workspace, "."):
            pass

    with pytest.raises(ToolError, match="closed to tools"):
        anyio.run(look)
    workspace.close()
