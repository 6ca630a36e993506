"""A linked work tree of a governed folder: rules hold there too, until a person signs work for it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from mcl.plugins.agents.guard.aftermath import git_changes, git_state
from mcl.plugins.agents.usecases import import_work, list_work, select_work
from tests.agents.conftest import Project, Written
from tests.agents.hosting import ClaudeCode


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org", *arguments],
        cwd=folder,
        check=True,
        capture_output=True,
    )


@pytest.fixture
def tree(project: Project) -> Path:
    """A linked work tree beside the project, whose file of work is committed and signed."""
    project.write(Written(scope=("src/**",)))
    git(project.root, "init", "-q", "-b", "main", "--template=")
    git(project.root, "add", "-f", ".")
    git(project.root, "commit", "-q", "-m", "Begin")
    project.sign()
    place = project.root.parent / "tree"
    git(project.root, "worktree", "add", "-q", "-b", "topic", str(place))
    return place


@pytest.fixture
def there(project: Project, tree: Path) -> ClaudeCode:
    """An agent whose host works in the tree."""
    return ClaudeCode(project.home, tree)


def test_a_work_tree_of_a_governed_folder_is_governed(
    project: Project, tree: Path, there: ClaudeCode
) -> None:
    told = there.write(tree / "src/a.py")
    assert (told.verdict, "NO_INTENT_DECLARED" in told.reason) == ("deny", True)
    assert "mcl work import" in told.reason
    assert not (tree / "src/a.py").exists()
    assert there.bash("rm -rf src").verdict == "deny"
    assert there.bash("git status").verdict == "allow"
    assert there.read(tree / ".orchestration/active_intents.yaml").verdict == "ask"
    deep = ClaudeCode(project.home, tree / "src/deep")  # a folder that is not there yet
    assert deep.write(tree / "src/deep/a.py").verdict == "deny"
    found = list_work(root=tree / "src", home=project.home)
    assert (found.root, found.governed, found.items) == (tree, True, ())


def test_what_is_checked_out_in_the_main_one_opens_nothing_there(
    project: Project, tree: Path, there: ClaudeCode
) -> None:
    assert project.select("INT-001").success
    assert ClaudeCode(project.home, project.root).write(project.root / "src/a.py").verdict == "allow"
    assert there.write(tree / "src/a.py").verdict == "deny"
    refused = select_work("INT-001", agent="two", root=tree, home=project.home)
    assert (refused.success, refused.code) == (False, "NOT_IMPORTED")


@pytest.mark.parametrize("inner", ["repository", "file"])
def test_a_repository_within_the_tree_is_no_way_out(
    project: Project, tree: Path, there: ClaudeCode, inner: str
) -> None:
    place = tree / "src/inner"
    place.mkdir(parents=True)
    if inner == "repository":
        git(place, "init", "-q", "--template=")
    else:
        (place / ".git").write_text("gitdir: ../../.git/modules/inner\n")
    within = ClaudeCode(project.home, place)
    assert [one.write(place / "a.py").verdict for one in (there, within)] == ["deny", "deny"]
    assert within.bash("touch a.py").verdict == "deny"
    assert within.bash("rm -rf .").verdict == "deny"


def test_from_elsewhere_it_is_no_way_in_either(project: Project, tree: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    agent = ClaudeCode(project.home, outside)
    assert agent.write(tree / "src/a.py").verdict == "deny"
    assert agent.bash(f"touch {tree}/src/a.py").verdict == "deny"
    assert agent.bash(f"touch {outside}/a.py").verdict == ""


def test_a_person_imports_there_and_work_is_done_there(
    project: Project, tree: Path, there: ClaudeCode
) -> None:
    assert import_work(agree=lambda plan: True, root=tree, home=project.home).agreed
    assert select_work("INT-001", agent="one", root=tree, home=project.home).success
    assert there.write(tree / "src/a.py").verdict == "allow"
    assert there.write(tree / "README.md").verdict == "deny"
    assert ClaudeCode(project.home, project.root).write(project.root / "src/a.py").verdict == "deny"


def test_a_person_who_says_that_there_is_no_work_lets_the_tree_go(
    project: Project, tree: Path, there: ClaudeCode
) -> None:
    assert import_work(agree=lambda plan: True, root=tree, home=project.home).agreed
    (tree / ".orchestration/active_intents.yaml").write_text("active_intents: []\n")
    assert import_work(agree=lambda plan: True, root=tree, home=project.home).agreed
    assert there.write(tree / "src/a.py").verdict == ""
    assert not list_work(root=tree, home=project.home).governed


def test_a_part_that_has_work_of_its_own_answers_to_the_same_part(project: Project, tree: Path) -> None:
    part = project.root / "web"
    (part / ".orchestration").mkdir(parents=True)
    (part / ".orchestration/active_intents.yaml").write_text(project.file.read_text())
    assert import_work(agree=lambda plan: True, root=part, home=project.home).agreed
    assert list_work(root=tree / "web/x", home=project.home).root == tree / "web"
    assert list_work(root=tree / "api/x", home=project.home).root == tree


@pytest.mark.parametrize("said", ["", "gitdir: /nowhere/x\n", "gitdir: .git\n", "gitdir: \0\n", "x" * 9000])
def test_a_file_that_names_no_work_tree_governs_nothing(
    project: Project, tree: Path, tmp_path: Path, said: str
) -> None:
    place = tmp_path / "apart"
    place.mkdir()
    (place / ".git").write_text(said)
    assert ClaudeCode(project.home, place).write(place / "a.py").verdict == ""


def test_what_a_shell_changed_there_is_seen(project: Project, tree: Path) -> None:
    before = git_state(tree)
    assert before is not None
    (tree / "new.txt").write_text("new\n")
    changed = git_changes(tree, before)
    assert changed is not None
    assert [one[0] for one in changed] == ["new.txt"]
