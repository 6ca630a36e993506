"""Folders beside the workspace that MCL_ALLOWED_PATHS opens: to reading alone, and no step further."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from walks import Walks, context_of, tool

from executor import Allow, Ask, Call, Grants, Home, decide
from executor.gate.guards.call import scope
from executor.sandbox.reach import allowed_roots
from executor.tools.manifest import Manifest
from ir.errors import MclError
from mcl.catalog.contracts.contract import resolver_of
from mcl.catalog.tools import registry
from mcl.cli.main import main

SECRET = "the-secret-outside"
MANIFESTS = [one for one in registry().manifests if one.scope.kind == "workspace"]
PATHS = [(one, name) for one in MANIFESTS for name in one.scope.paths]


@pytest.fixture
def reference(tmp_path: Path) -> Path:
    """A folder beside the workspace, with a file, a folder, a secret, and links out of it."""
    found = tmp_path / "reference"
    (found / "below").mkdir(parents=True)
    (found / "a.txt").write_text("to be read")
    (found / ".env").write_text("KEY=1")
    (found / "link.txt").symlink_to(tmp_path / "outside" / "secret.txt")
    (found / "way").symlink_to(tmp_path / "outside")
    os.link(tmp_path / "outside" / "secret.txt", found / "hard.txt")
    return found


def judge(walks: Walks, root: Path) -> Callable[[Manifest, str, str], str]:
    """What the guard of places says of a path, "" where nothing; a folder beside the workspace is allowed."""
    allowed = allowed_roots([str(root)], walks.home.path)
    context = context_of(walks, None, tools=registry(), allowed=allowed)

    def judged(manifest: Manifest, name: str, path: str) -> str:
        refused = scope(Call(manifest.uri, {name: path}, min(manifest.effects), "n1"), context)
        return refused.code if refused else ""

    return judged


def test_no_tool_leaves_the_workspace_and_the_allowed_folder(walks: Walks, reference: Path) -> None:
    (walks.workspace / "out").symlink_to(reference)
    (walks.workspace / "file.txt").symlink_to(reference / "a.txt")
    ways = [
        *("../reference/a.txt", "below/../../reference", "..", "out/a.txt", "out", "file.txt"),
        *(f"{reference}/../outside/secret.txt", f"{reference}/way/secret.txt", f"{reference}/link.txt"),
        *(
            f"{reference}/hard.txt",
            f"{reference}/.env",
            "/",
            "//",
            "/.",
            "/..",
            "/proc/self/root",
            "/dev/zero",
        ),
        *(str(walks.home.path / "mcl.db"), str(walks.workspace), f"{walks.workspace}/../reference/a.txt"),
    ]
    judged = judge(walks, reference)
    for manifest, name in PATHS:
        for path in ways:
            assert judged(manifest, name, path) in ("OUT_OF_SCOPE", "PROTECTED_PATH"), (manifest.uri, path)


def test_only_what_reads_may_name_the_allowed_folder(walks: Walks, reference: Path) -> None:
    judged, may = judge(walks, reference), 0
    for manifest, name in PATHS:
        reads = manifest.scope.paths[name] in ("read", "list")
        expected = "" if reads and resolver_of(manifest) == "workspace+allowed" else "OUT_OF_SCOPE"
        assert judged(manifest, name, f"{reference}/below") == expected, manifest.uri
        may += not expected
    assert 0 < may < len(PATHS)


def test_the_two_policies_are_those_of_the_manifests() -> None:
    policies = {
        one.uri.removeprefix("matrix://tool/").partition("@")[0]: resolver_of(one) for one in MANIFESTS
    }
    for name in (
        "fs/write",
        "fs/append",
        "fs/edit",
        "fs/delete",
        "git/checkout",
        "git/branch",
        "process/lint",
    ):
        assert policies[name] == "workspace"
    for name in ("fs/read", "fs/list", "code/search", "git/diff", "git/log", "data/chart"):
        assert policies[name] == "workspace+allowed"


def test_a_read_below_the_folder_is_allowed_and_beside_it_is_asked_about(
    walks: Walks, reference: Path
) -> None:
    (reference.parent / "reference2").mkdir()
    (reference.parent / "reference2" / "b.txt").write_text("no")
    allowed = allowed_roots([str(reference)], walks.home.path)

    def verdict(path: str, **more: Any) -> object:
        context = context_of(walks, walks.accept(tool("n1", "fs/read", path=path)), **more)
        return decide(Call("matrix://tool/fs/read@1.0.0", {"path": path}, "read", "n1"), context)

    inside, beside = f"{reference}/a.txt", f"{reference.parent}/reference2/b.txt"
    leave = verdict(inside, allowed=allowed)
    assert isinstance(leave, Allow)
    assert leave.roots == {str(reference)}
    assert isinstance(verdict(inside), Ask)
    assert isinstance(verdict(beside, allowed=allowed), Ask)


# --- what may be named ----------------------------------------------------------------------------------


def root_by_link(place: Path) -> str:
    (place / "all").symlink_to("/")
    return str(place / "all")


def root_by_links(place: Path) -> str:
    (place / "one").symlink_to("two")
    (place / "two").symlink_to("/usr/..")
    return str(place / "one")


ROOTS: dict[str, Callable[[Path], str]] = {
    "the root": lambda place: "/",
    "two slashes": lambda place: "//",
    "many slashes": lambda place: "////",
    "a dot": lambda place: "/.",
    "dots": lambda place: "/..",
    "there and back": lambda place: "/usr/..",
    "and a slash": lambda place: "/usr/../",
    "through a folder": lambda place: f"{place}/{'../' * len(place.parts)}",
    "a link": root_by_link,
    "a link to a link": root_by_links,
    "of this process": lambda place: "/proc/self/root",
    "its working folder": lambda place: "/proc/self/cwd/" + "../" * 40,
    "the machine": lambda place: "/proc",
    "devices": lambda place: "/dev",
    "empty": lambda place: "",
    "relative": lambda place: "reference",
    "here": lambda place: ".",
    "above": lambda place: "..",
    "a home's sign": lambda place: "~",
    "missing": lambda place: str(place / "missing"),
    "a file": lambda place: str(place / "outside" / "secret.txt"),
    "secrets": lambda place: str(place / ".ssh"),
    "the home of mcl": lambda place: str(place / "home"),
    "its keys": lambda place: str(place / "home" / "keys"),
    "a NUL": lambda place: "/tmp\0",
    "too long": lambda place: "/" + "a" * 5000,
}


@pytest.mark.parametrize("name", ROOTS.values(), ids=ROOTS)
def test_what_is_no_folder_to_be_read_is_refused(
    walks: Walks, tmp_path: Path, reference: Path, name: Callable[[Path], str]
) -> None:
    (tmp_path / ".ssh").mkdir()
    with pytest.raises(MclError) as refused:
        allowed_roots([str(reference), name(tmp_path)], walks.home.path)
    assert refused.value.code == "BAD_ROOT"


def test_a_link_that_is_made_afterwards_opens_nothing(walks: Walks, reference: Path, tmp_path: Path) -> None:
    allowed = allowed_roots([str(reference / "below")], walks.home.path)
    (reference / "below").rmdir()
    (reference / "below").symlink_to(tmp_path / "outside")
    context = context_of(walks, None, allowed=allowed)
    call = Call("matrix://tool/fs/read@1.0.0", {"path": f"{reference}/below/secret.txt"}, "read", "n1")
    refused = scope(call, context)
    assert refused is not None
    assert refused.code == "OUT_OF_SCOPE"


# --- by the program -------------------------------------------------------------------------------------


@pytest.fixture
def mcl(
    walks: Walks, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str]]:
    """The command line in the workspace, with a list of allowed folders."""
    monkeypatch.chdir(walks.workspace)
    monkeypatch.setenv("MCL_HOME", str(walks.home.path))

    def run(allowed: str, *words: str) -> tuple[int, str]:
        monkeypatch.setenv("MCL_ALLOWED_PATHS", allowed)
        capsys.readouterr()
        code = main(words)
        told = capsys.readouterr()
        return code, told.out + told.err

    return run


def call(name: str, *args: str) -> tuple[str, ...]:
    return ("tool", "call", name, *args, "--yes", "--deny-gates", "--json")


def test_an_allowed_folder_is_read_at_once_and_nothing_else(
    mcl: Callable[..., tuple[int, str]], reference: Path, tmp_path: Path
) -> None:
    allowed = os.pathsep.join([str(reference), str(reference / "below")])
    code, told = mcl(allowed, *call("fs/read", f"path={reference}/a.txt"))
    assert (code, "to be read" in told) == (0, True)
    assert mcl("", *call("fs/read", f"path={reference}/a.txt"))[0] == 4
    for path in (f"{reference}/link.txt", f"{reference}/way/secret.txt", f"{tmp_path}/outside/secret.txt"):
        code, told = mcl(allowed, *call("fs/read", f"path={path}"))
        assert (code, SECRET in told) == (4, False), path


def test_nothing_is_written_there(
    mcl: Callable[..., tuple[int, str]], reference: Path, tmp_path: Path
) -> None:
    subprocess.run(["git", "init", "-q", "-b", "main", str(reference)], check=True)
    before = sorted((str(path), path.lstat().st_mtime_ns) for path in reference.rglob("*"))
    for words in (
        call("fs/write", f"path={reference}/new.txt", "content=owned"),
        call("fs/append", f"path={reference}/a.txt", "content=owned"),
        call("fs/delete", f"path={reference}/a.txt"),
        call("git/checkout", f"repo={reference}", "name=owned"),
        call("git/branch", f"repo={reference}", "name=owned"),
    ):
        assert mcl(str(reference), *words)[0] == 4, words
    assert sorted((str(path), path.lstat().st_mtime_ns) for path in reference.rglob("*")) == before


def test_a_granted_folder_opens_no_repository_to_writing(walks: Walks, reference: Path) -> None:
    subprocess.run(["git", "init", "-q", "-b", "main", str(reference)], check=True)
    Grants(walks.home).grant_roots(walks.home.keyring.agent.did, [reference])
    context = context_of(walks, None)
    for name in ("git/checkout", "git/branch"):
        asked = Call(f"matrix://tool/{name}@1.0.0", {"repo": str(reference), "name": "owned"}, "write", "n1")
        refused = scope(asked, context)
        assert refused is not None
        assert refused.code == "OUT_OF_SCOPE"


@pytest.mark.parametrize("allowed", ["/", "relative", "{}:", ":{}", "{}::{}", "/missing-folder"])
def test_a_wrong_entry_is_told_and_nothing_is_called(
    mcl: Callable[..., tuple[int, str]], reference: Path, allowed: str
) -> None:
    code, told = mcl(allowed.replace("{}", str(reference)), *call("fs/read", f"path={reference}/a.txt"))
    assert code not in (0, 70)
    assert '"code": "BAD_ROOT"' in told
    assert "to be read" not in told


def test_a_command_that_calls_nothing_does_not_mind(mcl: Callable[..., tuple[int, str]]) -> None:
    assert mcl("/", "log", "--json")[0] == 0


def test_a_home_that_is_opened_by_the_library_allows_nothing_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MCL_ALLOWED_PATHS", str(tmp_path))
    with Home.open(tmp_path / "home") as home:
        assert home.allowed == ()
