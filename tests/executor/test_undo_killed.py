"""An undo that is killed at any moment is completed by the same command again."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from test_undo import Tree, append, ran, refused, tree, write
from walks import Walks, tool

from executor.walker.undo.undo import undo

TESTS = Path(__file__).parents[1]
SCRIPT = """
import os, signal, sys
from pathlib import Path
home, intent, at, counting = sys.argv[1], sys.argv[2], int(sys.argv[3]), False
done = 0
def dying(name):
    real = getattr(os, name)
    def step(*given, **more):
        global done
        done += counting
        if counting and done == at:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*given, **more)
    setattr(os, name, step)
for name in ("rename", "link", "unlink", "rmdir", "mkdir", "fsync", "fchmod", "write"):
    dying(name)
from executor import Home
from executor.walker.undo.undo import undo
with Home.open(Path(home)) as opened:
    counting = True
    print(undo(opened, intent).state, done)
"""


def undo_and_die(walks: Walks, intent: str, at: int) -> bool:
    """Undo in another process, which is killed at its ``at``-th step; False where it came to its end."""
    path = os.pathsep.join([str(TESTS.parent), str(TESTS)])
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(walks.home.path), intent, str(at)],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode in (0, -9), done.stderr
    return done.returncode == -9


def story(walks: Walks) -> tuple[str, Tree]:
    """A run that changed, made and deleted files; its id, and the files before it."""
    walks.write("a.md", "one\n").chmod(0o600)
    walks.write("gone/old.md", "old\n")
    before = tree(walks.workspace)
    intent = ran(
        walks,
        append("n1", "a.md", "two\n"),
        write("n2", "new/b.md", "b\n"),
        tool("n3", "fs/delete", "write", path="gone/old.md"),
        tool("n4", "fs/delete", "write", path="gone"),
        verb="modify",
    )
    return intent, before


@pytest.mark.parametrize("at", [1, 6, 11, 16, 21])
def test_an_undo_that_was_killed_is_completed_by_another(walks, at):
    intent, before = story(walks)
    assert undo_and_die(walks, intent, at)
    assert undo(walks.home, intent).state in ("undone", "already")
    assert tree(walks.workspace) == before
    assert walks.home.journal.verify().ok


@pytest.mark.slow
def test_an_undo_may_be_killed_at_any_step_and_again_when_it_is_completed(tmp_path_factory):
    from executor import Home

    at = 0
    killed = True
    while killed:
        at += 1
        folder = tmp_path_factory.mktemp("kill")
        (folder / "work").mkdir()
        with Home.open(folder / "home") as home:
            walks = Walks(home, folder / "work")
            intent, before = story(walks)
            killed = undo_and_die(walks, intent, at)
            undo_and_die(walks, intent, max(1, at // 2))
            assert undo(home, intent).state in ("undone", "already")
            assert tree(walks.workspace) == before, at
            assert home.journal.verify().ok
    assert at > 20


def test_another_undo_waits_until_the_killed_one_is_completed(walks):
    intent, before = story(walks)
    assert undo_and_die(walks, intent, 14)
    error = refused(walks, intent, node="n1")
    assert (error.code, error.fix) == ("UNDO_INTERRUPTED", f"complete it: mcl undo {intent}")
    undo(walks.home, intent)
    assert tree(walks.workspace) == before


def test_a_file_that_changed_after_the_kill_may_be_left_out(walks):
    intent, before = story(walks)
    assert undo_and_die(walks, intent, 12)
    walks.write("a.md", "of a person\n")
    assert refused(walks, intent).code == "CHANGED_SINCE"
    undo(walks.home, intent, leave=["a.md"])
    assert (walks.workspace / "a.md").read_text() == "of a person\n"
    assert {**tree(walks.workspace), "a.md": None} == {**before, "a.md": None}
    assert not list(walks.workspace.rglob(".mcl-*"))
