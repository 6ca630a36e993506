"""What is kept of an agent's reads, refusals and writes from call to call."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from executor import Home
from executor.core.clock import FixedClock
from executor.core.errors import ScopeError
from executor.gate.breaker import Breaker
from executor.sandbox.paths import Workspace
from executor.tools.manifest import Mode
from executor.walker.undo.records import read_history
from executor.walker.undo.store import ImageStore
from mcl.core.home import open_home
from mcl.plugins.agents.trace.trace import read_trace
from mcl.plugins.agents.writes import images
from mcl.plugins.agents.writes.images import SeenVersions, keep, left, trace_writes, within

INTENT = "01M81BCK7H7VHMDV44C3EPZT1E"


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    with open_home(tmp_path / "home") as opened:
        yield opened


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    (tmp_path / "work").mkdir()
    opened = Workspace(tmp_path / "work")
    yield opened
    opened.close()


def test_an_agent_is_known_to_have_seen_what_it_saw_last_and_nobody_else(home: Home) -> None:
    seen, root = SeenVersions(home), Path("/work")
    seen.note(root, "one", "a.py", "a" * 64)
    seen.note(root, "one", "a.py", "b" * 64)
    assert seen.of(root, "one", "a.py") == "b" * 64
    assert seen.of(root, "other", "a.py") is None
    assert seen.of(Path("/elsewhere"), "one", "a.py") is None
    seen.note(root, "one", "a.py", None)
    assert seen.of(root, "one", "a.py") is None


def test_the_third_refusal_of_the_same_call_opens_the_circuit_for_a_minute(home: Home) -> None:
    denials, root, clock = Breaker(home), Path("/work"), FixedClock("2026-11-22T10:00:00Z", step_ms=10_000)
    for times in (1, 2):
        assert denials.note("one", root, "key", "OUT_OF_SCOPE", clock.now()) == times
        assert denials.open("one", root, "key", "2026-11-22T10:00:11Z") is None
    assert denials.note("one", root, "key", "OUT_OF_SCOPE", clock.now()) == 3
    with open_home(home.path) as other:  # another process sees it too
        assert Breaker(other).open("one", root, "key", "2026-11-22T10:00:21Z") == "OUT_OF_SCOPE"
    assert denials.open("other", root, "key", "2026-11-22T10:00:21Z") is None
    assert denials.open("one", root, "another call", "2026-11-22T10:00:21Z") is None
    assert denials.open("one", root, "key", "2026-11-22T10:01:21Z") is None
    assert denials.note("one", root, "key", "OUT_OF_SCOPE", "2026-11-22T10:01:21Z") == 1


def test_what_an_agent_checks_out_meanwhile_closes_the_circuit(home: Home) -> None:
    denials, root, at = Breaker(home), Path("/work"), "2026-11-22T10:00:00Z"
    for _ in range(3):
        denials.note("one", root, "key", "NO_INTENT_DECLARED", at)
    assert denials.open("one", root, "key", at) == "NO_INTENT_DECLARED"
    assert denials.open("one", root, "key", at, lease=INTENT) is None
    assert denials.note("one", root, "key", "OUT_OF_SCOPE", at, lease=INTENT) == 1


def test_a_call_is_kept_in_one_process_and_ended_in_another(home: Home, workspace: Workspace) -> None:
    (workspace.root / "a.py").write_text("one\n")
    paths: list[tuple[str, Mode]] = [("a.py", "write"), ("deep/b.py", "write"), ("read.me", "read")]
    keep(home, workspace, paths, intent=INTENT, node="n-1", tool="Edit")
    (workspace.root / "a.py").write_text("one\ntwo\n")
    with open_home(home.path) as other:
        changed = left(other, workspace, intent=INTENT, node="n-1")
        assert left(other, workspace, intent=INTENT, node="n-1") == ()
        assert left(other, workspace, intent=INTENT, node="n-2") == ()
    ((path, before, after),) = changed
    assert (path, before == after, before is None, after is None) == ("a.py", False, False, False)
    (call,) = read_history(home.journal, INTENT).calls
    assert (call.node, set(call.before), set(call.changed)) == ("n-1", {"a.py", "deep/b.py"}, {"a.py"})
    traced = trace_writes(
        home, workspace.root, workspace, changed, label="INT-001", intent_id=INTENT, tool="Edit", agent="one"
    )
    assert [line.change.lines for line in traced] == [((2, 2),)]
    assert SeenVersions(home).of(workspace.root, "one", "a.py") == after
    assert read_trace(home, workspace.root).ok


def test_the_contents_of_earlier_calls_are_not_looked_at_after_each_write(
    home: Home, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = ImageStore(home.path / "undo")
    with store.together():
        for number in range(60):
            store.keep_bytes(b"kept %d" % number)
    for folder in store.folder.iterdir():
        os.utime(folder, ns=(1, 1))
    looked: list[str] = []
    real = ImageStore.names

    def names(self: ImageStore, folder: str = "*") -> Iterator[tuple[str, int]]:
        looked.append(folder)
        return real(self, folder)

    (workspace.root / "a.py").write_text("0")
    for node in ("n-1", "n-2"):
        keep(home, workspace, [("a.py", "write")], intent=INTENT, node=node, tool="Write")
        (workspace.root / "a.py").write_text(node)
        left(home, workspace, intent=INTENT, node=node)
        monkeypatch.setattr(ImageStore, "names", names)
    assert 0 < len(looked) <= 2
    assert "*" not in looked


def test_a_call_that_cannot_be_undone_is_told_as_such(home: Home, workspace: Workspace) -> None:
    assert keep(home, workspace, [], intent=INTENT, node="n-0", tool="Read") is None
    keep(home, workspace, [], intent=INTENT, node="n-1", tool="Bash", why_not="what a process does stays")
    assert left(home, workspace, intent=INTENT, node="n-1") == ()
    (call,) = read_history(home.journal, INTENT).calls
    assert call.uncovered == {"": "what a process does stays"}


def test_what_tools_may_not_touch_is_not_kept_and_so_not_written(home: Home, workspace: Workspace) -> None:
    for path in (".orchestration/active_intents.yaml", "../outside", ".env"):
        with pytest.raises(ScopeError):
            keep(home, workspace, [(path, "write")], intent=INTENT, node="n-1", tool="Write")
    assert not read_history(home.journal, INTENT).calls


def test_of_binary_and_large_files_the_trace_names_no_lines(
    home: Home, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    for node, data in (("n-1", b"\0\1"), ("n-2", b"x\n" * (3 << 20))):
        keep(home, workspace, [("a.bin", "write")], intent=INTENT, node=node, tool="Write")
        (workspace.root / "a.bin").write_bytes(data)
        monkeypatch.setattr(images, "STORE_LIMIT", 1)  # what has not ended is kept all the same
        changed = left(home, workspace, intent=INTENT, node=node)
        (line,) = trace_writes(
            home,
            workspace.root,
            workspace,
            changed,
            label="INT-001",
            intent_id=INTENT,
            tool="Write",
            agent="one",
        )
        assert line.change.lines == ()
    (first, second) = read_history(home.journal, INTENT).calls
    assert first.after is not None
    assert second.before["a.bin"] == first.after["a.bin"]


def test_a_path_is_told_as_the_governed_folder_has_it(workspace: Workspace, tmp_path: Path) -> None:
    assert within(tmp_path, workspace, "a/b.py") == "work/a/b.py"
    assert within(workspace.root, workspace, "a/b.py") == "a/b.py"
    assert within(workspace.root / "a", workspace, "a/b.py") == "b.py"
    assert within(workspace.root / "c", workspace, "a/b.py") is None
