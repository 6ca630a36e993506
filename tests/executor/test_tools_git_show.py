"""git/show: one commit, and files as they were."""

from __future__ import annotations

import pytest
from walks import NODE, Walks, tool


@pytest.fixture
def repo(walks: Walks) -> Walks:
    walks.git("init", "-q", "-b", "main")
    walks.write("a.txt", "one\ntwo\n")
    walks.write("sub/b.txt", "b\n")
    walks.write(".env", "TOKEN=before\n")
    walks.git("add", "-f", ".")
    walks.git("commit", "-q", "-m", "Add", "-m", "With a body.")
    walks.write("a.txt", "one\n2\n")
    walks.write(".env", "TOKEN=after\n")
    walks.git("commit", "-q", "-a", "-m", "Change \x1b[2Jtwo")
    return walks


def show(**args: str) -> NODE:
    return tool("n1", "git/show", **args)


def test_a_commit_is_shown_with_its_message_and_changes(repo: Walks) -> None:
    found = repo.ask(show())
    assert found["commit"] == repo.git("rev-parse", "HEAD").strip()
    assert (found["author"], found["message"]) == ("Ada", "Change \\x1b[2Jtwo")
    assert found["parents"] == [repo.git("rev-parse", "HEAD~1").strip()]
    assert found["files"] == [{"path": "a.txt", "added": 1, "removed": 1}]
    assert (found["count"], found["hidden"], found["truncated"]) == (1, 1, False)
    assert found["patch"].endswith("\n-two\n+2")
    assert "TOKEN" not in str(found)
    assert found["text"].startswith(f"commit {found['commit']}\nAda, 20")


def test_the_first_commit_shows_what_it_brought_and_a_path_narrows_it(repo: Walks) -> None:
    found = repo.ask(show(commit="HEAD~1"))
    assert found["message"] == "Add\n\nWith a body."
    assert [one["path"] for one in found["files"]] == ["a.txt", "sub/b.txt"]
    repo.git("config", "log.showRoot", "false")
    assert [one["path"] for one in repo.ask(show(commit="main~1", path="sub"))["files"]] == ["sub/b.txt"]


def test_a_merge_shows_what_it_brought_to_its_first_parent(repo: Walks) -> None:
    repo.git("checkout", "-q", "-b", "side", "HEAD~1")
    repo.write("side.txt", "s\n")
    repo.git("add", "side.txt")
    repo.git("commit", "-q", "-m", "Side")
    repo.git("checkout", "-q", "main")
    repo.git("merge", "-q", "--no-ff", "-m", "Merge", "side")
    found = repo.ask(show())
    assert len(found["parents"]) == 2
    assert [one["path"] for one in found["files"]] == ["side.txt"]


def test_a_file_is_shown_as_it_was(repo: Walks) -> None:
    (repo.workspace / "a.txt").unlink()
    found = repo.ask(show(commit="HEAD~1", file="a.txt"))
    assert (found["content"], found["size"], found["truncated"]) == ("one\ntwo\n", 8, False)
    assert found["file"] == "a.txt"
    assert "patch" not in found


def test_a_long_file_is_cut_at_a_whole_character(repo: Walks) -> None:
    repo.write("long.txt", "é" * 200_000)
    repo.git("add", "long.txt")
    repo.git("commit", "-q", "-m", "Long")
    found = repo.ask(show(file="long.txt"))
    assert found["truncated"] is True
    assert found["size"] == 400_000
    assert set(found["content"]) == {"é"}
    assert repo.refusal(show(file="long.txt", whole="true")) == "TOO_LARGE"


@pytest.mark.parametrize(
    ("args", "code"),
    [
        ({"commit": "nowhere"}, "UNKNOWN_COMMIT"),
        ({"commit": "HEAD~9"}, "UNKNOWN_COMMIT"),
        ({"commit": "--output=owned"}, "INVALID_ARGS"),
        ({"commit": "HEAD:a.txt"}, "INVALID_ARGS"),
        ({"path": "--output=owned"}, "LOOKS_LIKE_OPTION"),
        ({"file": "-p"}, "LOOKS_LIKE_OPTION"),
        ({"file": "nowhere.txt"}, "NOT_FOUND"),
        ({"file": "sub"}, "NOT_A_FILE"),
        ({"file": "link"}, "NOT_A_FILE"),
        ({"file": "blob.bin"}, "NOT_TEXT"),
        ({"file": "latin.txt"}, "NOT_TEXT"),
        ({"file": ".env"}, "PROTECTED_PATH"),
        ({"file": "sub/../.env"}, "OUT_OF_SCOPE"),
        ({"file": "../a.txt"}, "OUT_OF_SCOPE"),
        ({"repo": "sub"}, "NOT_A_REPOSITORY"),
    ],
)
def test_what_cannot_or_may_not_be_shown_is_refused(repo: Walks, args: dict[str, str], code: str) -> None:
    (repo.workspace / "link").symlink_to("a.txt")
    (repo.workspace / "blob.bin").write_bytes(b"\0\1")
    (repo.workspace / "latin.txt").write_bytes(b"caf\xe9")
    repo.git("add", ".")
    repo.git("commit", "-q", "-m", "More")
    assert repo.refusal(show(**args)) == code
    assert not (repo.workspace / "owned").exists()


def test_a_repository_without_commits_has_none_to_show(walks: Walks) -> None:
    walks.git("init", "-q")
    assert walks.refusal(show()) == "UNKNOWN_COMMIT"
