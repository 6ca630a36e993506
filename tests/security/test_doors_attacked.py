"""Every other door: direct calls, plans and patches from files, corrections, grants. All have one gate."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from executor import Home
from ir import Header, PlanStepBody, seal
from mcl.cli.main import main
from tests.conftest import make_home

SECRET = "the-secret-outside"


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace beside another folder; the current folder is the workspace."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret.txt").write_text(SECRET)
    (tmp_path / "work").mkdir()
    (tmp_path / "work/a.txt").write_text("before")
    (tmp_path / "work/.env").write_text(SECRET)
    (tmp_path / "work/link").symlink_to(tmp_path / "outside")
    monkeypatch.setenv("MCL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setattr("sys.stdin", Path(os.devnull).open())  # noqa: SIM115 - as long as the test
    return tmp_path


def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    """A command's exit code and all that it wrote."""
    capsys.readouterr()
    code = main(words)
    found = capsys.readouterr()
    assert "Traceback" not in found.err
    return code, found.out + found.err


def unharmed(shell: Path) -> None:
    assert (shell / "work/a.txt").read_text() == "before"
    assert (shell / "work/.env").read_text() == SECRET
    assert (shell / "outside/secret.txt").read_text() == SECRET
    assert [one.name for one in (shell / "outside").iterdir()] == ["secret.txt"]
    assert sorted(one.name for one in (shell / "work").iterdir()) == [".env", "a.txt", "link"]


CALLS: list[tuple[tuple[str, ...], str]] = [
    (("fs/read", "path=../outside/secret.txt"), "OUT_OF_SCOPE"),
    (("fs/read", "path=link/secret.txt"), "OUT_OF_SCOPE"),
    (("fs/read", "path=.env"), "PROTECTED_PATH"),
    (("fs/read", "path=/proc/self/environ"), "OUT_OF_SCOPE"),
    (("fs/read", "path=$env:HOME"), "INVALID_ARGS"),
    (("fs/read", "path=a.txt", "path=.env"), "BAD_ARGUMENT"),
    (("fs/read", "path=a.txt", "unknown=1"), "INVALID_ARGS"),
    (("fs/read", "path=a\0b"), "OUT_OF_SCOPE"),
    (("fs/read", "=a.txt"), ""),
    (("fs/read", "path"), ""),
    (("fs/write", "path=a.txt", "content=owned", "overwrite=true"), "GATE_DENIED"),
    (("fs/write", "path=a.txt", "content=owned"), "EXISTS"),
    (("fs/write", "path=a.txt", "content=owned", f"base={'0' * 64}"), "STALE_FILE"),
    (("fs/write", "path=link/owned", "content=owned"), "OUT_OF_SCOPE"),
    (("fs/delete", "path=a.txt"), "GATE_DENIED"),
    (("fs/delete", "path=link"), "OUT_OF_SCOPE"),
    (("fs/delete", "path=."), "GATE_DENIED"),
    (("fs/edit", "path=.env", "old=the", "new=a"), "PROTECTED_PATH"),
    (("fs/append", "path=.git/config", "content=owned"), "PROTECTED_PATH"),
    (("process/tests",), "CAPABILITY_DENIED"),
    (("http/get", "url=http://127.0.0.1:1/"), "CAPABILITY_DENIED"),
    (("http/request", "url=http://127.0.0.1:1/", "method=POST"), "CAPABILITY_DENIED"),
    (("git/branch", "name=--force"), "INVALID_ARGS"),
    (("git/show", "commit=--output=owned"), "INVALID_ARGS"),
    (("nope/nope",), "TOOL_UNKNOWN"),
    (("fs/read@9.9.9", "path=a.txt"), "TOOL_UNKNOWN"),
    (("fs/read@sha256:" + "0" * 64, "path=a.txt"), "TOOL_UNKNOWN"),
    (("--args", "/dev/zero", "fs/read"), ""),
    (("--args", ".", "fs/read"), ""),
    (("fs/read", "path=${n1.output.text}"), ""),
]


@pytest.mark.parametrize(("words", "code"), CALLS, ids=[" ".join(words) for words, _ in CALLS])
def test_a_direct_call_has_no_way_round_the_gate(
    shell: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], code: str
) -> None:
    ended, text = said(capsys, "tool", "call", *words, "--yes", "--deny-gates", "--json")
    assert ended in (2, 4, 5), text
    assert code in text
    assert SECRET not in text
    unharmed(shell)


def test_a_direct_call_that_nobody_signs_is_not_made(shell: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ended, _ = said(capsys, "tool", "call", "fs/write", "path=new.txt", "content=owned")
    assert ended in (2, 4)
    unharmed(shell)


def plan_of(**call: Any) -> dict[str, Any]:
    planned = {
        "tool_ref": "matrix://tool/fs/write@1.0.0",
        "side_effect_class": "write",
        "args": {"path": "x", "content": "y"},
    }
    root = {"id": "n1", "kind": "tool_call", "tool_call": {**planned, **call}}
    return {"id": "0" * 26, "intent_id": "0" * 26, "skill_ref": "matrix://skill/x@1.0.0", "root": root}


def plan_with(**call: Any) -> bytes:
    return json.dumps(plan_of(**call)).encode()


def wide_plan() -> bytes:
    children = [{"id": "x", "kind": "gate", "gate": {"question": "?"}}] * 10_001
    return json.dumps({**plan_of(), "root": {"id": "r", "kind": "parallel", "children": children}}).encode()


TOKEN = "ghp_" + "a1B2" * 9
PLANS: list[tuple[str, bytes, set[int]]] = [
    ("declares read and writes", plan_with(side_effect_class="read"), {11}),
    ("names no class", plan_with(side_effect_class=""), {11, 12}),
    ("names no version", plan_with(tool_ref="matrix://tool/fs/write"), {11, 12}),
    ("holds a secret", plan_with(args={"path": "x", "content": TOKEN}), {11, 12}),
    ("leads out", plan_with(args={"path": "../x", "content": "y"}), {11}),
    ("refers to itself", plan_with(args={"path": "x", "content": "${n1.output.text}"}), {11, 12}),
    ("is nested without end", b'{"root":' * 10_000, {12}),
    ("has a key twice", b'{"id":"a","id":"b"}', {12}),
    ("has half a character", b'{"id":"\\ud800"}', {12}),
    ("has a number of many digits", b'{"budget":{"max_calls":' + b"9" * 100_000 + b"}}", {12}),
    ("is no text", b"\xff\xfe\x00", {12}),
    ("is empty", b"", {12}),
    ("is a list", b"[]", {12}),
    ("has unknown fields", b'{"id":"a","evil":1}', {12}),
    ("has ten thousand and more nodes", wide_plan(), {11, 12}),
]


@pytest.mark.parametrize(("data", "codes"), [one[1:] for one in PLANS], ids=[one[0] for one in PLANS])
def test_a_hostile_plan_file_is_judged_and_not_run(
    shell: Path, capsys: pytest.CaptureFixture[str], data: bytes, codes: set[int]
) -> None:
    place = shell / "plan.json"
    place.write_bytes(data)
    ended, text = said(capsys, "plan", "check", str(place), "--verb", "build", "--json")
    assert ended in codes, text[:2000]
    unharmed(shell)


VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=10)),
    lambda below: st.one_of(
        st.lists(below, max_size=3), st.dictionaries(st.text(max_size=8), below, max_size=3)
    ),
    max_leaves=6,
)
FIELDS = [
    "id",
    "v",
    "intent_id",
    "created_at",
    "skill_ref",
    "root",
    "budget",
    "hash",
    "kind",
    "children",
    "tool_call",
]


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    changes=st.dictionaries(st.sampled_from([*FIELDS, "args", "x"]), VALUES, max_size=3), below=st.booleans()
)
def test_no_plan_file_is_a_fault_of_ours(
    tmp_path_factory: pytest.TempPathFactory, changes: dict[str, Any], below: bool
) -> None:
    place = tmp_path_factory.getbasetemp() / "fuzzed.json"
    document = plan_of()
    (document["root"] if below else document).update(changes)
    place.write_text(json.dumps(document), errors="surrogatepass")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MCL_HOME", str(tmp_path_factory.getbasetemp() / "fuzz-home"))
        patch.chdir(tmp_path_factory.getbasetemp())
        assert main(["plan", "check", str(place), "--json"]) in (0, 2, 10, 11, 12)
        assert main(["plan", "compare", str(place), str(place), "--json"]) in (0, 2, 10, 12)


# ---- corrections ------------------------------------------------------------------------------------------


def waiting(shell: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """An intent that has begun: its run stopped at a gate, as if it was killed."""
    words = (
        "compile",
        "remember milk",
        "--no-ai",
        "--skill",
        "general",
        "--verb",
        "build",
        "--slot",
        "object=milk",
    )
    assert said(capsys, *words, "--no-ask", "--json")[0] == 0
    assert said(capsys, "accept", "@last", "--yes")[0] == 0
    id = str(json.loads(said(capsys, "show", "@last", "--json")[1])["id"])
    with Home.open(shell / "home") as home:
        plan, agent = home.journal.view(id).plan, home.keyring.agent
        assert plan is not None
        header = Header(home.clock.new_id(), home.clock.now(), agent.did, f"matrix://intent/{id}")
        body = PlanStepBody(plan.id, plan.root.id, "running")
        home.journal.append(seal("plan.step", body, header, agent.signing_key))
    return id


@pytest.mark.parametrize(
    "patches",
    [
        b"",
        b"{}",
        b"[1]",
        b'[{"op":"add"}]',
        b'[{"op":"test","path":"/plan","value":1}]' * 2,
        b'[{"op":"replace","path":"/plan/root/__class__","value":1}]',
        b'[{"op":"replace","path":"/intent/actor","value":"did:key:zEve"}]',
        b'[{"op":"replace","path":"/intent/agent","value":"did:key:zEve"}]',
        b'[{"op":"remove","path":"/intent/frame/verb"}]',
        b'[{"op":"copy","from":"/plan","path":"/plan/root"}]',
        b'[{"op":"move","from":"/plan/root","path":"/plan/root/children/0"}]',
        b'[{"op":"add","path":"/plan/hash","value":"' + b"0" * 64 + b'"}]',
        b"[" * 100_000,
        b"[" + b'{"op":"add","path":"/plan/root/description","value":"x"},' * 50_000 + b"{}]",
    ],
    ids=range(14),
)
def test_a_hostile_correction_changes_nothing(
    shell: Path, capsys: pytest.CaptureFixture[str], patches: bytes
) -> None:
    id = waiting(shell, capsys)
    before = said(capsys, "show", id, "--json")[1]
    (shell / "patches.json").write_bytes(patches)
    ended, text = said(capsys, "correct", id, "--patch", str(shell / "patches.json"), "--yes", "--json")
    assert ended in (2, 4, 12), text[:2000]
    assert "ILLEGAL_EVENT" not in text
    assert said(capsys, "show", id, "--json")[1] == before
    unharmed(shell)


# ---- grants -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        ("network", "--host", "*"),
        ("network", "--host", "*.example.org"),
        ("network", "--host", "https://ada:pw@example.org"),
        ("network", "--host", "example.org/path"),
        ("network", "--host", "http://0x7f.1"),
        ("network", "--host", "exa mple.org"),
        ("network", "--host", "file:///etc"),
        ("network", "--host", ""),
        ("root",),
        ("everything",),
        ("read", "--root", "/"),
        ("read", "--root", "/proc"),
        ("read", "--root", "."),
        ("read", "--max-calls", "-1"),
        ("read", "--agent", "did:key:zNobody"),
        ("read", "--agent", "../../x"),
    ],
    ids=" ".join,
)
def test_a_grant_of_everything_or_of_nothing_plain_is_refused(
    shell: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    if words == ("read", "--root", "."):
        os.chdir("/")
    ended, text = said(capsys, "grant", *words)
    assert ended in (2, 4), text
    assert "network" not in said(capsys, "grant", "list", "--json")[1]


def test_a_root_that_holds_the_home_does_not_open_it(shell: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "init")[0] == 0
    ended, _ = said(capsys, "grant", "add", "read", "--root", str(shell))
    assert ended in (0, 2)
    for path in ("home/keys/user.json", "home/mcl.db"):
        ended, text = said(
            capsys, "tool", "call", "fs/read", f"path={shell}/{path}", "--yes", "--yes-gates", "--json"
        )
        assert ended in (4, 5)
        assert "seed" not in text


def test_an_approval_table_that_was_emptied_does_not_make_a_completed_run_run_again(
    shell: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = (
        "tool",
        "call",
        "fs/write",
        "path=a.txt",
        "content=after",
        "overwrite=true",
        "--yes",
        "--yes-gates",
    )
    assert said(capsys, *words)[0] == 0
    (shell / "work/a.txt").write_text("before")
    with sqlite3.connect(shell / "home/mcl.db") as connection:
        connection.execute("DELETE FROM approvals_used")
    for again in (("run", "@last"), ("run", "@last", "--resume")):
        assert said(capsys, *again, "--yes-gates")[0] == 6
    assert "TABLE_CHANGED" in said(capsys, "log", "verify")[1]
    assert said(capsys, "log", "restore-tables")[0] == 0
    for again, code in ((("run", "@last"), 4), (("run", "@last", "--resume"), 0)):  # it has run to its end
        assert said(capsys, *again, "--yes-gates")[0] == code
    unharmed(shell)


def test_modules_of_the_workspace_are_not_imported(shell: Path) -> None:
    """They would run as we do; `python -m` looks there first, the command `mcl` does not."""
    program = shutil.which("mcl", path=str(Path(sys.executable).parent))
    assert program is not None, "the package must be installed: make test does it"
    for name in (
        "json",
        "typing",
        "sqlite3",
        "anyio",
        "rich",
        "icalendar",
        "regex",
        "idna",
        "jsonschema",
        "mcl",
        "tomllib",
    ):
        (shell / "work" / f"{name}.py").write_text(f"open({str(shell / 'mark')!r}, 'w')\n")
    make_home(shell / "home")
    for words in (("tool", "call", "calendar/list", "path=a.ics", "--yes"), ("plan", "@last")):
        done = subprocess.run(
            [program, *words], capture_output=True, cwd=shell / "work", stdin=subprocess.DEVNULL
        )
        assert done.returncode in (0, 2, 5), done.stderr
    assert not (shell / "mark").exists()
