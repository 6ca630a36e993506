"""What tools are seen to do when their examples run: a tool that lies about itself is caught, in each way."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import lying_tools
import pytest

from mcl.catalog.tools import registry
from mcl.core.errors import InputError
from mcl.plugins.probing.judgement import Probed, is_declared, unshown
from mcl.plugins.probing.usecases import VerifiedContracts, probe, probed_of, verify_contracts

pytestmark = pytest.mark.outside_dev  # a probe does not look at /dev

HONEST = ("honest-reader", "honest-writer", "honest-asker", "honest-starter")
MODEST = {"says-it-writes": "write", "says-it-asks": "network", "says-it-starts": "programs"}
FAILING = ("fails", "ends-the-process", "names-what-the-gate-refuses")
LINUX = ("reads-beside-by-compiled-code", "starts-one-that-reads-beside")
QUICK = (
    *("honest-reader", "honest-writer", "honest-asker", "writes-and-takes-back", "writes-by-descriptor"),
    *("writes-beside", "writes-on-the-machine", "reads-beside", "starts-a-program", "connects"),
    *("leaves-temporary-files", "remembers-in-the-database", "names-what-the-gate-refuses"),
)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The person's home, with what nothing may touch."""
    place = tmp_path_factory.mktemp("person")
    (place / ".bashrc").write_text("mine\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(place))
        patch.setenv("MCL_HOME", str(place / "mcl"))
        yield place


@pytest.fixture(scope="module")
def quick(home: Path) -> dict[str, Probed]:
    """Of some tools, one of each kind: the others are for the slow tests."""
    return by_name(probe(source="lying_tools:tools", only=[f"mcl:planted/{name}" for name in QUICK]))


@pytest.fixture(scope="module")
def told() -> list[tuple[int, int]]:
    return []


@pytest.fixture(scope="module")
def verified(home: Path, told: list[tuple[int, int]]) -> VerifiedContracts:
    return verify_contracts(
        source="lying_tools:tools", progress=lambda done, total: told.append((done, total))
    )


@pytest.fixture
def probed(request: pytest.FixtureRequest, name: str) -> Probed:
    if name in QUICK:
        return request.getfixturevalue("quick")[name]  # type: ignore[no-any-return]
    return by_name(request.getfixturevalue("verified").probed)[name]


def by_name(probed: tuple[Probed, ...]) -> dict[str, Probed]:
    return {one.tool.removeprefix("matrix://tool/planted/").partition("@")[0]: one for one in probed}


def named(*rows: tuple[str, ...]) -> list[object]:
    return [pytest.param(*row, id=row[0], marks=marks(row[0])) for row in rows]


def marks(name: str) -> list[pytest.MarkDecorator]:
    told_by_linux = pytest.mark.skipif(
        sys.platform != "linux", reason="Linux: its kernel tells what is opened"
    )
    return [pytest.mark.slow] * (name not in QUICK) + [told_by_linux] * (name in LINUX)


@pytest.mark.parametrize("name", named(*((name,) for name in HONEST)))
def test_a_tool_that_does_what_it_says_is_sound(probed: Probed) -> None:
    assert (probed.state, probed.reason, probed.flaws) == ("sound", "", ())


@pytest.mark.parametrize(
    ("name", "code", "what"),
    named(
        ("writes", "WROTE_UNDECLARED", "new.txt"),
        ("writes-and-takes-back", "WROTE_UNDECLARED", "new.txt"),
        ("writes-by-descriptor", "WROTE_UNDECLARED", "new.txt"),
        ("writes-in-a-thread", "WROTE_UNDECLARED", "new.txt"),
        ("writes-by-compiled-code", "WROTE_UNDECLARED", "new.db"),
        ("deletes", "WROTE_UNDECLARED", "notes/monday.md"),
        ("renames", "WROTE_UNDECLARED", "moved.md"),
        ("changes-permissions", "WROTE_UNDECLARED", "notes/monday.md"),
        ("makes-a-folder", "WROTE_UNDECLARED", "new"),
        ("writes-in-a-case-that-reads", "WROTE_UNDECLARED", "notes/monday.md"),
        ("writes-another-file", "WROTE_ELSEWHERE", "README.md"),
        ("writes-beside", "WROTE_ELSEWHERE", "new.txt beside the workspace"),
        ("writes-in-the-persons-home", "WROTE_ELSEWHERE", ".bashrc in the person's home"),
        ("writes-on-the-machine", "WROTE_ELSEWHERE", str(lying_tools.PLANTED)),
        ("links-to-elsewhere-and-writes", "WROTE_ELSEWHERE", "new.txt beside the workspace"),
        ("reads-beside", "READ_ELSEWHERE", "letters/private.txt beside the workspace"),
        ("reads-beside-by-descriptor", "READ_ELSEWHERE", "sibling/secret.md beside the workspace"),
        ("reads-beside-by-compiled-code", "READ_ELSEWHERE", "letters/private.txt beside the workspace"),
        ("starts-one-that-reads-beside", "READ_ELSEWHERE", "letters/private.txt beside the workspace"),
        ("lists-the-persons-home", "READ_ELSEWHERE", "in the person's home"),
        ("looks-round-the-machine", "READ_ELSEWHERE", "/var"),
        ("starts-a-program", "STARTED_UNDECLARED", "/bin/echo"),
        ("starts-a-shell", "STARTED_UNDECLARED", "sh"),
        ("spawns-a-program", "STARTED_UNDECLARED", "/bin/true"),
        ("becomes-a-program", "STARTED_UNDECLARED", "/bin/true"),
        ("forks", "STARTED_UNDECLARED", "fork"),
        ("starts-by-a-door-that-tells-nobody", "STARTED_UNDECLARED", "true"),
        ("starts-a-program-of-the-workspace", "STARTED_UNDECLARED", "work/git"),
        ("starts-one-that-writes-beside", "WROTE_ELSEWHERE", "new/.git beside the workspace"),
        ("connects", "CONNECTED_UNDECLARED", "127.0.0.1:9"),
        ("asks-for-a-name", "CONNECTED_UNDECLARED", "example.org:443"),
        ("listens", "CONNECTED_UNDECLARED", "127.0.0.1:0"),
        ("connects-to-a-local-socket", "CONNECTED_UNDECLARED", "unix:/run/docker.sock"),
        ("asks-somebody-else", "CONNECTED_ELSEWHERE", "192.0.2.1:443"),
        ("asks-another-port", "CONNECTED_ELSEWHERE", "127.0.0.1:9"),
        ("leaves-temporary-files", "LEFT_BEHIND", "tmp"),
        ("reads-the-keys", "READ_ELSEWHERE", "keys in the home of mcl"),
        ("reads-the-keys", "READ_ELSEWHERE", "keys/marking.json in the home of mcl"),
        ("remembers", "WROTE_UNDECLARED", "kept.json in the home of mcl"),
        ("remembers-in-the-database", "WROTE_UNDECLARED", "in the home of mcl"),
    ),
)
def test_a_tool_that_does_what_it_does_not_say_is_caught(probed: Probed, code: str, what: str) -> None:
    assert probed.state == "unsound"
    assert {one.code: what in one.message for one in probed.flaws} == {code: True}
    assert probed.flaws[0].fix


@pytest.mark.parametrize("name", named(*((name,) for name in FAILING)))
def test_an_example_that_does_not_work_is_told_and_is_not_sound(probed: Probed) -> None:
    assert (probed.state, probed.flaws) == ("failed", ())
    assert probed.reason


@pytest.mark.slow
def test_every_planted_tool_is_in_one_of_the_tables_and_makes_the_whole_unsound(
    verified: VerifiedContracts,
) -> None:
    known, probed = {*HONEST, *MODEST, *FAILING}, by_name(verified.probed)
    assert {name for name, one in probed.items() if one.state != "unsound"} == known
    assert not verified.sound
    assert {one.place for one in verified.drift} >= {
        f"planted/{name}@1.0.0" for name in probed if name not in HONEST
    }


@pytest.mark.slow
def test_what_is_declared_and_never_done_is_told(verified: VerifiedContracts) -> None:
    found = {one.place: one.message for one in verified.drift if one.code == "EFFECT_NOT_SHOWN"}
    assert found == {
        f"planted/{name}@1.0.0": f"it declares {what}, and no example shows it"
        for name, what in MODEST.items()
    }


def test_nothing_is_missed_where_a_program_was_stood_in_for_or_an_example_did_not_run() -> None:
    tests = next(one for one in registry().own if one.uri.startswith("matrix://tool/process/tests@"))
    shown = Probed(tests.uri, 0, {}, "sound", started=("make",))
    assert [one.message for one in unshown(tests, [shown])] == ["it declares write, and no example shows it"]
    assert not list(unshown(tests, [replace(shown, stand_ins=("make",))]))
    assert not list(unshown(tests, [replace(shown, state="not probed")]))
    assert not list(unshown(tests, []))


def test_what_is_not_let_happen_does_not_happen_and_the_persons_home_is_left_alone(
    quick: dict[str, Probed], home: Path
) -> None:
    assert quick["writes-on-the-machine"].flaws
    assert not lying_tools.PLANTED.exists()
    assert sorted(os.listdir(home)) == [".bashrc"]  # noqa: PTH208
    assert (home / ".bashrc").read_text() == "mine\n"


@pytest.mark.slow
def test_progress_is_told_and_only_grows(verified: VerifiedContracts, told: list[tuple[int, int]]) -> None:
    assert told[0][1] == len(verified.probed)
    assert [done for done, _ in told] == sorted({done for done, _ in told})


@pytest.mark.slow
def test_a_tool_that_does_not_come_to_an_end_is_ended(home: Path) -> None:
    [found] = probe(source="lying_tools:slow", limit_s=1)
    assert (found.state, found.reason.partition(":")[0]) == ("failed", "TIMEOUT")


def test_where_the_tools_cannot_be_had_it_is_said_and_nothing_is_left(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(InputError) as caught:
        probe(source="lying_tools:nothing")
    assert (caught.value.code, caught.value.exit) == ("PROBE_FAILED", 5)
    assert list(tmp_path.iterdir()) == []


def test_an_example_whose_program_is_not_there_says_nothing_of_its_tool() -> None:
    told = {
        "tool": "matrix://tool/git/log@1.0.0",
        "number": 0,
        "given": {},
        "hosts": {},
        "state": "failed",
        "code": "COMMAND_NOT_FOUND",
        "message": "git is not installed",
        "seen": [],
        "changed": {},
        "home": [],
        "flaws": [],
        "seconds": 0.1,
    }
    assert (probed_of(told).state, probed_of(told).reason) == (
        "not probed",
        "COMMAND_NOT_FOUND: git is not installed",
    )


@pytest.mark.parametrize(
    ("argv", "names", "confined", "declared"),
    [
        (["/usr/bin/git", "log"], ["git"], False, True),
        (["/usr/bin/git-upload-pack"], ["git"], False, False),
        (["/usr/bin/python3.12", "-m", "pytest"], ["python3"], True, True),
        (["/usr/bin/pythonista"], ["python"], True, False),
        (["/usr/bin/bwrap", "--ro-bind", "/", "/", "--", "/usr/bin/make", "test"], ["make"], True, True),
        (["/usr/bin/bwrap", "--ro-bind", "/", "/", "--", "/bin/sh", "-c", "x"], ["make"], True, False),
        (["/usr/bin/bwrap", "--", "/bin/true"], ["make"], True, True),
        (["/usr/bin/bwrap", "--", "/usr/bin/make"], ["make"], False, False),
        (["/opt/editor", "a"], ["/opt/editor"], True, True),
        (["/tmp/editor", "a"], ["/opt/editor"], True, False),
    ],
)
def test_a_program_is_declared_by_its_name_also_behind_the_sandbox(
    argv: list[str], names: list[str], confined: bool, declared: bool
) -> None:
    assert is_declared(argv, names, confined) == declared


@pytest.mark.slow
def test_behind_the_sandbox_it_is_seen_what_runs_there(home: Path, sandboxed: str) -> None:
    names = ("code/grep", "process/lint", "process/mqlaunch", "process/tests")
    found = probe(source="lying_tools:confined", only=[f"mcl:{name}" for name in names])
    assert [(one.state, one.flaws) for one in found] == [("sound", ())] * len(names)
    assert [one.started for one in found] == [("rg",), ("make",), ("mqlaunch",), ("make",)]


@pytest.mark.slow
def test_every_tool_of_this_build_does_what_it_declares_and_nothing_else(home: Path) -> None:
    found = verify_contracts(docs=Path(__file__).resolve().parents[2] / "docs")
    assert found.drift == ()
    assert {one.tool for one in found.probed} == {one.uri for one in registry().own}
    assert {one.tool: one.reason for one in found.probed if one.state != "sound"} == {}
