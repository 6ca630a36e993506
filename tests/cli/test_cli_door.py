"""The door: a person's commands are done by a person at a terminal, or in a home that says it has none."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import typer.main

from executor.core.tables import table_beside
from executor.store.home import UNATTENDED, Home
from ir import MclError
from mcl.cli.app import app_for
from mcl.usecases.authority import door
from mcl.usecases.authority.commands import command_in, commands
from mcl.usecases.authority.door import TURNED_AWAY, Process, agent_host

HOSTS = table_beside(door.__file__, "hosts")

ROOT = Path(__file__).resolve().parents[2]
MCL = [sys.executable, "-m", "mcl"]


def leaves(command: Any = None, path: tuple[str, ...] = ()) -> list[str]:
    """Each command by its whole path."""
    command = command or typer.main.get_command(app_for())
    below = getattr(command, "commands", None)
    if below is None:
        return [" ".join(path)]
    return [one for name, sub in below.items() for one in leaves(sub, (*path, name))]


def clean(home: Path, **more: str) -> dict[str, str]:
    """Variables in which no host of agents has left a mark."""
    marks = {one.partition("=")[0] for row in HOSTS.values() for one in row.get("variables", ())}
    kept = {name: text for name, text in os.environ.items() if name not in marks}
    return {**kept, "MCL_HOME": str(home), "PYTHONPATH": str(ROOT), "NO_COLOR": "1", **more}


def piped(home: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    """A command as a program gives it: no terminal anywhere."""
    return subprocess.run(
        [*MCL, *words],
        env=clean(home, **more),
        cwd=home.parent,
        input="y\ny\n",
        capture_output=True,
        text=True,
        timeout=60,
        start_new_session=True,
    )


def at_terminal(
    words: list[str], environment: Mapping[str, str], cwd: Path, typed: str = "", after: str = ""
) -> tuple[int, str]:
    """A command line at a terminal of its own; `typed` is typed once it has said `after`."""
    pid, device = pty.fork()
    if pid == 0:  # pragma: no cover - another process
        os.chdir(cwd)
        os.execvpe(words[0], words, dict(environment))
    said, until = b"", time.monotonic() + 60
    while time.monotonic() < until:
        if typed and after.encode() in said:
            os.write(device, typed.encode())
            typed = ""
        if not select.select([device], [], [], 0.2)[0]:
            continue
        try:
            piece = os.read(device, 65536)
        except OSError:
            break
        if not piece:
            break
        said += piece
    _, status = os.waitpid(pid, 0)
    os.close(device)
    return os.waitstatus_to_exitcode(status), said.decode(errors="replace")


@pytest.fixture
def persons(tmp_path: Path) -> Path:
    """A person's home."""
    Home.open(tmp_path / "home", clock=None).close()
    return tmp_path / "home"


def test_each_command_has_a_row_and_each_row_a_command() -> None:
    assert set(leaves()) == set(commands())
    for path in commands():
        assert command_in([*path.split(), "more", "words"]) == commands()[path]


def test_options_of_the_table_are_options_of_the_command() -> None:
    whole = typer.main.get_command(app_for())
    for row in commands().values():
        command: Any = whole
        for word in row.path.split():
            command = command.commands[word]
        known = {option for one in command.params for option in one.opts}
        assert set(row.persons) <= known, row.path


ENOUGH = {
    "accept": ["x", "--yes"],
    "cancel": ["x"],
    "correct": ["x", "--yes"],
    "undo": ["x", "--yes"],
    "grant add": ["shell"],
    "grant remove": ["read"],
    "gate approve": ["x"],
    "gate correct": ["x", "other"],
    "schedule sign": ["x", "--yes"],
    "schedule revoke": ["x"],
    "schedule install": ["--yes"],
    "gate deny": ["x"],
    "key new": ["--role", "user"],
    "config set": ["do.reads", "ask"],
    "key unlock": [],
    "key trust": ["did:key:x", "--role", "user"],
    "key revoke": ["did:key:x"],
    "agent add": ["a", "--did", "did:key:x", "--endpoint", "https://e.org/"],
    "agent remove": ["a"],
    "log accept-break": ["1"],
    "log forget": ["1"],
    "server add": ["a", "--", "true"],
    "server trust": ["a"],
    "server untrust": ["a"],
    "server remove": ["a"],
    "tool call": ["fs/read", "path=a", "--yes"],
    "tool approve": ["fs/read", "--yes"],
    "tool reject": ["a:b"],
    "tool quarantine": ["fs/read"],
    "tool classify": ["a:b", "read", "--effects", "read", "--yes"],
    "tool unclassify": ["a:b"],
    "repo add": ["a", "."],
    "repo switch": ["a"],
    "repo remove": ["a"],
    "review dismiss": ["a.py:1", "--why", "x"],
    "review context build": ["--yes"],
    "model add": ["here.gguf"],
    "skill import": ["Makefile"],
    "model get": ["hf:a/b"],
    "model use": ["a"],
    "model remove": ["a"],
    "work import": ["--yes"],
}
PERSONS = sorted(path for path, row in commands().items() if row.who == "person")


@pytest.mark.attended
@pytest.mark.parametrize("path", PERSONS)
def test_without_a_terminal_a_persons_command_is_refused_and_noted(
    path: str, persons: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from mcl.cli.main import main
    from mcl.usecases.authority import door

    monkeypatch.setenv("MCL_HOME", str(persons))
    monkeypatch.setenv("HOME", str(persons.parent))
    monkeypatch.chdir(persons.parent)
    monkeypatch.setattr(door, "nobody_here", lambda: "there is no terminal here")
    before = sorted(one for one in persons.parent.rglob("*") if persons not in one.parents)
    assert main([*path.split(), *ENOUGH.get(path, [])]) == 4
    assert "code  PERSON_ONLY" in (said := capsys.readouterr().err), said
    with Home.open(persons) as home:
        (row,) = home.journal.rows(kind=TURNED_AWAY)
        record = home.journal.open(row.wire)
        assert (row.kind, record.body["command"]) == (TURNED_AWAY, f"mcl {path}")
    assert sorted(one for one in persons.parent.rglob("*") if persons not in one.parents) == before


def test_help_and_usage_are_told_to_everybody(persons: Path) -> None:
    assert piped(persons, "accept", "--help").returncode == 0
    assert piped(persons, "accept").returncode == 2


@pytest.mark.attended
@pytest.mark.parametrize(
    "words",
    [
        ["run", "x", "--yes-gates"],
        ["repo", "run", "status", "--yes-gates"],
        ["repo", "exec", "x.json", "--yes-gates"],
        ["mcp", "install", "--write"],
        ["hook", "install", "claude-code", "--write"],
    ],
)
def test_options_that_a_person_gives(words: list[str], persons: Path) -> None:
    done = piped(persons, *words)
    assert (done.returncode, "PERSON_ONLY" in done.stderr) == (4, True), done.stderr


@pytest.mark.attended
def test_a_refusal_is_one_document_too_and_is_in_the_journal(persons: Path) -> None:
    done = piped(persons, "grant", "add", "shell", "--json")
    told = json.loads(done.stdout)["error"]
    assert (told["code"], told["place"]) == ("PERSON_ONLY", "mcl grant add")
    rows = json.loads(piped(persons, "log", "--json").stdout)["rows"]
    assert [row["kind"] for row in rows] == [TURNED_AWAY]
    assert piped(persons, "log", "verify").returncode == 0


@pytest.mark.attended
def test_where_no_home_is_none_is_made_to_refuse(tmp_path: Path) -> None:
    done = piped(tmp_path / "home", "grant", "add", "shell")
    assert done.returncode == 4
    assert not (tmp_path / "home").exists()


@pytest.mark.attended
@pytest.mark.parametrize("variable", [one for row in HOSTS.values() for one in row.get("variables", ())])
def test_a_host_is_known_by_what_it_sets(variable: str, persons: Path) -> None:
    name, _, value = variable.partition("=")
    found = agent_host({name: value or "1"}, ())
    assert name in found
    assert not agent_host({name: ""}, ())
    above = agent_host({}, [Process(("bash",)), Process(("sh",), (), {name: value or "1"})])
    assert "above" in above, "the variable was taken out, but not of the processes above"


@pytest.mark.parametrize(
    ("words", "names"),
    [
        *(((f"/opt/x/{one}", "-p"), ()) for row in HOSTS.values() for one in row.get("programs", ())),
        *(((one,), ()) for row in HOSTS.values() for one in row.get("programs", ())),
        *(
            (("node", "--no-warnings", f"/usr/lib/node_modules/{one}/dist/index.js"), ("node",))
            for row in HOSTS.values()
            for one in row.get("packages", ())
        ),
        (("node", "/usr/bin/gemini"), ("node", "/usr/bin/node")),
        (("whatever",), ("claude",)),
        (("x",), ("MainThread", "/home/a/.local/share/claude")),
        (("python3", "-m", "aider"), ("python3",)),
        (("/bin/bash", "/usr/bin/claude"), ("bash",)),
    ],
)
def test_a_host_is_known_by_its_process(words: tuple[str, ...], names: tuple[str, ...]) -> None:
    assert agent_host({}, [Process(("bash", "-c", "x")), Process(words, names)])


@pytest.mark.parametrize(
    "words",
    [
        ("vim", "claude"),
        ("bash", "-l"),
        ("/usr/bin/zsh",),
        ("node", "server.js", "claude"),
        ("tmux", "new", "-s", "codex"),
        ("less", "/home/claude/notes"),
        ("sshd: ada@pts/0",),
        ("cursor",),
    ],
)
def test_people_and_their_editors_are_no_hosts(words: tuple[str, ...]) -> None:
    assert not agent_host({"CURSOR_TRACE_ID": "1", "TERM": "xterm"}, [Process(words, (words[0],), {})])


@pytest.mark.attended
def test_at_a_terminal_a_person_does_what_is_theirs(persons: Path) -> None:
    if agent_host({}, _above()):
        pytest.skip("this test itself runs below an agent's host")
    code, said = at_terminal([*MCL, "grant", "add", "shell"], clean(persons), persons.parent)
    assert code == 0, said
    line = f"cat /dev/null | {sys.executable} -m mcl grant remove shell > out.txt"
    assert at_terminal(["sh", "-c", line], clean(persons), persons.parent)[0] == 0
    line = f"{sys.executable} -m mcl grant add shell < /dev/null 2> err.txt"
    assert at_terminal(["sh", "-c", line], clean(persons), persons.parent)[0] == 4


@pytest.mark.attended
def test_below_a_host_a_terminal_does_not_help(persons: Path) -> None:
    code, said = at_terminal([*MCL, "grant", "add", "shell"], clean(persons, CLAUDECODE="1"), persons.parent)
    assert (code, "Claude Code sets CLAUDECODE" in said) == (4, True), said


def _above() -> tuple[Process, ...]:
    from mcl.usecases.authority.door import processes_above

    return processes_above()


def test_the_processes_above_are_found() -> None:
    above = _above()
    assert above
    assert all(process.words or process.names for process in above)


@pytest.mark.attended
def test_an_unattended_home_asks_for_nobody_and_says_so_for_good(tmp_path: Path) -> None:
    home = tmp_path / "home"
    made = piped(home, "init", "--unattended", "--json")
    assert json.loads(made.stdout)["unattended"] is True
    assert "unattended" in piped(home, "init").stderr
    assert piped(home, "grant", "add", "shell").returncode == 0
    with Home.open(home) as opened:
        first, *_ = opened.journal.rows()
        assert (first.seq, first.kind, opened.unattended) == (1, UNATTENDED, True)
    assert json.loads(piped(home, "key", "export").stdout)["unattended"] is True
    assert piped(home, "log", "verify").returncode == 0


@pytest.mark.attended
def test_a_home_of_a_person_does_not_become_one_without(persons: Path) -> None:
    done = piped(persons, "init", "--unattended")
    assert (done.returncode, "HOME_ATTENDED" in done.stderr) == (4, True)
    with Home.open(persons) as home:
        home.journal.record(UNATTENDED, {"user": home.keyring.user.did})  # said later it means nothing
    with Home.open(persons) as home:
        assert not home.unattended
    assert piped(persons, "grant", "add", "shell").returncode == 4


@pytest.mark.attended
def test_below_a_host_no_unattended_home_is_made_in_the_persons_place(tmp_path: Path) -> None:
    around = clean(tmp_path / "x", CLAUDECODE="1", HOME=str(tmp_path), XDG_DATA_HOME=str(tmp_path / "data"))
    del around["MCL_HOME"]
    done = subprocess.run(
        [*MCL, "init", "--unattended"], env=around, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, "PERSON_ONLY" in done.stderr) == (4, True), done.stderr
    assert not (tmp_path / "data").exists()


def test_what_an_unattended_home_signs_says_so(mcl: Any) -> None:
    id = mcl.compiled()
    done = mcl("accept", id, "--yes", "--json")
    assert done.document["unattended"] is True
    assert "unattended" in done.err
    assert mcl("run", id).code == 0
    with Home.open(mcl.home) as home:
        (ended,) = home.journal.rows(id, kind="intent.attest")
        assert json.loads(home.journal.open(ended.wire).body.evidence_json)["unattended"] is True


@pytest.mark.attended
def test_a_key_of_an_unattended_home_is_no_users_elsewhere(tmp_path: Path, mcl: Any) -> None:
    piped(tmp_path / "other", "init", "--unattended")
    (mcl.folder / "their.json").write_text(piped(tmp_path / "other", "key", "export").stdout)
    Home.open(tmp_path / "mine").close()
    code, said = _persons(tmp_path / "mine", mcl.folder, "key", "trust", "their.json", "--role", "user")
    assert (code, "KEY_UNATTENDED" in said) == (4, True), said


def _persons(home: Path, cwd: Path, *words: str) -> tuple[int, str]:
    if agent_host({}, _above()):
        pytest.skip("this test itself runs below an agent's host")
    return at_terminal([*MCL, *words], clean(home), cwd)


@pytest.mark.attended
def test_where_a_persons_home_governs_an_unattended_one_signs_nothing(tmp_path: Path) -> None:
    from tests.agents.offices import write_intents

    own = tmp_path / "data" / "mcl"
    Home.open(own).close()
    project = tmp_path / "project"
    project.mkdir()
    write_intents(project, {"id": "INT-001", "name": "One", "owned_scope": ["src/**"]})
    from mcl.plugins.agents.usecases import import_work

    with Home.open(own) as home:
        assert import_work(agree=lambda plan: True, root=project, home=home).agreed
    around = {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "data")}
    assert piped(tmp_path / "theirs", "init", "--unattended").returncode == 0
    for root in (project, project / "src", tmp_path / "project" / ".." / "project"):
        root.mkdir(exist_ok=True)
        done = piped(tmp_path / "theirs", "work", "import", "--yes", "--root", str(root), **around)
        assert (done.returncode, "GOVERNED_ELSEWHERE" in done.stderr) == (4, True), done.stderr
    theirs = tmp_path / "theirs"
    (project / "notes").mkdir()
    call = ["tool", "call", "fs/list", "path=.", "--yes", "--workspace"]
    for place in (project, project / "notes", tmp_path):
        done = piped(theirs, *call, str(place), **around)
        assert (done.returncode, "GOVERNED_ELSEWHERE" in done.stderr) == (4, True), done.stderr
    (tmp_path / "free").mkdir()
    done = piped(theirs, *call, str(tmp_path / "free"), **around)
    assert "GOVERNED_ELSEWHERE" not in done.stderr, done.stderr


@pytest.mark.attended
def test_a_sealed_key_asks_its_passphrase_of_who_sits_there(persons: Path) -> None:
    if agent_host({}, _above()):
        pytest.skip("this test itself runs below an agent's host")
    around = clean(persons)
    with Home.open(persons) as home:
        home.keyring.seal("user", b"open sesame")
    known = clean(persons, MCL_PASSPHRASE="open sesame")
    trust = [*MCL, "key", "new", "--role", "user"]
    code, said = at_terminal(trust, known, persons.parent, "\n", "passphrase of the keys:")
    assert code != 0, "what stands in the environment is no person's word"
    assert "PASSPHRASE_EMPTY" in said
    grant = [*MCL, "grant", "add", "shell"]  # signed with the agent's key, which is open
    for words in (trust, grant):
        code, said = at_terminal(words, around, persons.parent, "wrong\n", "passphrase of the keys:")
        assert (code, "KEY_PASSPHRASE_WRONG" in said) == (4, True), said
    assert at_terminal(grant, around, persons.parent, "open sesame\n", "passphrase of the keys:")[0] == 0
    code, said = at_terminal(trust, around, persons.parent, "wrong\n", "passphrase of the keys:")
    assert (code, "KEY_PASSPHRASE_WRONG" in said) == (4, True), said
    code, said = at_terminal(trust, around, persons.parent, "open sesame\n", "passphrase of the keys:")
    assert code == 0, said


@pytest.mark.attended
def test_sealing_is_proposed_until_the_key_is_sealed(tmp_path: Path) -> None:
    home, proposal = tmp_path / "home", "mcl key seal"
    around = {"HOME": str(tmp_path)}
    assert proposal in piped(home, "init").stderr
    assert proposal in piped(home, "hook", "install", "claude-code", **around).stderr
    with Home.open(home) as opened:
        opened.keyring.seal("user", b"open sesame")
    assert proposal not in piped(home, "init").stderr
    assert proposal not in piped(home, "hook", "install", "claude-code", **around).stderr
    assert piped(tmp_path / "none", "init", "--unattended").stderr.count(proposal) <= 1


@pytest.mark.attended
def test_sealing_keeps_the_key_and_all_that_it_signed(persons: Path) -> None:
    with Home.open(persons) as home:
        before = home.keyring.user.did
        home.keyring.trust("did:key:z6MkmRBuNTM8KvVnJE9K3CRatMY4Jp2srtjpGHBiDMppkbGd", "user")
        home.keyring.seal("user", b"open sesame")
        home.keyring.seal("user", b"another one")
    with Home.open(persons, passphrase=b"another one") as home:
        assert home.keyring.user.did == before
        assert bytes(home.keyring.user.signing_key.verify_key) == home.keyring.user.verify_key
        assert home.journal.verify().ok
    with Home.open(persons, passphrase=b"open sesame") as home, pytest.raises(MclError):
        _ = home.keyring.user.signing_key


def test_an_unattended_home_stays_one_with_other_keys(mcl: Any) -> None:
    assert mcl("init", "--unattended").code == 0
    assert mcl("init", "--unattended").code == 0, "it is one already"
    for role in ("user", "agent"):
        assert mcl("key", "new", "--role", role).code == 0
    assert mcl("grant", "add", "shell").code == 0
    with Home.open(mcl.home) as home:
        assert home.unattended
