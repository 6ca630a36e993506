"""A command, or a server, that reads what the process that started it was given: its variables, its memory.

Tried as root too (most containers): root may read every process, unless it gave that up for good.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PASSPHRASE, API_KEY = "open sesame or else", "sk-live-0123456789abcdefghij"
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Linux: its /proc")

# Looks at every process that it sees, by every way, and tells it backwards: nothing takes that out.
PRY = """#!{python}
import ctypes, json, os, subprocess, sys
found, words = {{}}, [one[::-1].encode() for one in {backwards}]
def look(way, data):
    for word in words:
        if word in data:
            found.setdefault(way, []).append(word.decode()[::-1])
def read(path, *places):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as problem:
        return str(problem).encode()
def memory(pid):
    try:
        with open(f"/proc/{{pid}}/maps") as maps, open(f"/proc/{{pid}}/mem", "rb", 0) as mem:
            for line in maps:
                if "[stack]" in line or "[heap]" in line:
                    start, end = (int(one, 16) for one in line.split()[0].split("-"))
                    mem.seek(start)
                    yield mem.read(end - start)
    except OSError:
        return
own = {{os.getpid()}}
others = [one for one in os.listdir("/proc") if one.isdigit() and int(one) not in own]
for pid in others:
    look("environ", read(f"/proc/{{pid}}/environ"))
    for piece in memory(pid):
        look("memory", piece)
    enter, bound = ["nsenter", "-t", pid, "-U"], ["setpriv", "--bounding-set", "+all"]
    ways = (["unshare", "-Ur"], ["sudo", "-n"], enter, bound)
    for before in ways:
        try:
            ran = subprocess.run([*before, "cat", f"/proc/{{pid}}/environ"], capture_output=True, timeout=5)
            look(before[0], ran.stdout)
        except (OSError, subprocess.TimeoutExpired):
            pass
look("inherited", json.dumps(dict(os.environ)).encode())
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
said = {{name: int(status[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")}}
said |= {{"found": found, "seen": len(others), "NoNewPrivs": int(status["NoNewPrivs"])}}
with open("{out}", "w") as file:
    json.dump(said, file)
print("done")
"""
OWNER = """
import os, sys
from pathlib import Path
import executor.sandbox.bubblewrap as bubblewrap
bubblewrap.find_bubblewrap = lambda: {program!r}
from mcl.cli.main import main
assert main(["init"]) == 0
import mcl
from mcl.cli.home import given_passphrase
with mcl.open_home(passphrase=given_passphrase()) as home:
    mcl.grants.add(["shell"], home=home)
    called = mcl.call_tool("process/run-pry", {{}}, agree=lambda _: True, home=home)
    assert called.outcome is not None, called
    print(called.outcome.state, called.outcome.failure)
"""
PRYING = (19, 21, 38)  # CAP_SYS_PTRACE, CAP_SYS_ADMIN, CAP_PERFMON


@pytest.fixture(params=["bubblewrap", "none"])
def program(request: pytest.FixtureRequest) -> str | None:
    return request.getfixturevalue("sandboxed") if request.param == "bubblewrap" else None


def pried(place: Path) -> Any:
    return json.loads((place / "work" / "pried.json").read_text())


def surroundings(place: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    said = {"MCL_HOME": str(place / "home"), "MCL_PASSPHRASE": PASSPHRASE, "API_KEY": API_KEY}
    return {**kept, **said, "PYTHONPATH": str(ROOT)}


def write_prying(place: Path) -> Path:
    (place / "work").mkdir(exist_ok=True)
    script = place / "work" / "pry.py"
    backwards = [PASSPHRASE, API_KEY]
    script.write_text(
        PRY.format(python=sys.executable, backwards=[one[::-1] for one in backwards], out="pried.json")
    )
    script.chmod(0o755)
    return script


def test_a_declared_command_reads_nothing_of_the_process_that_started_it(
    tmp_path: Path, program: str | None
) -> None:
    write_prying(tmp_path)
    (tmp_path / "home").mkdir(mode=0o700)
    (tmp_path / "home" / "commands.toml").write_text(
        f'[pry]\ndescription = "Pries."\nargv = ["{sys.executable}", "./pry.py"]\n'
    )
    ran = subprocess.run(
        [sys.executable, "-c", OWNER.format(program=program)],
        cwd=tmp_path / "work", env=surroundings(tmp_path), capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert "completed None" in ran.stdout, ran.stdout
    told = pried(tmp_path)
    assert told["found"] == {}
    assert told["NoNewPrivs"] == 1
    for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        left = [one for one in PRYING if told[name] >> one & 1]
        assert not left or (name == "CapBnd" and os.geteuid() != 0), name
    if program is None:
        assert told["seen"] > 1  # it saw others, and could not read them


READS_ITSELF = """
import os, sys
from pathlib import Path
from mcl.cli.main import main
before = Path("/proc/self/environ").read_bytes()
code = main({arguments})
after = Path("/proc/self/environ").read_bytes()
words = {phrase}
assert (words in before, words in after, len(after)) == (True, False, len(before)), after
assert before.replace(words, bytes(len(words))) == after  # and nothing else changed
assert "MCL_PASSPHRASE" not in os.environ
os.execv("/bin/sh", ["sh", "-c", "echo inherited=$MCL_PASSPHRASE"])
"""


@pytest.mark.parametrize("phrase", ["open sesame or else", "å-Ω phrase", "=a=b=", "x" * 5000, "z"])
@pytest.mark.parametrize("before", [True, False])
def test_the_passphrase_leaves_the_environment_as_the_kernel_shows_it_too(
    tmp_path: Path, phrase: str, before: bool
) -> None:
    others = {"MCL_PASSPHRASE_OTHER": "stays", "ZZ": "1"}
    given = {**surroundings(tmp_path), "MCL_PASSPHRASE": f"\x01{phrase}\x02"}
    given = {**others, **given} if before else {**given, **others}
    words = given["MCL_PASSPHRASE"].encode()
    code = READS_ITSELF.format(arguments=["--version"], phrase=words)
    ran = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", code], env=given, capture_output=True, text=True, timeout=60
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines()[-1] == "inherited="


def test_the_passphrase_is_taken_out_of_texts_though_it_is_no_variable_any_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from executor.sandbox.redaction import Redactor, known_variables, take_variable, taken_variable

    monkeypatch.setenv("MCL_PASSPHRASE", PASSPHRASE)
    take_variable("MCL_PASSPHRASE")
    assert ("MCL_PASSPHRASE" in os.environ, taken_variable("MCL_PASSPHRASE")) == (False, PASSPHRASE)
    assert PASSPHRASE not in Redactor(known_variables()).text(f"said {PASSPHRASE}!")
    take_variable("MCL_PASSPHRASE")  # it was not given again
    assert taken_variable("MCL_PASSPHRASE") == ""


def test_what_pries_finds_it_where_nothing_was_given_up(tmp_path: Path) -> None:
    """The attack is a real one: the same program, started by a process that keeps nothing to itself."""
    script = write_prying(tmp_path)
    given = surroundings(tmp_path)
    code = (
        f"import subprocess; subprocess.run([{str(script)!r}], env={{'PATH': '/usr/bin:/bin'}}, check=True)"
    )
    subprocess.run([sys.executable, "-c", code], env=given, cwd=tmp_path / "work", check=True, timeout=120)
    assert set(pried(tmp_path)["found"]["environ"]) == {PASSPHRASE[::-1], API_KEY[::-1]}
