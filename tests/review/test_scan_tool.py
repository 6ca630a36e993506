"""The scan as a tool: files, folders and differences through the gate, with bounds, and nothing written."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from walks import Walks, tool

from executor import FixedClock, Home, Registry
from mcl.catalog.tools import registry
from mcl.plugins.review.finding import BLOCKING
from mcl.plugins.review.finding_text import read_findings, write_findings
from mcl.plugins.review.piece import ReviewTarget, piece_of
from mcl.plugins.review.scan.sweep import SweepResult, sweep

SHELL = "import subprocess\n\n\ndef run(line):\n    return subprocess.run(line, shell=True)\n"


class Plans(Walks):
    """Plans that may call every tool of this build."""

    def registry(self) -> Registry:
        return registry(lambda: self.home)


@pytest.fixture
def plans(tmp_path: Path) -> Iterator[Plans]:
    (tmp_path / "work").mkdir()
    with Home.open(tmp_path / "home", clock=FixedClock("2026-11-22T10:00:00.000Z")) as home:
        yield Plans(home, tmp_path / "work")


def scan(plans: Plans, **args: Any) -> dict[str, Any]:
    outcome = plans.go(tool("n1", "review/scan", **args))
    assert outcome.failure is None, outcome.failure
    return outcome.outputs["n1"]


def code(plans: Plans, **args: Any) -> str:
    outcome = plans.go(tool("n1", "review/scan", **args))
    assert outcome.failure is not None
    return outcome.failure.code


def test_a_folder_gives_the_worst_first_and_what_was_left_out(plans: Plans) -> None:
    plans.write("shop/app.py", SHELL)
    plans.write("shop/run.sh", "chmod 777 /srv\nstrict=StrictHostKeyChecking=no\n")
    plans.write("node_modules/x/app.py", SHELL)
    plans.write(".env", "KEY=AKIA" + "Q7PZTRK3NDW5LXUB\n")
    (plans.workspace / "logo.png").write_bytes(b"\x89PNG\0")
    before = {one: one.read_bytes() for one in plans.workspace.rglob("*") if one.is_file()}
    found = scan(plans)
    assert [(one["severity"], one["rule"], one["location"]) for one in found["findings"]] == [
        ("RISK", "B602", "shop/app.py:5"),
        ("WARNING", "sh-world-file", "shop/run.sh:1"),
        ("NOTE", "sh-host-key", "shop/run.sh:2"),
    ]
    assert (found["counts"], found["blocking"]) == ({"NOTE": 1, "RISK": 1, "WARNING": 1}, True)
    assert (found["files"], found["skipped"], found["truncated"]) == (
        2,
        [
            {"path": ".env", "why": "secret"},
            {"path": "node_modules/", "why": "vendored"},
            {"path": "logo.png", "why": "binary"},
        ],
        False,
    )
    told = read_findings(found["text"])
    assert [one.location for one in told.findings] == [one["location"] for one in found["findings"]]
    assert [one.body for one in told.findings] == [one["body"] for one in found["findings"]]
    assert not told.unreadable
    assert {one: one.read_bytes() for one in plans.workspace.rglob("*") if one.is_file()} == before


def test_a_file_is_scanned_alone_and_one_with_nothing_in_it_says_so(plans: Plans) -> None:
    plans.write("a.py", SHELL)
    plans.write("b.py", "x = 1\n")
    assert [one["location"] for one in scan(plans, path="a.py")["findings"]] == ["a.py:5"]
    nothing = scan(plans, path="b.py")
    assert (nothing["findings"], nothing["blocking"], nothing["counts"]) == ([], False, {})
    assert nothing["text"] == "1 file: nothing found\n\nNo findings."


def test_of_a_difference_only_what_it_changed_is_told(plans: Plans) -> None:
    plans.git("init", "-q", "-b", "main")
    plans.write("old.py", SHELL)
    plans.write("shop.py", "def total(rows):\n    return sum(rows)\n")
    plans.git("add", "-A")
    plans.git("commit", "-qm", "first")
    plans.write("old.py", f"{SHELL}\n\nx = 1\n")
    plans.write("shop.py", "def total(rows):\n    return eval(rows)\n")
    plans.write("new.sh", "chmod 777 /srv\n")
    found = scan(plans, base="HEAD")
    assert [one["location"] for one in found["findings"]] == ["new.sh:1", "shop.py:2"]
    plans.git("add", "shop.py")
    assert [one["location"] for one in scan(plans, staged="true")["findings"]] == ["shop.py:2"]
    assert [one["location"] for one in scan(plans)["findings"]] == ["old.py:5", "new.sh:1", "shop.py:2"]


def test_what_is_asked_for_wrongly_is_refused(plans: Plans) -> None:
    plans.write("a.py", SHELL)
    assert code(plans, path="nosuch.py") == "NOT_FOUND"
    assert code(plans, path="../a.py") == "OUT_OF_SCOPE"
    assert code(plans, path="a.py", base="HEAD") == "TWO_TARGETS"
    assert code(plans, base="HEAD") == "NOT_A_REPOSITORY"


def test_beyond_the_limit_the_worst_are_given_and_all_are_counted(plans: Plans) -> None:
    for number in range(30):
        plans.write(f"{number:02}.sh", "StrictHostKeyChecking=no\n" * 10)
    plans.write("z.py", SHELL)
    found = scan(plans, limit="3")
    assert found["findings"][0]["location"] == "z.py:5"
    assert (len(found["findings"]), found["counts"], found["truncated"]) == (
        3,
        {"NOTE": 300, "RISK": 1},
        True,
    )


def test_a_finding_beyond_the_room_of_the_answer_still_blocks(plans: Plans) -> None:
    long = "/".join(["f" * 200] * 15)
    for number in range(90):
        plans.write(f"{long}/{number:03}.sh", "chmod 777 x\n" * 20)
    found = scan(plans, limit="2000")
    assert 0 < len(found["findings"]) < 90 * 20 == found["counts"]["WARNING"]
    assert (found["truncated"], found["blocking"]) == (True, True)


def test_names_of_what_is_left_out_are_not_cut_without_a_word(plans: Plans) -> None:
    plans.write("a.py", "x = 1\n")
    for number in range(1000):
        plans.write(f"{number:04}.bin", "\0")
    assert (len(scan(plans)["skipped"]), scan(plans)["truncated"]) == (1000, False)
    plans.write("more.bin", "\0")
    found = scan(plans)
    assert (len(found["skipped"]), found["truncated"], found["counts"]) == (1000, True, {})
    assert "left out: 1,001 binary" in found["text"]
    looked = plans.go(tool("n1", "review/look", path=".")).outputs["n1"]
    assert (len(looked["skipped"]), looked["truncated"]) == (1000, True)


def target(*texts: str) -> ReviewTarget:
    pieces = (piece_of(f"{number}.py", text.encode()) for number, text in enumerate(texts))
    return ReviewTarget("folder", tuple(one for one in pieces if one is not None))


def test_files_for_which_there_is_no_time_are_told() -> None:
    found = sweep(target("eval(x)\n", "x\n", "x\n"), seconds=-1)
    assert (found.files, found.truncated) == (0, True)
    assert [(one.path, one.why) for one in found.skipped] == [
        (f"{number}.py", "no time") for number in range(3)
    ]


def test_a_caller_is_told_how_far_it_is_and_may_stop() -> None:
    heard: list[tuple[int, int]] = []
    sweep(target("x\n", "", "y\n"), progress=lambda done, total: heard.append((done, total)))
    assert heard == [(0, 3), (1, 3), (2, 3), (3, 3)]

    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sweep(target("x\n"), check=stop)


def test_what_blocks_is_what_findings_say_blocks() -> None:
    for label in ("RISK", "WARNING", "NOTE"):
        found = SweepResult()
        found.counts[label] += 1
        assert found.blocking == (label in BLOCKING)


def test_a_name_made_to_look_like_a_finding_is_told_as_a_name() -> None:
    name = "[RISK] a.py:3 - x.sh"
    found = sweep(ReviewTarget("folder", (piece_of(name, b"chmod 777 x\n"),)))  # type: ignore[arg-type]
    [one] = found.findings
    told = read_findings(write_findings(found.findings))
    assert [(told.findings[0].file, told.findings[0].line)] == [(name, 1)]
    assert (one.file, len(told.findings), told.unreadable) == (name, 1, ())


def test_the_same_workspace_gives_the_same_answer(plans: Plans) -> None:
    for number in range(5):
        plans.write(f"{number}.py", SHELL)
    answers = [hashlib.sha256(repr(scan(plans)).encode()).hexdigest() for _ in range(2)]
    assert answers[0] == answers[1]
