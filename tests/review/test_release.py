"""The release check: a sound repository passes with 100; each flaw that is planted is told and weighed."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from sound import git, sound, write

from executor.gate.grants import Grants
from executor.gate.locks import Locks, SharedLocks
from executor.store.home import Home
from mcl.cli.main import main
from mcl.core.home import open_home
from mcl.plugins.review.cli.views import release_view
from mcl.plugins.review.drift.rules import MOST, drift_rules
from mcl.plugins.review.finding import ReviewFinding
from mcl.plugins.review.memory.history import ReviewMemories
from mcl.plugins.review.release.report import ReleaseCheck, ReleaseReport, release_rules
from mcl.plugins.review.usecases.memory import review_dismiss
from mcl.plugins.review.usecases.release import check_release
from mcl.plugins.review.usecases.run import review_code

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.usefixtures("unsandboxed")
MARKS = "<<<<<<< HEAD\na = 1\n=======\na = 2\n>>>>>>> other\n"
KEY = "-----BEGIN RSA PRIVATE " + "KEY-----\n" + "MIIEpAIBAAKCAQEA" * 8


# What is planted and committed: path, content (None: taken away; a number: so many bytes), the check, the
# rule, its level and the place that is told.
COMMITTED: dict[str, tuple[str, str | int | None, str, str, str, str]] = {
    "a version": ("VERSION", "1.3.0\n", "versions", "VERSION_DIFFERS", "blocked", "VERSION:1"),
    "a tool": (
        *("docs/TOOL_SAFETY.md", "| `sell` | C |\n"),
        *("tools", "TOOL_UNDOCUMENTED", "blocked", "docs/TOOL_SAFETY.md"),
    ),
    "a page": ("docs/guide.md", None, "drift", "LINK_GONE", "warning", "README.md:16"),
    "syntax": ("shop/a.py", "x = 1\ndef f(:\n", "compile", "DOES_NOT_COMPILE", "blocked", "shop/a.py:2"),
    "an older Python": ("shop/b.py", "print 'a'\n", "compile", "DOES_NOT_COMPILE", "blocked", "shop/b.py:1"),
    "syntax in tests": (
        *("tests/data/bad.py", "print 1\n"),
        *("compile", "DOES_NOT_COMPILE", "warning", "tests/data/bad.py:1"),
    ),
    "a long file": ("shop/long.py", "#" * (3 << 20), "compile", "NOT_COMPILED", "warning", "shop/long.py"),
    "marks": ("shop/both.txt", MARKS, "merges", "MERGE_MARKS", "blocked", "shop/both.txt:1"),
    "marks in a page": (
        *("docs/merging.md", f"```\n{MARKS}```\n"),
        *("merges", "MERGE_MARKS", "warning", "docs/merging.md:2"),
    ),
    "a key": ("shop/server.pem", "x", "tracked", "SECRET_FILE", "blocked", "shop/server.pem"),
    "variables": (".env", "A=1\n", "tracked", "SECRET_FILE", "blocked", ".env"),
    "a key of tests": ("tests/server.key", "x", "tracked", "SECRET_FILE", "warning", "tests/server.key"),
    "settings": (".npmrc", "x", "tracked", "PRIVATE_SETTINGS", "warning", ".npmrc"),
    "a big file": ("film.mp4", (10 << 20) + 1, "tracked", "BIG_FILE", "warning", "film.mp4"),
    "a licence": ("LICENSE", None, "licence", "NO_LICENCE", "warning", "."),
    "danger": (
        *("shop/run.py", "import subprocess\n\n\ndef f(a):\n    subprocess.run(a, shell=True)\n"),
        *("scan", "SCAN_FINDING", "warning", "shop/run.py:5"),
    ),
    "a secret": ("shop/key.yaml", KEY, "scan", "SCAN_SECRET", "blocked", "shop/key.yaml:1"),
}
# What is planted and not committed: path, content, the rule, its level and the place that is told.
LOOSE: dict[str, tuple[str, str | None, str, str, str]] = {
    "a change": ("shop/till.py", "", "UNCOMMITTED", "blocked", "shop/till.py"),
    "a file that is gone": ("Cargo.toml", None, "UNCOMMITTED", "blocked", "Cargo.toml"),
    "a new file": ("new.txt", "x", "UNTRACKED", "warning", "new.txt"),
    "a merge": (".git/MERGE_HEAD", "0" * 40, "UNDER_WAY", "blocked", ".git"),
    "a tag": (".git/refs/tags/v1.4.0", "", "ALREADY_RELEASED", "blocked", "v1.4.0"),
}
# The check, the rule, its level and the place of each.
PLANTED = {kind: one[2:] for kind, one in COMMITTED.items()} | {
    kind: ("clean", *one[2:]) for kind, one in LOOSE.items()
}


def planted(folder: Path, path: str, content: str | int | None) -> None:
    """Put a file there, or take it away."""
    if content is None:
        (folder / path).unlink()
    elif isinstance(content, int):
        with (folder / path).open("wb") as file:
            file.truncate(content)
    else:
        write(folder, path, content)


def commit(folder: Path, *paths: str) -> None:
    """Commit these files, or all."""
    git(folder, "add", "-f", *(paths or "."))
    git(folder, "commit", "-q", "-m", "Change files")


@pytest.fixture(scope="session")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sound repository and a home, to be copied."""
    place = tmp_path_factory.mktemp("ready")
    sound(place / "shop")
    open_home(place / "home", unattended=True).close()
    return place


@pytest.fixture
def shop(ready: Path, tmp_path: Path) -> Path:
    """A sound repository of one's own."""
    shutil.copytree(ready, tmp_path, dirs_exist_ok=True)
    return tmp_path / "shop"


@pytest.fixture
def home(shop: Path) -> Iterator[Home]:
    """A home beside it."""
    with Home.open(shop.parent / "home") as found:
        yield found


@pytest.fixture
def runs(home: Home) -> Home:
    """A home whose agent may run programs."""
    Grants(home).grant(home.keyring.agent.did, ["shell"])
    return home


def check(report: ReleaseReport, id: str) -> ReleaseCheck:
    """One of its checks."""
    return next(one for one in report.checks if one.looked.id == id)


def told(report: ReleaseReport, id: str) -> list[tuple[str, str]]:
    """What a check found, and where."""
    return [(one.code, one.place) for one in check(report, id).flaws]


def test_a_sound_repository_passes_with_100(shop: Path, runs: Home) -> None:
    report = check_release(shop, home=runs)
    flaws = [flaw for one in report.checks for flaw in one.flaws]
    assert (flaws, report.verdict, report.score, report.next) == ([], "pass", 100, ())
    assert [one.looked.id for one in report.checks if one.status != "pass"] == ["reviews"]  # there were none
    assert check(report, "tests").said.startswith("make: passed")
    assert runs.journal.view(report.intent).state == "completed"
    assert git(shop, "status", "--porcelain") == ""


@pytest.fixture(scope="module")
def unsound(ready: Path, tmp_path_factory: pytest.TempPathFactory) -> ReleaseReport:
    """The report of a repository in which all of it is planted."""
    place = tmp_path_factory.mktemp("unsound")
    shutil.copytree(ready, place, dirs_exist_ok=True)
    folder = place / "shop"
    first = git(folder, "rev-parse", "HEAD")
    for path, content, *_ in COMMITTED.values():
        planted(folder, path, content)
    commit(folder)
    for path, text, *_ in LOOSE.values():
        planted(folder, path, text if text != "" or not path.endswith("v1.4.0") else f"{first}\n")
    with Home.open(place / "home") as home:
        return check_release(folder, tests=False, home=home)


@pytest.mark.parametrize("kind", PLANTED)
def test_a_planted_flaw_is_told_by_its_check(kind: str, unsound: ReleaseReport) -> None:
    id, code, level, place = PLANTED[kind]
    found = check(unsound, id)
    assert (code, level, place) in {(one.code, one.level, one.place) for one in found.flaws}
    if level == "blocked":
        assert found.status == unsound.verdict == "blocked"


def test_nothing_else_is_told_of_what_is_planted(unsound: ReleaseReport) -> None:
    flaws = {(one.code, one.place) for part in unsound.checks for one in part.flaws}
    expected = {(code, place) for _, code, _, place in PLANTED.values()}
    assert flaws - expected == {
        ("TESTS_NOT_RUN", "."),
        ("SCAN_PARTIAL", "shop/long.py"),  # it is as long for the scan
        ("NAMED_FILE_GONE", "pyproject.toml"),  # the licence
        ("ENTRY_POINT_GONE", "pyproject.toml"),  # its module was emptied
        ("TOOL_UNDOCUMENTED", "shop/server.py:10"),  # told from the code's side too
    }


def test_a_linked_work_tree_is_checked_where_its_repository_was_named(shop: Path, home: Home) -> None:
    tree = shop.parent / "tree"
    git(shop, "worktree", "add", "-q", "-b", "topic", str(tree))
    report = check_release(tree, tests=False, home=home)
    assert told(report, "clean") == [("GIT_UNREADABLE", ".")]
    assert f"mcl repo add shop {shop}" in check(report, "clean").flaws[0].fix
    home.repositories = lambda: (str(shop),)
    (tree / "new.txt").write_text("new\n")
    report = check_release(tree, tests=False, home=home)
    assert told(report, "clean") == [("UNTRACKED", "new.txt")]


def test_a_repository_that_git_may_not_be_asked_about_is_told(shop: Path, home: Home) -> None:
    (shop / ".git").rename(shop.parent / "git")
    write(shop, ".git", "gitdir: ../git\n")
    report = check_release(shop, tests=False, home=home)
    assert told(report, "clean") == [("GIT_UNREADABLE", ".")]
    assert check(report, "clean").status == "warning"


def test_a_submodule_is_told_as_something_that_nobody_looked_at(shop: Path, home: Home) -> None:
    (shop / "libs").mkdir()
    git(shop, "clone", "-q", ".", "libs/other")
    write(shop, "libs/other/shop/key.yaml", KEY)
    head = git(shop, "rev-parse", "HEAD").strip()
    git(shop, "update-index", "--add", "--cacheinfo", f"160000,{head},libs/other")
    git(shop, "commit", "-q", "-m", "Take in another repository")
    clean = check(check_release(shop, tests=False, home=home), "clean")
    assert [(one.code, one.place, one.level) for one in clean.flaws] == [
        ("SUBMODULE_UNSEEN", "libs/other", "warning")
    ]
    assert "--workspace" in clean.flaws[0].fix


def test_every_rule_is_planted_somewhere() -> None:
    elsewhere = {  # in tests of their own
        *("TESTS_FAIL", "TESTS_BROKEN", "TESTS_NOT_RUN", "NO_TESTS", "GIT_UNREADABLE"),
        *("OPEN_FINDING", "OPEN_WARNING", "SCAN_PARTIAL", "MORE_FLAWS", "NOT_READ", "SUBMODULE_UNSEEN"),
    }
    here = {code for _, code, _, _ in PLANTED.values()} - {one.code for one in drift_rules()}
    assert {one.code for one in release_rules().flaws} - elsewhere == here


def test_every_rule_has_a_reason_and_a_fix_and_belongs_to_a_check() -> None:
    rules = release_rules()
    ids = {one.id for one in rules.checks}
    assert all(one.reason and one.fix and one.about in ids for one in rules.flaws)
    assert sum(one.weight for one in rules.checks) == 100
    assert all(one.reason for one in rules.checks)


def test_where_no_program_may_run_the_tests_are_not_run_and_that_is_kept(shop: Path, home: Home) -> None:
    report = check_release(shop, home=home)
    tests = check(report, "tests")
    assert (tests.status, report.verdict, report.score) == ("not run", "warning", 75)
    assert told(report, "tests") == [("TESTS_NOT_RUN", ".")]
    assert "mcl grant add shell" in tests.flaws[0].fix
    assert home.journal.view(report.intent).state == "cancelled"


@pytest.mark.parametrize(
    ("recipe", "code", "status"),
    [
        ("test:\n\tfalse\n", "TESTS_FAIL", "blocked"),
        ("test: missing\n", "TESTS_FAIL", "blocked"),
        ("test:\n", "NO_TESTS", "warning"),
        ("check:\n", "NO_TESTS", "warning"),
    ],
)
def test_tests_that_fail_block_a_release_and_none_is_a_warning(
    recipe: str, code: str, status: str, shop: Path, runs: Home
) -> None:
    write(shop, "Makefile", recipe)
    for path in ("package.json", "Cargo.toml"):
        (shop / path).unlink()
    report = check_release(shop, home=runs)
    assert (told(report, "tests"), check(report, "tests").status) == ([(code, ".")], status)


def test_tests_that_wait_for_another_run_are_not_run(shop: Path, runs: Home) -> None:
    (runs.path / "policy.toml").write_text("lock_seconds = 1\n")
    other = Locks(SharedLocks(runs.path / "locks", shop.resolve(), "01OTHER"))
    with other.hold([((), "write")]):
        report = check_release(shop, home=runs)
    assert told(report, "tests") == [("TESTS_NOT_RUN", ".")]
    assert "01OTHER" in check(report, "tests").flaws[0].message
    assert report.verdict == "warning"


def test_tests_that_do_not_run_block_a_release(shop: Path, runs: Home) -> None:
    write(shop, ".venv/bin/python", "#!/bin/sh\necho 'INTERNALERROR> broken'\nexit 3\n")
    (shop / ".venv/bin/python").chmod(0o755)
    write(shop, "tests/test_till.py", "")
    write(shop, "pytest.ini", "[pytest]\n")
    report = check_release(shop, home=runs)
    assert (told(report, "tests"), report.verdict) == ([("TESTS_BROKEN", ".")], "blocked")
    assert "INTERNALERROR" in check(report, "tests").flaws[0].message


def test_blocking_findings_of_the_last_review_are_open_until_it_is_reviewed_again(
    shop: Path, home: Home
) -> None:
    history = ReviewMemories(home, shop).history
    found = [
        ReviewFinding("RISK", "shop/till.py", 1, "It sells everything."),
        ReviewFinding("WARNING", "shop/till.py", 2, "It gives nothing back."),
        ReviewFinding("NOTE", "shop/till.py", 2, "It is short."),
    ]
    write(shop, "tests/test_till.py", "")
    before = check_release(shop, tests=False, home=home)
    whole = before.verdict, before.score, before.next
    history.record("shop/till.py", findings=found, mode="security")
    history.record("shop/gone.py", findings=[ReviewFinding("RISK", "shop/gone.py", 1, "Gone.")], mode="risk")
    history.record(
        "tests/test_till.py", findings=[ReviewFinding("RISK", "tests/test_till.py", 1, "So.")], mode="risk"
    )
    report = check_release(shop, tests=False, home=home)
    assert set(told(report, "reviews")) == {
        ("OPEN_FINDING", "shop/till.py:1"),
        ("OPEN_WARNING", "shop/till.py:2"),
        ("OPEN_FINDING", "tests/test_till.py:1"),
    }
    assert {one.level for one in check(report, "reviews").flaws if one.place.startswith("tests")} == {
        "warning"
    }
    assert check(report, "reviews").status == "noted"
    assert (report.verdict, report.score, report.next) == whole
    for path in ("shop/till.py", "tests/test_till.py"):
        history.record(path, findings=[], mode="security")
    assert check(check_release(shop, tests=False, home=home), "reviews").status == "pass"


def test_the_verdict_is_the_same_whoever_looks(shop: Path, home: Home, tmp_path: Path) -> None:
    write(shop, "shop/bad.py", "import subprocess\nsubprocess.run(x, shell=True)\n")
    commit(shop)
    memories = ReviewMemories(home, shop)
    found = ReviewFinding("RISK", "shop/till.py", 1, "It sells everything.")
    memories.history.record("shop/till.py", findings=[found], mode="security")
    review_code("shop/bad.py", ai=False, workspace=shop, home=home)
    assert review_dismiss("shop/bad.py:2", "it is meant", workspace=shop, home=home)
    here = check_release(shop, tests=False, home=home)
    with open_home(tmp_path / "another") as other:
        there = check_release(shop, tests=False, home=other)
    assert (here.verdict, here.score, here.next) == (there.verdict, there.score, there.next)
    assert told(here, "scan") == told(there, "scan") == [("SCAN_FINDING", "shop/bad.py:2")]
    assert "dismissed on this machine" in check(here, "scan").flaws[0].message
    assert check(here, "reviews").status == "noted"
    assert check(there, "reviews").status in ("noted", "does not apply")


def test_since_a_tag_only_what_changed_is_scanned(shop: Path, home: Home) -> None:
    danger = "import subprocess\nsubprocess.run(x, shell=True)\n"
    write(shop, "shop/old.py", danger)
    commit(shop)
    git(shop, "tag", "v1.3.0")
    assert check(check_release(shop, tests=False, home=home), "scan").said == "0 files changed since v1.3.0"
    write(shop, "shop/new.py", danger)
    commit(shop)
    report = check_release(shop, tests=False, home=home)
    assert told(report, "scan") == [("SCAN_FINDING", "shop/new.py:2")]
    assert check(report, "scan").said == "1 flaw in 1 file changed since v1.3.0"


def test_what_a_clone_was_made_without_is_to_be_fetched(shop: Path, home: Home) -> None:
    git(shop, "config", "uploadpack.allowFilter", "true")
    git(shop, "tag", "v1.3.0")
    write(shop, "shop/till.py", "def main() -> None: ...\n")
    commit(shop)
    git(shop, "clone", "-q", "--filter=blob:none", shop.as_uri(), "../part")
    scan = check(check_release(shop.parent / "part", tests=False, home=home), "scan")
    assert [(one.code, one.fix) for one in scan.flaws] == [
        ("SCAN_PARTIAL", "fetch them: git fetch --refetch --no-filter")
    ]


def test_the_tag_of_the_commit_itself_is_no_earlier_release(shop: Path, home: Home) -> None:
    git(shop, "tag", "-a", "-m", "1.4.0", "v1.4.0")
    assert check(check_release(shop, tests=False, home=home), "clean").status == "pass"


def test_a_source_archive_without_git_is_looked_at_too(shop: Path, home: Home) -> None:
    shutil.rmtree(shop / ".git")
    write(shop, "shop/bad.py", "def f(:\n")
    report = check_release(shop, tests=False, home=home)
    assert check(report, "clean").status == "does not apply"
    assert told(report, "compile") == [("DOES_NOT_COMPILE", "shop/bad.py:1")]


@pytest.mark.parametrize(("wanted", "level"), [(">=3.99", "warning"), (">=3.8", "blocked")])
def test_syntax_of_a_newer_python_that_the_project_wants_is_a_warning(
    wanted: str, level: str, shop: Path, home: Home
) -> None:
    text = (shop / "pyproject.toml").read_text()
    write(shop, "pyproject.toml", text.replace("\nreadme", f'\nrequires-python = "{wanted}"\nreadme'))
    write(shop, "shop/new.py", "lazy import till\n")
    flaws = check(check_release(shop, tests=False, home=home), "compile").flaws
    assert [(one.code, one.level) for one in flaws] == [("DOES_NOT_COMPILE", level)]


def test_where_there_is_more_than_may_be_read_that_is_said(
    shop: Path, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcl.plugins.review.drift.tree.MAX_FILES", 5)
    report = check_release(shop, tests=False, home=home)
    assert told(report, "merges") == [("NOT_READ", ".")]
    assert report.verdict != "pass"


def test_an_empty_folder_blocks_nothing(tmp_path: Path, home: Home) -> None:
    (tmp_path / "empty").mkdir()
    report = check_release(tmp_path / "empty", home=home)
    assert report.verdict == "warning"
    assert told(report, "licence") == [("NO_LICENCE", ".")]


def test_a_link_is_not_followed_and_that_is_said(shop: Path, home: Home) -> None:
    (shop / "shop" / "away.py").symlink_to("/etc/hostname")
    report = check_release(shop, tests=False, home=home)
    assert told(report, "compile") == [("NOT_COMPILED", "shop/away.py")]


def test_the_command_tells_the_verdict_in_its_exit_code_and_as_json(
    shop: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MCL_HOME", str(shop.parent / "home"))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.chdir(shop)
    assert main(["release", "check", "--no-tests"]) == 0
    shown = capsys.readouterr().out
    assert "verdict  warning  score 75" in shown
    assert main(["release", "check", "--no-tests", "--strict"]) == 1
    capsys.readouterr()
    (shop / "VERSION").write_text("1.3.0\n")
    assert main(["release", "check", "--no-tests", "--json", "--workspace", str(shop)]) == 1
    document = json.loads(capsys.readouterr().out)
    assert set(document) == {"verdict", "score", "workspace", "version", "intent", "checks", "next"}
    assert (document["verdict"], document["version"]) == ("blocked", "1.4.0")
    assert document["next"][0] == "write the same version in both places (VERSION:1)"


def test_a_hostile_tree_is_bounded(shop: Path, home: Home) -> None:
    for number in range(60):
        write(shop, f"shop/\x1b[31m{number}.py", "def f(:\n")
    os.mkfifo(shop / "README.rst")
    (shop / "loop").symlink_to(".")
    report = check_release(shop, tests=False, home=home)
    assert all(len(one.flaws) <= MOST + len(release_rules().checks) for one in report.checks)
    shown = StringIO()
    for part in release_view(report):
        Console(file=shown, width=110).print(part)
    assert "\\x1b[31m" in shown.getvalue()
    assert "\x1b[31m" not in shown.getvalue()


def shown(page: str) -> tuple[list[tuple[str, str]], str]:
    """The commands of the first transcript on a page with what they print; and the whole page."""
    text = (ROOT / "docs" / page).read_text()
    block = text.split("```console\n")[1].split("```")[0]
    parts = re.split(r"^\$ (.*)\n", block, flags=re.MULTILINE)[1:]
    return list(zip(parts[::2], parts[1::2], strict=True)), text


def test_the_page_shows_what_the_commands_print(
    shop: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MCL_HOME", str(shop.parent / "home"))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.chdir(shop)
    (drift, first), (release, second) = shown("release.md")[0]
    assert (drift, release) == ("mcl review drift", "git checkout -q . && mcl release check")
    (shop / "VERSION").write_text("1.3.0\n")
    (shop / "docs/guide.md").rename(shop / "docs/selling.md")
    assert main(["review", "drift"]) == 1
    assert capsys.readouterr().out == first
    (shop / "docs/selling.md").unlink()
    git(shop, "checkout", "-q", ".")
    assert main(["release", "check"]) == 0
    printed = capsys.readouterr().out.replace(str(shop), "/home/ada/shop")
    assert re.sub(r"at [0-9a-f]{12}", "at 828da28e9d1b", printed) == second


def test_the_page_has_every_rule_and_weight_as_the_data_have_it() -> None:
    text = shown("release.md")[1]
    rules = release_rules()
    rows = [
        line
        for line in text.splitlines()
        if line.startswith("| ") and not line.startswith(("| rule", "| check"))
    ]
    assert rows == [
        *(f"| {one.title} | {one.weight} | {one.reason} |" for one in rules.checks),
        *(
            f"| {one.code} | {one.about} | {one.level} | {one.reason} | {one.fix} |"
            for one in (*drift_rules(), *rules.flaws)
        ),
    ]
