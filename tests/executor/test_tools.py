"""The built-in tools, through a walk."""

from __future__ import annotations

import subprocess
import sys
import time
from importlib import import_module
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from walks import NODE, Walks, tool

import executor.tools
from executor import Home, ManifestError, Registry, load_manifest
from executor.core.globs import anywhere
from executor.tools.manifest import safety_class
from executor.tools.registry import BUILTIN, tools_in
from mcl.catalog.tools.registry import shipped_tools

TOOLS = Path(executor.tools.__file__).parent


@pytest.fixture
def walks(home: Home, tmp_path: Path) -> Walks:
    (tmp_path / "work").mkdir()
    return Walks(home, tmp_path / "work")


def ask(walks: Walks, node: NODE) -> dict[str, Any]:
    outcome = walks.go(node)
    assert outcome.failure is None, outcome.failure
    found = outcome.outputs["n1"]
    assert isinstance(found, dict)
    return found


def refusal(walks: Walks, node: NODE) -> str:
    outcome = walks.go(node)
    assert outcome.failure is not None
    return outcome.failure.code


def test_every_manifest_is_complete_and_its_schemas_are_schemas() -> None:
    for tool_ in shipped_tools():
        manifest = tool_.manifest
        Draft202012Validator.check_schema(manifest.args)
        Draft202012Validator.check_schema(manifest.output)
        assert manifest.safety == safety_class(manifest)
        for schema in manifest.properties.values():
            if "default" in schema:
                Draft202012Validator(schema).validate(schema["default"])
        assert len(manifest.pin) == 64
    there = sorted(
        place.relative_to(TOOLS).with_suffix("").as_posix()
        for place in TOOLS.glob("*/*.toml")
        if "\nuri = " in f"\n{place.read_text()}"
    )
    known = [one.uri.removeprefix("matrix://tool/") for one in Registry.builtin().manifests]
    assert known == [f"{name}@1.0.0" for name in there]
    assert {"fs/write@1.0.0", "http/get@1.0.0", "time/now@1.0.0"} <= set(known)


def test_every_tool_has_a_module_that_runs_and_none_is_loaded_before_its_first_call() -> None:
    for uri in (one.manifest.uri for one in tools_in(*BUILTIN)):
        name = uri.removeprefix("matrix://tool/").partition("@")[0].replace("/", ".")
        assert iscoroutinefunction(import_module(f"executor.tools.{name}").run)
    look = "import sys, executor as e; e.Registry.builtin(); print('executor.tools.fs' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ('safety = "B"', "safety"),
        ("surprise = 1", "surprise"),
        ('effects = ["read", "everything"]', "effects"),
        ('operation = "write"\nsafety = "C"', "operation needs another effect"),
        ('scope = { kind = "workspace", paths = { nowhere = "read" } }', "nowhere"),
        ('uri = "matrix://tool/fs/read@latest"', "uri"),
        ("timeout_ms = 0", "timeout_ms"),
    ],
)
def test_a_manifest_that_contradicts_itself_is_refused_with_file_and_field(
    tmp_path: Path, change: str, said: str
) -> None:
    keys = tuple(line.partition("=")[0] for line in change.splitlines())
    lines = [line for line in (TOOLS / "fs/read.toml").read_text().splitlines() if not line.startswith(keys)]
    place = tmp_path / "bad.toml"
    place.write_text("\n".join([change, *lines]))
    with pytest.raises(ManifestError) as caught:
        load_manifest(place)
    assert caught.value.code == "BAD_MANIFEST"
    assert caught.value.place == str(place)
    assert said in caught.value.message


def test_a_path_that_may_be_left_out_has_a_default_that_the_gate_sees(tmp_path: Path) -> None:
    place = tmp_path / "read.toml"
    text = (TOOLS / "fs/read.toml").read_text().replace('required = ["path"]', "required = []")
    place.write_text(text)
    with pytest.raises(ManifestError, match="default: path"):
        load_manifest(place)
    place.write_text(text.replace('path = { type = "string",', 'path = { type = "string", default = "a.md",'))
    assert load_manifest(place).complete({"max_bytes": 1}) == {"path": "a.md", "max_bytes": 1}
    assert load_manifest(place).complete({"path": "b.md"}) == {"path": "b.md"}


def test_the_pin_of_a_manifest_depends_on_its_meaning_and_not_on_its_layout(tmp_path: Path) -> None:
    text = (TOOLS / "time/now.toml").read_text()
    place = tmp_path / "now.toml"
    place.write_text(text)
    pin = load_manifest(place).pin
    place.write_text("# a comment\n" + text.replace(" = ", "  =  "))
    assert load_manifest(place).pin == pin
    place.write_text(text.replace("timeout_ms = 1000", "timeout_ms = 1001"))
    assert load_manifest(place).pin != pin


def test_fs_read_gives_text_size_and_hash_and_cuts_at_a_character(walks: Walks) -> None:
    walks.write("a.txt", "grüße")
    whole = ask(walks, tool("n1", "fs/read", path="a.txt"))
    assert (whole["text"], whole["size"], whole["truncated"]) == ("grüße", 7, False)
    part = ask(walks, tool("n1", "fs/read", path="a.txt", max_bytes="3"))
    assert (part["text"], part["truncated"], part["sha256"]) == ("gr", True, whole["sha256"])


@pytest.mark.parametrize("data", [b"\xff\xfe\x00", b"text\0more", b"\xc3"])
def test_fs_read_refuses_what_is_no_text(walks: Walks, data: bytes) -> None:
    (walks.workspace / "b").write_bytes(data)
    assert refusal(walks, tool("n1", "fs/read", path="b")) == "NOT_TEXT"


def test_fs_read_of_an_endless_file_ends_with_its_time(walks: Walks) -> None:
    with walks.write("huge.txt", "a" * 10).open("r+b") as file:
        file.truncate(1 << 40)  # nothing reads that in a minute
    started = time.monotonic()
    assert refusal(walks, tool("n1", "fs/read", path="huge.txt", max_bytes="10", timeout_ms=200)) == "TIMEOUT"
    assert time.monotonic() - started < 60


def test_fs_write_keeps_the_mode_of_the_file_that_it_replaces(walks: Walks) -> None:
    place = walks.write("run.sh", "old")
    place.chmod(0o777)
    ask(walks, tool("n1", "fs/write", "write", path="run.sh", content="new", overwrite="true"))
    assert (place.read_text(), place.stat().st_mode & 0o777) == ("new", 0o777)


def test_fs_list_is_sorted_fits_globs_and_leaves_secrets_out(walks: Walks) -> None:
    for path in ("src/b.py", "src/a.py", "src/deep/c.py", "z.txt", ".env", ".git/config", "id_rsa"):
        walks.write(path, "x")
    flat = ask(walks, tool("n1", "fs/list"))
    assert flat["text"] == "src/\nz.txt"
    deep = ask(walks, tool("n1", "fs/list", glob="**/*.py"))
    assert [one["path"] for one in deep["entries"]] == ["src/a.py", "src/b.py", "src/deep/c.py"]
    below = ask(walks, tool("n1", "fs/list", path="src", glob="*.py", recursive="true"))
    assert below["count"] == 3
    some = ask(walks, tool("n1", "fs/list", recursive="true", limit="2"))
    assert (some["count"], some["truncated"]) == (2, True)


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("*.py", "a/b.py", True),
        ("a/*.py", "a/b.py", True),
        ("a/*.py", "a/b/c.py", False),
        ("a/**/c.py", "a/c.py", True),
        ("a/**/c.py", "a/b/b/c.py", True),
        ("**", "a/b", True),
        ("**/b/**", "a/b", False),
        ("**/b/**", "a/b/c", True),
        ("*.{py,js}", "a/b.js", True),
        ("[ab].txt", "c.txt", False),
        ("", "anything", True),
    ],
)
def test_a_glob_means_what_it_means_in_a_scope_and_a_name_alone_is_sought_anywhere(
    pattern: str, path: str, fits: bool
) -> None:
    assert anywhere(pattern).fits(tuple(path.split("/"))) is fits


def test_a_glob_made_to_take_long_does_not() -> None:
    assert not anywhere("/".join(["**", "a*a*a*a*b"] * 31)).fits(("a" * 60,) * 60)


def test_fs_search_gives_path_line_and_text_in_order(walks: Walks) -> None:
    walks.write("b.txt", "one\nTwo invoice\n")
    walks.write("a.txt", "invoice 1\r\nnone\ninvoices\n")
    (walks.workspace / "bin").write_bytes(b"\0invoice")
    found = ask(walks, tool("n1", "fs/search", query="invoice"))
    assert found["text"] == "a.txt:1: invoice 1\na.txt:3: invoices\nb.txt:2: Two invoice"
    assert (found["count"], found["files"], found["searched"], found["skipped"]) == (3, 2, 2, 1)
    word = ask(walks, tool("n1", "fs/search", query="INVOICE", ignore_case="true", word="true"))
    assert word["count"] == 2
    one = ask(walks, tool("n1", "fs/search", query="invoice", path="b.txt"))
    assert one["matches"] == [{"path": "b.txt", "line": 2, "text": "Two invoice"}]
    some = ask(walks, tool("n1", "fs/search", query="invoice", limit="1", glob="a*"))
    assert (some["count"], some["truncated"]) == (1, True)


def test_fs_search_takes_its_query_literally(walks: Walks) -> None:
    walks.write("a.txt", "a.*b\naxxb\n$(id)\n-rf\n")
    for query, line in [("a.*b", 1), ("$(id)", 3), ("-rf", 4)]:
        assert ask(walks, tool("n1", "fs/search", query=query))["matches"][0]["line"] == line


def test_fs_search_shows_a_window_of_a_long_line_and_stays_within_its_limit(walks: Walks) -> None:
    walks.write("long.txt", "x" * 5000 + "needle" + "y" * 5000)
    found = ask(walks, tool("n1", "fs/search", query="needle"))
    shown = found["matches"][0]["text"]
    assert "needle" in shown
    assert len(shown) <= 402
    assert shown.startswith("…")
    assert shown.endswith("…")
    walks.write("many.txt", ("needle " + "z" * 390 + "\n") * 3000)
    many = ask(walks, tool("n1", "fs/search", query="needle", limit="2000"))
    assert many["truncated"]
    assert 0 < many["count"] < 2000


def test_fs_write_makes_folders_and_gives_the_hash(walks: Walks) -> None:
    made = ask(walks, tool("n1", "fs/write", "write", path="x/y.txt", content="data"))
    assert (made["size"], made["created"]) == (4, True)
    again = ask(walks, tool("n1", "fs/write", "write", path="x/y.txt", content="data"))
    assert (again["sha256"], again["created"]) == (made["sha256"], False)
    assert refusal(walks, tool("n1", "fs/write", "write", path="x/y.txt", content="other")) == "EXISTS"
    known = made["sha256"]
    ask(walks, tool("n1", "fs/write", "write", path="x/y.txt", content="other", base=known))
    assert (walks.workspace / "x/y.txt").read_text() == "other"


@pytest.fixture
def repo(walks: Walks) -> Walks:
    walks.git("init", "-q", "-b", "main")
    walks.write("a.txt", "one")
    walks.git("add", "a.txt")
    walks.git("commit", "-q", "-m", "Add a")
    return walks


def test_git_status_tells_changes_and_branch(repo: Walks) -> None:
    clean = ask(repo, tool("n1", "git/status"))
    assert (clean["branch"], clean["clean"], clean["text"]) == (
        "main",
        True,
        "On branch main\nnothing changed",
    )
    repo.write("a.txt", "two")
    repo.write("new file.txt", "x")
    repo.write("b.txt", "b")
    repo.git("add", "b.txt")
    repo.git("mv", "-f", "b.txt", "c.txt")
    found = ask(repo, tool("n1", "git/status"))
    assert [(one["code"], one["path"]) for one in found["changes"]] == [
        (" M", "a.txt"),
        ("A ", "c.txt"),
        ("??", "new file.txt"),
    ]
    assert not found["clean"]


def test_git_log_is_newest_first_and_may_ask_for_one_path(repo: Walks) -> None:
    repo.write("b.txt", "b")
    repo.git("add", "b.txt")
    repo.git("commit", "-q", "-m", "Add b \x1b[31mred")
    found = ask(repo, tool("n1", "git/log"))
    assert [one["subject"] for one in found["commits"]] == ["Add b \\x1b[31mred", "Add a"]
    assert found["commits"][0]["author"] == "Ada"
    assert len(found["commits"][0]["commit"]) == 40
    assert ask(repo, tool("n1", "git/log", count="1"))["count"] == 1
    assert ask(repo, tool("n1", "git/log", path="a.txt"))["count"] == 1
    assert ask(repo, tool("n1", "git/log", path="*.txt"))["count"] == 0


def test_git_branch_lists_and_makes(repo: Walks) -> None:
    assert ask(repo, tool("n1", "git/branch"))["text"] == "* main"
    made = ask(repo, tool("n1", "git/branch", "write", name="feature/search"))
    assert (made["created"], made["count"], made["current"]) == ("feature/search", 2, "main")
    assert refusal(repo, tool("n1", "git/branch", "write", name="feature/search")) == "GIT_FAILED"
    assert repo.git("branch", "--format=%(refname:short)").split() == ["feature/search", "main"]


@pytest.mark.parametrize("name", ["a..b", "a.lock", "x/", "a//b", "HEAD"])
def test_git_branch_refuses_names_that_git_refuses(repo: Walks, name: str) -> None:
    assert refusal(repo, tool("n1", "git/branch", "write", name=name)) in ("BAD_BRANCH_NAME", "GIT_FAILED")


@pytest.mark.parametrize("name", ["-d", "--force", "/a", ".a", "a b", "a;b", "a\nb", "ä", "@{-1}", "x" * 121])
def test_git_branch_refuses_names_outside_the_allow_list(repo: Walks, name: str) -> None:
    assert refusal(repo, tool("n1", "git/branch", "write", name=name)) == "INVALID_ARGS"


def test_git_in_an_empty_repository_has_no_commits(walks: Walks) -> None:
    walks.git("init", "-q", "-b", "main")
    assert ask(walks, tool("n1", "git/log"))["commits"] == []
    status = ask(walks, tool("n1", "git/status"))
    assert (status["branch"], status["commit"]) == ("main", "")
    assert ask(walks, tool("n1", "git/branch"))["branches"] == []


def test_git_outside_a_repository_says_so_and_never_looks_above_the_workspace(walks: Walks) -> None:
    subprocess.run(["git", "init", "-q", str(walks.workspace.parent)], check=True)
    for name in ("git/status", "git/log", "git/branch"):
        assert refusal(walks, tool("n1", name)) == "NOT_A_REPOSITORY"


def test_git_works_in_a_folder_of_the_workspace(walks: Walks) -> None:
    (walks.workspace / "sub").mkdir()
    subprocess.run(["git", "init", "-q", "-b", "trunk", str(walks.workspace / "sub")], check=True)
    assert ask(walks, tool("n1", "git/status", repo="sub"))["branch"] == "trunk"


def test_a_missing_git_is_named(walks: Walks, monkeypatch: pytest.MonkeyPatch) -> None:
    walks.git("init", "-q")
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("executor.sandbox.environment._SYSTEM", ())  # a machine without git
    assert refusal(walks, tool("n1", "git/status")) == "COMMAND_NOT_FOUND"
