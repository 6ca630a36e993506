"""clipboard/copy, clipboard/read, desktop/notify and desktop/print.

This machine has no desktop: the programs are small real ones that the tests put on a PATH of their own, and
that write down how they were started and what they were given.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from walks import Walks, code, granted, tool

SCRIPT = """#!{python}
import json, os, sys
place = {place!r}
said = sys.stdin.buffer.read() if {reads} else b""
told = {{"argv": sys.argv[1:], "said": said.decode("latin-1"), "seen": sorted(os.environ)}}
open(place, "w").write(json.dumps(told))
sys.stdout.write({answer!r})
sys.exit({status})
"""


class Desk:
    """A PATH with the programs that a test wants."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def has(self, name: str, *, answer: str = "", status: int = 0, reads: bool = True) -> None:
        program = self.folder / name
        text = SCRIPT.format(
            python=sys.executable,
            place=str(self.folder / f"{name}.json"),
            reads=reads,
            answer=answer,
            status=status,
        )
        program.write_text(text)
        program.chmod(0o755)

    def told(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / f"{name}.json").read_text())
        return found


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, walks: Walks) -> Desk:
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr("executor.sandbox.environment._SYSTEM", ())
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setenv("SECRET_TOKEN", "nobody-sees-this")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    granted(walks, also=["shell"])
    return Desk(folder)


def copy(**args: str) -> dict[str, Any]:
    return tool("n1", "clipboard/copy", "shell", **args)


def test_a_text_or_a_file_is_copied_with_what_is_there(
    walks: Walks, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.has("xclip")
    assert walks.ask(copy(text="--help $(touch x) räka"))["size"] == 23
    told = desk.told("xclip")
    assert told["argv"] == ["-selection", "clipboard", "-in"]
    assert told["said"].encode("latin-1").decode() == "--help $(touch x) räka"
    assert "SECRET_TOKEN" not in told["seen"]
    walks.write("a.md", "# A\n")
    desk.has("wl-copy")
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    walks.ask(copy(path="a.md"))
    assert desk.told("wl-copy")["said"] == "# A\n"


@pytest.mark.parametrize(
    ("args", "refused"),
    [
        ({}, "BAD_ARGUMENTS"),
        ({"text": "a", "path": "a.md"}, "BAD_ARGUMENTS"),
        ({"path": "nowhere.md"}, "NOT_FOUND"),
        ({"path": ".env"}, "PROTECTED_PATH"),
        ({"path": "../a.md"}, "OUT_OF_SCOPE"),
        ({"path": "a.bin"}, "NOT_TEXT"),
    ],
)
def test_what_cannot_be_copied_is_refused(
    walks: Walks, desk: Desk, args: dict[str, str], refused: str
) -> None:
    desk.has("xclip")
    (walks.workspace / "a.bin").write_bytes(b"\xff\xfe\x00")
    assert walks.refusal(copy(**args)) == refused


def test_what_is_not_there_is_said_plainly(walks: Walks, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = walks.go(copy(text="a"))
    assert code(outcome) == "COMMAND_NOT_FOUND"
    assert "none of wl-copy, xclip, xsel, pbcopy" in outcome.failure.message
    for which, args in (("desktop/notify", {"message": "a"}), ("desktop/print", {"path": "a.md"})):
        walks.write("a.md", "a\n")
        assert walks.refusal(tool("n1", which, "shell", **args)) == "COMMAND_NOT_FOUND"
    desk.has("xclip")
    monkeypatch.delenv("DISPLAY")
    assert walks.refusal(copy(text="a")) == "NO_SCREEN"
    shutil.copy(desk.folder / "xclip", walks.workspace / "pbcopy")
    monkeypatch.setenv("PATH", str(walks.workspace))
    assert walks.refusal(copy(text="a")) == "COMMAND_NOT_FOUND"


def test_the_clipboard_is_told_and_may_be_read_by_a_goal_that_looks(walks: Walks, desk: Desk) -> None:
    desk.has("xclip", answer="Hej \x1b[2J!\n", reads=False)
    read = tool("n1", "clipboard/read", "shell")
    outcome = walks.go(read, verb="find")
    assert outcome.outputs["n1"] == {
        "content": "Hej \x1b[2J!\n",
        "truncated": False,
        "text": "Hej \\x1b[2J!\n",
    }
    assert desk.told("xclip")["argv"] == ["-selection", "clipboard", "-out"]
    desk.has("xclip", status=1, reads=False)
    assert walks.refusal(read) == "COMMAND_FAILED"


def test_a_notice_is_shown_whatever_is_in_it(walks: Walks, desk: Desk) -> None:
    desk.has("notify-send", reads=False)
    walks.ask(tool("n1", "desktop/notify", "shell", message="--icon=x; $(y)", title="-t", urgency="low"))
    assert desk.told("notify-send")["argv"] == [
        "--app-name=mcl",
        "--urgency=low",
        "--",
        "-t",
        "--icon=x; $(y)",
    ]
    assert (
        code(walks.go(tool("n1", "desktop/notify", "shell", message="x"), verb="find")) == "INTENT_MISMATCH"
    )


def test_a_file_is_printed_by_what_is_in_it(walks: Walks, desk: Desk) -> None:
    desk.has("lp", answer="request id is office-7 (1 file(s))\n")
    walks.write("-o raw.md", "text\n")
    node = tool("n1", "desktop/print", "shell", path="-o raw.md", copies="2", printer="hp", two_sided="true")
    assert "request id is office-7" in walks.ask(node)["text"]
    told = desk.told("lp")
    assert told["said"] == "text\n"
    assert told["argv"] == [
        "-n", "2", "-t", "mcl -o raw.md", "-d", "hp", "-o", "sides=two-sided-long-edge",
    ]  # fmt: skip
    assert (
        walks.refusal(tool("n1", "desktop/print", "shell", path="-o raw.md", printer="-x")) == "INVALID_ARGS"
    )
    assert walks.refusal(tool("n1", "desktop/print", "shell", path="nowhere.md")) == "NOT_FOUND"
