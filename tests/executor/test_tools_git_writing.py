"""Tools that write the history of git, with real repositories and a real host."""

from __future__ import annotations

import base64
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from githost import GitHost, git_host
from walks import NODE, Says, Walks, code, granted, sequence, tool

from executor.core.errors import UndoError
from executor.walker.undo.undo import undo


@pytest.fixture
def repo(walks: Walks, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Walks:
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    (tmp_path / "person").mkdir()
    (tmp_path / "person/.gitconfig").write_text(
        "[user]\n\tname = Ada\n\temail = ada@example.org\n"
        "[core]\n\thooksPath = /nowhere\n[commit]\n\tgpgSign = true\n"
    )
    walks.git("init", "-q", "-b", "main")
    walks.write("a.txt", "one\n")
    walks.write("sub/b.txt", "b\n")
    walks.git("add", ".")
    walks.git("commit", "-q", "--no-gpg-sign", "-m", "Begin")
    return walks


def commit(**args: str) -> NODE:
    return tool("n1", "git/commit", "write", **args)


def head(walks: Walks, name: str = "HEAD") -> str:
    return walks.git("rev-parse", name).strip()


def short(walks: Walks) -> list[str]:
    return walks.git("status", "--short").splitlines()


def test_a_commit_takes_all_that_has_changed_but_secret_files_and_runs_no_hook(repo: Walks) -> None:
    hook = repo.workspace / ".git/hooks/pre-commit"
    hook.write_text(f"#!/bin/sh\ntouch {repo.workspace}/ran\nexit 1\n")
    hook.chmod(0o755)
    repo.git("config", "core.hooksPath", str(hook.parent))
    repo.write("a.txt", "two\n")
    repo.write("new file.txt", "n\n")
    repo.write(".env", "TOKEN=1\n")
    outside = repo.workspace.parent / "outside.txt"
    outside.write_text("nobody is to read this\n")
    os.link(outside, repo.workspace / "hard.txt")
    (repo.workspace / "sub/b.txt").unlink()
    before = head(repo)
    found = repo.ask(commit(message="Fix the door\n\n#12 was loose"))
    assert repo.git("log", "-1", "--format=%an <%ae> %s|%b").strip() == (
        "Ada <ada@example.org> Fix the door|#12 was loose"
    )
    assert (head(repo, "HEAD~1"), head(repo)) == (before, found["commit"])
    assert found["files"] == ["a.txt", "new file.txt", "sub/b.txt"]
    assert found["left_out"] == [".env (a secret file)", "hard.txt (it has several hard links)"]
    assert found["hooks"] == ["pre-commit"]
    assert "pre-commit" in found["text"]
    assert short(repo) == ["?? .env", "?? hard.txt"]
    assert not (repo.workspace / "ran").exists()


def test_a_commit_without_a_message_is_called_by_its_files(repo: Walks) -> None:
    repo.write("c.txt", "c\n")
    assert repo.ask(commit())["subject"] == "Add c.txt"
    repo.write("a.txt", "x\n")
    repo.write("d.txt", "d\n")
    assert repo.ask(commit())["subject"] == "Change a.txt, d.txt"


def test_named_files_or_what_is_staged_are_committed_alone(repo: Walks) -> None:
    for name in ("a.txt", "sub/b.txt", "c.txt"):
        repo.write(name, "new\n")
    repo.git("add", "sub/b.txt")
    assert repo.ask(commit(paths='["a.txt", "c.txt"]', message="Two"))["files"] == ["a.txt", "c.txt"]
    assert short(repo) == ["M  sub/b.txt"]
    repo.write("a.txt", "newer\n")
    assert repo.ask(commit(staged="true"))["files"] == ["sub/b.txt"]
    assert short(repo) == [" M a.txt"]


def test_a_commit_that_is_undone_leaves_the_files_and_what_was_staged(repo: Walks) -> None:
    before = head(repo)
    repo.write("a.txt", "two\n")
    repo.write("c.txt", "c\n")
    repo.git("add", "a.txt")
    staged = short(repo)
    outcome = repo.go(commit(message="Two"))
    assert outcome.failure is None, outcome.failure
    made = head(repo)
    report = undo(repo.home, outcome.intent_id)
    assert report.state == "undone"
    assert ".git/refs/heads/main" in report.restored
    assert (head(repo), short(repo)) == (before, staged)
    assert (repo.workspace / "c.txt").read_text() == "c\n"
    assert repo.git("cat-file", "-t", made).strip() == "commit"
    assert not [line for line in repo.git("fsck").splitlines() if not line.startswith("dangling")]


def test_an_undo_is_refused_once_somebody_committed_after_it(repo: Walks) -> None:
    repo.write("a.txt", "two\n")
    outcome = repo.go(commit(message="Two"))
    repo.git("commit", "-q", "--no-gpg-sign", "--allow-empty", "-m", "Later")
    later = head(repo)
    with pytest.raises(UndoError) as caught:
        undo(repo.home, outcome.intent_id)
    assert caught.value.code == "CHANGED_SINCE"
    assert head(repo) == later


def test_the_first_commit_of_a_repository_can_be_made_and_undone(
    walks: Walks, monkeypatch: pytest.MonkeyPatch
) -> None:
    walks.git("init", "-q", "-b", "trunk")
    walks.git("config", "user.name", "Bo")
    walks.git("config", "user.email", "bo@example.org")
    walks.write("a.txt", "a\n")
    outcome = walks.go(commit(message="First"))
    assert outcome.failure is None, outcome.failure
    assert walks.git("log", "--format=%an %s").strip() == "Bo First"
    undo(walks.home, outcome.intent_id)
    assert short(walks) == ["?? a.txt"]


@pytest.mark.parametrize(
    ("args", "refused"),
    [
        ({}, "NOTHING_TO_COMMIT"),
        ({"staged": "true"}, "NOTHING_TO_COMMIT"),
        ({"paths": '["nowhere.txt"]'}, "NOT_FOUND"),
        ({"paths": '["--all"]'}, "LOOKS_LIKE_OPTION"),
        ({"paths": '["../x"]'}, "OUT_OF_SCOPE"),
        ({"paths": '[".env"]'}, "PROTECTED_PATH"),
        ({"paths": '["a.txt"]', "staged": "true"}, "BAD_ARGUMENTS"),
        ({"repo": "sub"}, "NOT_A_REPOSITORY"),
        ({"message": ""}, "INVALID_ARGS"),
    ],
)
def test_what_cannot_be_committed_is_refused_and_nothing_changes(
    repo: Walks, args: dict[str, str], refused: str
) -> None:
    repo.write(".env", "TOKEN=1\n")
    before = (head(repo), short(repo))
    assert repo.refusal(commit(**args)) == refused
    assert (head(repo), short(repo)) == before


def test_who_commits_must_be_known(repo: Walks, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    repo.write("a.txt", "two\n")
    assert repo.refusal(commit()) == "NO_IDENTITY"
    assert short(repo) == [" M a.txt"]


def test_nothing_is_committed_in_the_middle_of_something(repo: Walks) -> None:
    repo.write("a.txt", "two\n")
    (repo.workspace / ".git/MERGE_HEAD").write_text(head(repo) + "\n")
    assert repo.refusal(commit()) == "UNDER_WAY"
    (repo.workspace / ".git/MERGE_HEAD").unlink()
    repo.git("checkout", "-q", "--detach")
    assert repo.refusal(commit()) == "NO_BRANCH"


def test_files_that_a_program_would_change_are_left_to_git(repo: Walks) -> None:
    repo.write(".gitattributes", "*.bin filter=lfs\n")
    repo.write("big.bin", "x\n")
    assert repo.refusal(commit()) == "FILTERED"


def test_files_are_staged_and_an_undo_takes_them_out_again(repo: Walks) -> None:
    repo.write("a.txt", "two\n")
    repo.write("c.txt", "c\n")
    outcome = repo.go(tool("n1", "git/add", "write", paths='["a.txt"]'))
    assert outcome.outputs["n1"]["files"] == ["a.txt"]
    assert short(repo) == ["M  a.txt", "?? c.txt"]
    undo(repo.home, outcome.intent_id)
    assert short(repo) == [" M a.txt", "?? c.txt"]
    assert repo.ask(tool("n1", "git/add", "write"))["count"] == 2


def test_after_an_undo_git_sees_a_change_of_the_same_size_in_the_same_moment(repo: Walks) -> None:
    repo.git("config", "core.trustctime", "false")
    file, moment = repo.workspace / "a.txt", 1_600_000_000
    os.utime(file, (moment, moment))
    repo.git("update-index", "--refresh")
    repo.write("a.txt", "two\n")
    for path in (file, repo.workspace / ".git/index"):
        os.utime(path, (moment, moment))
    outcome = repo.go(tool("n1", "git/add", "write", paths='["a.txt"]'))
    undo(repo.home, outcome.intent_id)
    assert short(repo) == [" M a.txt"]


def side(repo: Walks, name: str = "side", file: str = "side.txt", text: str = "s\n") -> None:
    """A branch with a commit of its own."""
    repo.git("checkout", "-q", "-b", name)
    repo.write(file, text)
    repo.git("add", "-f", file)
    repo.git("commit", "-q", "--no-gpg-sign", "-m", f"On {name}")
    repo.git("checkout", "-q", "main")


def test_a_branch_is_dropped_and_comes_back_with_an_undo(repo: Walks) -> None:
    repo.git("branch", "old/one")
    outcome = repo.go(tool("n1", "git/drop", "write", name="old/one"))
    assert outcome.failure is None, outcome.failure
    assert "old/one" not in repo.git("branch")
    undo(repo.home, outcome.intent_id)
    assert head(repo, "old/one") == head(repo)


def test_a_branch_with_commits_of_its_own_is_dropped_only_by_a_persons_leave(repo: Walks) -> None:
    side(repo)
    drop = tool("n1", "git/drop", "write", name="side")
    assert repo.refusal(drop) == "NOT_MERGED"
    people = Says("deny", "approve")
    anyway = tool("n1", "git/drop", "write", name="side", unmerged="true")
    assert code(repo.go(anyway, people=people)) == "GATE_DENIED"
    assert repo.go(anyway, people=people).failure is None
    assert "destructive" in people.asked[0].question
    assert "side" not in repo.git("branch")
    assert repo.refusal(tool("n1", "git/drop", "write", name="main")) == "CHECKED_OUT"
    assert repo.refusal(drop) == "UNKNOWN_BRANCH"


def test_all_branches_that_are_merged_are_dropped_but_the_main_ones_and_those_that_stay(repo: Walks) -> None:
    side(repo)
    for name in ("old/one", "old/two", "kept", "develop"):
        repo.git("branch", name)
    drop = tool("n1", "git/drop", "write", merged="HEAD", but='["kept"]')
    outcome = repo.go(drop)
    assert outcome.failure is None, outcome.failure
    assert repo.git("branch").split() == ["develop", "kept", "*", "main", "side"]
    undo(repo.home, outcome.intent_id)
    assert head(repo, "old/two") == head(repo)
    assert repo.refusal(tool("n1", "git/drop", "write")) == "BAD_ARGUMENTS"
    assert repo.refusal(tool("n1", "git/drop", "write", merged="gone")) == "UNKNOWN_COMMIT"


def test_a_branch_is_checked_out_and_what_is_not_committed_stays(repo: Walks) -> None:
    side(repo, "fix/side", "a.txt", "two\n")
    repo.write("sub/b.txt", "not committed\n")
    found = repo.ask(tool("n1", "git/switch", "write", name="side"))
    assert (found["branch"], found["from"], found["files"]) == ("fix/side", "main", ["a.txt"])
    assert (repo.workspace / "a.txt").read_text() == "two\n"
    assert short(repo) == [" M sub/b.txt"]
    repo.write("a.txt", "not committed\n")
    for name, why in (("main", "UNCOMMITTED"), ("gone", "UNKNOWN_BRANCH")):
        assert repo.refusal(tool("n1", "git/switch", "write", name=name)) == why
    assert (repo.workspace / "a.txt").read_text() == "not committed\n"
    assert repo.git("branch", "--show-current").strip() == "fix/side"


def test_a_switch_that_would_write_a_secret_or_an_untracked_file_changes_nothing(repo: Walks) -> None:
    side(repo, "secret", ".env", "TOKEN=1\n")
    side(repo, "other", "new.txt", "new\n")
    assert repo.refusal(tool("n1", "git/switch", "write", name="secret")) == "PROTECTED_PATH"
    repo.write("new.txt", "mine\n")
    assert repo.refusal(tool("n1", "git/switch", "write", name="other")) == "UNCOMMITTED"
    assert (repo.workspace / "new.txt").read_text() == "mine\n"


def test_a_branch_is_merged_forward_or_with_a_commit(repo: Walks) -> None:
    side(repo)
    found = repo.ask(tool("n1", "git/merge", "write", name="side"))
    assert (found["how"], head(repo), found["files"]) == ("forward", head(repo, "side"), ["side.txt"])
    side(repo, "other", "other.txt")
    repo.write("a.txt", "mine\n")
    repo.git("commit", "-q", "--no-gpg-sign", "-am", "Mine")
    found = repo.ask(tool("n1", "git/merge", "write", name="other"))
    assert found["how"] == "merged"
    assert repo.git("log", "-1", "--format=%an %s").strip() == "Ada Merge branch 'other' into main"
    assert (repo.workspace / "other.txt").exists()
    assert repo.ask(tool("n1", "git/merge", "write", name="other"))["how"] == "already"


def test_a_merge_that_is_not_clean_changes_nothing(repo: Walks) -> None:
    side(repo, "clash", "a.txt", "theirs\n")
    repo.write(".gitattributes", "a.txt merge=mine\n")
    repo.git("config", "merge.mine.driver", f"touch {repo.workspace}/ran")
    repo.write("a.txt", "mine\n")
    repo.git("add", ".")
    repo.git("commit", "-q", "--no-gpg-sign", "-m", "Mine")
    before = (head(repo), short(repo))
    merge = tool("n1", "git/merge", "write", name="clash")
    outcome = repo.go(merge)
    assert code(outcome) == "MERGE_CONFLICT"
    assert "a.txt" in outcome.failure.message
    assert (head(repo), short(repo)) == before
    assert not (repo.workspace / ".git/MERGE_HEAD").exists()
    assert not (repo.workspace / "ran").exists()
    repo.git("reset", "-q", "--hard", "HEAD~1")
    repo.write("a.txt", "not committed\n")
    assert repo.refusal(merge) == "UNCOMMITTED"
    assert (repo.workspace / "a.txt").read_text() == "not committed\n"
    repo.git("checkout", "-q", "a.txt")
    side(repo, "leaky", ".env", "TOKEN=1\n")
    assert repo.refusal(tool("n1", "git/merge", "write", name="leaky")) == "PROTECTED_PATH"
    assert repo.refusal(tool("n1", "git/merge", "write", name="nowhere")) == "UNKNOWN_COMMIT"


def test_a_tag_is_made_once_and_goes_with_an_undo(repo: Walks) -> None:
    outcome = repo.go(tool("n1", "git/tag", "write", name="v1.0", message="The first"))
    assert repo.git("for-each-ref", "refs/tags", "--format=%(refname:short) %(contents:subject)").strip() == (
        "v1.0 The first"
    )
    assert repo.refusal(tool("n1", "git/tag", "write", name="v1.0")) == "TAG_EXISTS"
    undo(repo.home, outcome.intent_id)
    assert repo.git("tag").strip() == ""


def test_commits_are_told_of_a_time_and_of_an_author(repo: Walks) -> None:
    for day, who in (("2026-03-02", "Bo"), ("2026-03-05", "Ada"), ("2026-03-09", "Ada")):
        date, mail = f"{day}T12:00:00+01:00", f"{who.lower()}@example.org"
        repo.git(
            "-c", f"user.name={who}", "-c", f"user.email={mail}", "-c", "commit.gpgSign=false",
            "commit", "-q", "--allow-empty", f"--date={date}", "-m", day,
        )  # fmt: skip
        repo.git(
            "-c", f"user.name={who}", "-c", f"user.email={mail}", "-c", "commit.gpgSign=false",
            "rebase", "-q", "--committer-date-is-author-date", "HEAD~1",
        )  # fmt: skip

    def subjects(**args: str) -> list[str]:
        return [one["subject"] for one in repo.ask(tool("n1", "git/log", **args))["commits"]]

    assert subjects(since="2026-03-05", until="2026-03-09") == ["2026-03-09", "2026-03-05"]
    assert subjects(until="2026-03-04") == ["2026-03-02"]
    assert subjects(author="bo") == ["2026-03-02"]
    assert subjects(mine="true", until="2026-03-08") == ["2026-03-05"]
    assert subjects(author=".*") == []
    assert repo.refusal(tool("n1", "git/log", since="2026-03-05T10:00")) == "BAD_TIME"
    assert repo.refusal(tool("n1", "git/log", mine="true", author="bo")) == "BAD_ARGUMENTS"


# ---- Pushes, to a real server of git on this machine.


@pytest.fixture
def host(tmp_path: Path) -> Iterator[GitHost]:
    (tmp_path / "host").mkdir()
    with git_host(tmp_path / "host") as found:
        yield found


def push(walks: Walks, host: GitHost, url: str, people: Any = None, **args: str) -> Any:
    granted(walks, host.origin)
    node = tool("n1", "git/push", "network", url=url, **args)
    return walks.run(
        walks.accept(node, verb="deliver"),
        people=people or Says("approve"),
        environment={"TOK": "s3cret-t0ken"},
    )


def test_a_push_sends_the_branch_once_a_person_agrees_and_knows_nothing_of_the_repositorys_settings(
    repo: Walks, host: GitHost
) -> None:
    url = host.make("site.git")
    repo.git("remote", "add", "origin", url)
    repo.git("config", "http.proxy", "http://127.0.0.1:9")
    repo.git("config", "url.http://127.0.0.1:9/.pushInsteadOf", host.origin)
    repo.git("config", "credential.helper", f"!touch {repo.workspace}/ran")
    hook = repo.workspace / ".git/hooks/pre-push"
    hook.write_text(f"#!/bin/sh\ntouch {repo.workspace}/ran\n")
    hook.chmod(0o755)
    people = Says("deny", "approve", "approve")
    assert code(push(repo, host, url, people)) == "GATE_DENIED"
    assert host.headers == []
    outcome = push(repo, host, url, people, remote="origin")
    assert outcome.failure is None, outcome.failure
    assert host.git("site.git", "rev-parse", "main") == head(repo) == head(repo, "origin/main")
    assert push(repo, host, url, people).outputs["n1"]["pushed"] is False
    assert not (repo.workspace / "ran").exists()


def test_a_push_names_its_credential_and_leaves_it_nowhere(
    repo: Walks, host: GitHost, tmp_path: Path
) -> None:
    url = host.make("site.git")
    host.wants = "Basic " + base64.b64encode(b"git:s3cret-t0ken").decode()
    assert code(push(repo, host, url)) == "CREDENTIAL_NEEDED"
    outcome = push(repo, host, url, token="$env:TOK")
    assert outcome.failure is None, outcome.failure
    assert host.git("site.git", "rev-parse", "main") == head(repo)
    for row in repo.home.journal.rows():
        assert b"s3cret-t0ken" not in row.wire
        assert host.wants.removeprefix("Basic ").encode() not in row.wire
    assert code(push(repo, host, url, token="s3cret-t0ken")) in ("INVALID_ARGS", "SECRET_INLINE")


def test_a_push_is_never_forced_and_goes_to_granted_hosts_alone(repo: Walks, host: GitHost) -> None:
    url = host.make("site.git")
    assert push(repo, host, url).failure is None
    repo.git("commit", "-q", "--no-gpg-sign", "--amend", "-m", "Another beginning")
    assert code(push(repo, host, url)) == "PUSH_REJECTED"
    assert code(push(repo, host, f"{host.origin}/nowhere.git")) == "PUSH_FAILED"
    assert code(push(repo, host, url, branch="nowhere")) == "UNKNOWN_COMMIT"
    for bad in (
        "file:///tmp/x.git",
        "ext::sh -c touch",
        "git@example.org:a/b.git",
        "https://u:p@example.org/",
    ):
        assert code(push(repo, host, bad)) in ("HOST_DENIED", "SECRET_INLINE")


def test_where_a_push_would_go_is_told_also_of_an_address_of_ssh(repo: Walks) -> None:
    assert repo.refusal(tool("n1", "git/remote")) == "NO_REMOTE"
    repo.git("remote", "add", "origin", "git@example.org:team/site.git")
    repo.git("remote", "add", "disk", "/srv/site.git")
    found = repo.ask(tool("n1", "git/remote"))
    assert (found["name"], found["url"], found["branch"]) == (
        "origin",
        "https://example.org/team/site.git",
        "main",
    )
    disk = repo.ask(tool("n1", "git/remote", name="disk"))
    assert (disk["url"], disk["path"]) == ("", "/srv/site.git")
    repo.git("remote", "add", "odd", "ext::sh -c touch")
    assert repo.refusal(tool("n1", "git/remote", name="odd")) == "REMOTE_NOT_REACHED"
    assert repo.refusal(tool("n1", "git/remote", name="none")) == "UNKNOWN_REMOTE"


# ---- Pushes to a repository on the same disk.


def deliver(walks: Walks, path: Path | str, people: Any = None, **args: str) -> Any:
    node = tool("n1", "git/deliver", "write", path=str(path), **{"remote": "origin", **args})
    return walks.run(walks.accept(node, verb="deliver"), people=people or Says("approve"))


@pytest.fixture
def disk(repo: Walks) -> Iterator[Path]:
    """A bare repository; not in /dev, where some machines keep what tests write, and no tool goes."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        place = Path(folder).resolve() / "site.git"
        repo.git("init", "-q", "--bare", str(place))
        repo.git("remote", "add", "origin", str(place))
        shutil.rmtree(place / "hooks", ignore_errors=True)
        yield place


def test_a_push_to_a_folder_is_approved_each_time_and_never_forced(repo: Walks, disk: Path) -> None:
    assert code(deliver(repo, disk, Says("deny"))) == "GATE_DENIED"
    assert repo.git("--git-dir", str(disk), "for-each-ref") == ""
    outcome = deliver(repo, disk)
    assert outcome.failure is None, outcome.failure
    assert (
        repo.git("--git-dir", str(disk), "rev-parse", "main").strip()
        == head(repo)
        == head(repo, "origin/main")
    )
    assert deliver(repo, disk).outputs["n1"]["pushed"] is False
    repo.git("commit", "-q", "--no-gpg-sign", "--amend", "-m", "Another beginning")
    assert code(deliver(repo, disk)) == "PUSH_REJECTED"
    assert code(deliver(repo, disk, branch="nowhere")) == "UNKNOWN_COMMIT"


def test_a_push_to_a_folder_runs_nothing_that_either_repository_names(
    repo: Walks, disk: Path, tmp_path: Path
) -> None:
    ran = tmp_path / "ran"
    hook = repo.workspace / ".git/hooks/pre-push"
    hook.write_text(f"#!/bin/sh\ntouch {ran}\n")
    hook.chmod(0o755)
    (tmp_path / "away").mkdir()
    (tmp_path / "away/post-receive").write_text(f"#!/bin/sh\ntouch {ran}\n")
    (tmp_path / "away/post-receive").chmod(0o755)
    for name, value in (
        ("core.hooksPath", str(tmp_path / "away")),
        ("core.alternateRefsCommand", f"touch {ran} #"),
        ("core.fsmonitor", f"touch {ran} #"),
        ("gc.recentObjectsHook", f"touch {ran} #"),
    ):
        repo.git("--git-dir", str(disk), "config", name, value)
    repo.git("config", "remote.origin.receivepack", f"touch {ran} #")
    outcome = deliver(repo, disk)
    assert outcome.failure is None, outcome.failure
    assert not ran.exists()
    theirs = disk / "hooks/update"
    theirs.parent.mkdir()
    theirs.write_text(f"#!/bin/sh\ntouch {ran}\n")
    assert code(deliver(repo, disk)) == "HAS_HOOKS"


def test_a_push_to_a_folder_goes_to_a_bare_repository_that_is_a_remote(repo: Walks, disk: Path) -> None:
    away = disk.parent
    other = away / "other.git"
    repo.git("init", "-q", "--bare", str(other))
    assert code(deliver(repo, other)) == "NO_SUCH_REMOTE"
    (away / "way").symlink_to(away)
    inside = repo.workspace / "in.git"
    repo.git("init", "-q", "--bare", str(inside))
    repo.git("init", "-q", str(away / "tree"))
    for name, place in (
        ("inside", inside),
        ("none", away / "none.git"),
        ("tree", away / "tree"),
        ("link", away / "way/site.git"),
        ("home", repo.home.path / "in.git"),
    ):
        repo.git("remote", "add", name, str(place))
        assert code(deliver(repo, place, remote=name)) in ("NOT_BARE", "OUT_OF_SCOPE"), name


def test_a_plan_needs_no_credential_for_a_call_that_is_not_made(repo: Walks, disk: Path) -> None:
    push = tool("n1", "git/push", "network", url="${where.output.url}", token="$env:TOK")
    plan = sequence(
        "root",
        tool("where", "git/remote"),
        {**push, "when": {"of": "${where.output.url}", "test": "not_empty"}},
        tool("n2", "git/deliver", "write", path="${where.output.path}", remote="${where.output.name}"),
    )
    granted(repo, "https://example.org")
    outcome = repo.run(repo.accept(plan, verb="deliver"), people=Says("approve"))
    assert outcome.failure is None, outcome.failure
    assert outcome.nodes["n1"] == "skipped"
    assert repo.git("--git-dir", str(disk), "rev-parse", "main").strip() == head(repo)


def test_a_plan_pushes_where_the_remote_leads(repo: Walks, host: GitHost) -> None:
    url = host.make("site.git")
    repo.git("remote", "add", "origin", url)
    granted(repo, host.origin)
    plan = sequence(
        "root",
        tool("where", "git/remote"),
        tool("n1", "git/push", "network", url="${where.output.url}", remote="${where.output.name}"),
    )
    outcome = repo.run(repo.accept(plan, verb="deliver"), people=Says("approve"))
    assert outcome.failure is None, outcome.failure
    assert host.git("site.git", "rev-parse", "main") == head(repo)
