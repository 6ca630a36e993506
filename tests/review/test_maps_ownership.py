"""Who changed which file how often, from the log of real repositories, also of hostile ones."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from orchards import WHO, begun, commit, git, orchard, write

from executor.sandbox.paths import Workspace
from mcl.core.event_loop import at_once
from mcl.plugins.review.maps.ownership import ChangeLog, FileChanges, _commits, head_of, read_log, uncommitted


def _log(folder: Path) -> ChangeLog:
    return at_once(lambda: read_log(Workspace(folder)))


def _owners(log: ChangeLog, *files: str) -> dict[str, tuple[str, int, str]]:
    return {path: (one.author, one.count, one.modified) for path, one in log.of(files).items()}


def test_a_log_tells_author_frequency_and_the_last_change(tmp_path: Path) -> None:
    orchard(tmp_path)

    log = _log(tmp_path)

    assert (log.head, log.history) == (git(tmp_path, "rev-parse", "HEAD"), "whole")
    assert _owners(log, "orchard/tree.py", "orchard/fruit.py") == {
        "orchard/tree.py": ("Ada", 1, "2026-01-05T10:00:00Z"),
        "orchard/fruit.py": (
            "Ada",
            2,
            "2026-02-05T10:00:00Z",
        ),  # of two with one change each the first by name
    }


def test_who_changed_a_file_most_often_is_its_author(tmp_path: Path) -> None:
    orchard(tmp_path)
    write(tmp_path, {"orchard/fruit.py": "x = 1\n"})
    commit(tmp_path, "2026-03-05T10:00:00Z", by="Grace")

    assert _owners(_log(tmp_path), "orchard/fruit.py")["orchard/fruit.py"][:2] == ("Grace", 3)


def test_what_was_done_under_an_older_name_counts(tmp_path: Path) -> None:
    begun(tmp_path, {"a.py": "".join(f"line_{n} = {n}\n" for n in range(20))})
    commit(tmp_path, "2026-01-01T00:00:00Z")
    git(tmp_path, "mv", "a.py", "b.py")
    commit(tmp_path, "2026-01-02T00:00:00Z")
    (tmp_path / "deep").mkdir()
    git(tmp_path, "mv", "b.py", "deep/c.py")
    write(tmp_path, {"deep/c.py": (tmp_path / "deep/c.py").read_text() + "more = 1\n"})
    commit(tmp_path, "2026-01-03T00:00:00Z", by="Grace")

    assert _owners(_log(tmp_path), "deep/c.py") == {"deep/c.py": ("Ada", 3, "2026-01-03T00:00:00Z")}


def test_a_new_file_under_an_old_name_keeps_what_was_done_there(tmp_path: Path) -> None:
    begun(tmp_path, {"a.py": "".join(f"line_{n} = {n}\n" for n in range(20))})
    commit(tmp_path, "2026-01-01T00:00:00Z")
    git(tmp_path, "mv", "a.py", "b.py")
    commit(tmp_path, "2026-01-02T00:00:00Z")
    write(tmp_path, {"a.py": "another = 1\n"})
    commit(tmp_path, "2026-01-03T00:00:00Z")

    found = _owners(_log(tmp_path), "a.py", "b.py")

    assert found["a.py"][1] == 2
    assert found["b.py"][1] == 1


def test_names_that_trade_places_end() -> None:
    log = ChangeLog("", "whole", {"x": FileChanges(1, [1])}, {"x": "y", "y": "x"})

    assert log.of(["z"]) == {}


def test_without_a_repository_nothing_is_known(tmp_path: Path) -> None:
    assert _log(tmp_path) == ChangeLog()
    assert at_once(lambda: head_of(Workspace(tmp_path))) is None
    assert at_once(lambda: uncommitted(Workspace(tmp_path))) == frozenset()


def test_before_the_first_commit_the_history_is_empty(tmp_path: Path) -> None:
    begun(tmp_path, {"a.py": "x = 1\n"})

    assert _log(tmp_path) == ChangeLog(history="empty")
    assert at_once(lambda: uncommitted(Workspace(tmp_path))) == frozenset()


def test_a_clone_without_its_past_says_so(tmp_path: Path) -> None:
    orchard(tmp_path / "whole")
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{tmp_path}/whole", "part")

    log = _log(tmp_path / "part")

    assert log.history == "shallow"
    assert _owners(log, "orchard/tree.py")["orchard/tree.py"][1] == 1


def test_a_clone_without_older_contents_tells_its_log_without_renames(tmp_path: Path) -> None:
    begun(tmp_path / "whole", {"a.py": "".join(f"line_{n} = {n}\n" for n in range(20))})
    commit(tmp_path / "whole", "2026-01-01T00:00:00Z")
    git(tmp_path / "whole", "mv", "a.py", "b.py")
    write(tmp_path / "whole", {"b.py": "".join(f"line_{n} = {n}\n" for n in range(21))})
    commit(tmp_path / "whole", "2026-01-02T00:00:00Z")
    git(tmp_path / "whole", "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--filter=blob:none", f"file://{tmp_path}/whole", "part")

    assert _owners(_log(tmp_path / "whole"), "b.py") == {"b.py": ("Ada", 2, "2026-01-02T00:00:00Z")}
    assert _owners(_log(tmp_path / "part"), "b.py") == {"b.py": ("Ada", 1, "2026-01-02T00:00:00Z")}


def test_a_log_that_is_known_is_read_again_only_where_head_moved(tmp_path: Path) -> None:
    orchard(tmp_path)
    known = _log(tmp_path)

    assert at_once(lambda: read_log(Workspace(tmp_path), known)) is known
    commit(tmp_path, "2026-03-05T10:00:00Z")
    assert at_once(lambda: read_log(Workspace(tmp_path), known)).head != known.head


def test_a_log_that_git_could_not_tell_is_asked_for_again(tmp_path: Path) -> None:
    head = git(orchard(tmp_path), "rev-parse", "HEAD")

    assert at_once(lambda: read_log(Workspace(tmp_path), ChangeLog(head))).history == "whole"
    assert at_once(lambda: read_log(Workspace(tmp_path), ChangeLog(head, "cut"))).history == "cut"
    assert at_once(lambda: read_log(Workspace(tmp_path), ChangeLog(head, "shallow"))).history == "whole"


def test_a_log_that_was_kept_is_the_same(tmp_path: Path) -> None:
    import json

    log = _log(orchard(tmp_path))

    assert ChangeLog.from_json(json.loads(json.dumps(log.to_json()))) == log


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("ada@example.org", "ada"),
        ("Ada <ada@example.org>", "Ada ada"),
        ("Ada\tLovelace", "Ada Lovelace"),
        ("Åsa Öberg", "Åsa Öberg"),
        ("ghp_" + "a" * 36, "[redacted: GitHub token]"),
        ("x" * 500, "x" * 80),
    ],
)
def test_of_an_author_a_name_is_told_and_no_address(tmp_path: Path, name: str, told: str) -> None:
    begun(tmp_path, {"a.py": "x = 1\n"})
    commit(tmp_path, "2026-01-01T00:00:00Z", by=name)

    assert _owners(_log(tmp_path), "a.py")["a.py"][0] == told


def test_names_that_look_like_the_log_itself_are_names(tmp_path: Path) -> None:
    odd = ["a\nb.py", "M", "R100", "0" * 40, "-x", "tab\tname", "å.py", '"quoted".py']
    begun(tmp_path, dict.fromkeys(odd, "x = 1\n"))
    commit(tmp_path, "2026-01-01T00:00:00Z")
    write(tmp_path, {"M": "x = 2\n"})
    commit(tmp_path, "2026-01-02T00:00:00Z")

    found = _owners(_log(tmp_path), *odd)

    assert {path: one[1] for path, one in found.items()} == {**dict.fromkeys(odd, 1), "M": 2}


def test_settings_of_the_repository_change_nothing_and_run_nothing(tmp_path: Path) -> None:
    plain = _log(orchard(tmp_path))
    ran = tmp_path / "ran"
    for name, value in (
        ("log.showRoot", "false"),
        ("log.showSignature", "true"),
        ("log.follow", "true"),
        ("log.diffMerges", "on"),
        ("diff.orderFile", "no-such-file"),
        ("diff.renames", "false"),
        ("diff.relative", "true"),
        ("diff.external", f"touch {ran}"),
        ("core.fsmonitor", f"touch {ran}"),
        ("core.quotePath", "true"),
        ("i18n.logOutputEncoding", "latin1"),
        ("mailmap.file", "/etc/passwd"),
        ("gpg.program", f"touch {ran}"),
        ("format.pretty", "%H"),
    ):
        git(tmp_path, "config", name, value)
    write(tmp_path, {".gitattributes": "* diff=own\n"})
    git(tmp_path, "config", "diff.own.textconv", f"touch {ran}")

    assert _log(tmp_path) == plain
    assert not ran.exists()


def test_a_change_that_is_not_committed_is_seen(tmp_path: Path) -> None:
    orchard(tmp_path)
    write(tmp_path, {"orchard/tree.py": "x = 1\n", "orchard/new.py": "x = 1\n"})

    assert at_once(lambda: uncommitted(Workspace(tmp_path))) == {"orchard/tree.py"}


@pytest.mark.parametrize("time", ["99999999999999", "-5", "0"])
def test_a_time_that_is_none_is_not_told(tmp_path: Path, time: str) -> None:
    begun(tmp_path, {"a.py": "x = 1\n"})
    git(tmp_path, "add", "-A")
    tree = git(tmp_path, "write-tree")
    raw = f"tree {tree}\nauthor A <a@b> {time} +0000\ncommitter A <a@b> {time} +0000\n\nx\n".encode()
    made = subprocess.run(
        ["git", "hash-object", "-t", "commit", "-w", "--literally", "--stdin"],
        cwd=tmp_path, input=raw, capture_output=True, check=True, env={**os.environ, **WHO},
    )  # fmt: skip
    git(tmp_path, "update-ref", "refs/heads/main", made.stdout.decode().strip())

    assert _owners(_log(tmp_path), "a.py")["a.py"][2] == ""


def test_a_log_that_was_cut_anywhere_gives_whole_commits_only(tmp_path: Path) -> None:
    one = b"\0".join([b"a" * 40, b"5", b"Ada", b"\nM", b"x.py", b"R100", b"y.py", b"z.py"]) + b"\0"
    out = one + one.replace(b"a" * 40, b"b" * 40)
    whole = list(_commits(out))

    assert [touched for *_, touched in whole] == [[("", "x.py"), ("y.py", "z.py")]] * 2
    for end in range(len(out)):
        for _, _, author, touched in _commits(out[:end]):
            assert author == "Ada"
            assert touched in ([], [("", "x.py")], [("", "x.py"), ("y.py", "z.py")])
