"""Targets of build files become commands: read as text, shown, agreed to, and held to what the file said."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from mcl.cli.main import main
from mcl.core.errors import InputError
from mcl.plugins.derived.makefile import read_makefile
from mcl.plugins.derived.targets import read_build_file
from mcl.usecases import accept, run
from tests.derived.conftest import AT, Shelf

MAKEFILE = """\
SHELL := /bin/sh
STAMP := $(shell touch evil-shell)
include $(shell touch evil-include).mk
-include other.mk
.PHONY: all words count clean hidden
all: words count

# Join the chapters into one book.
words: a.txt \\
       b.txt
\tcat a.txt b.txt > book.txt

count: ## Count the words of the book
\t@wc -w < book.txt > count.txt
\t$(info evil $(shell touch evil-info))

define TEMPLATE
inside: nothing
\ttouch evil-define
endef

ifeq ($(OS),Windows_NT)
hidden:
\tdel count.txt
endif

clean: ; rm -f book.txt
%.o: %.c
\tcc -c $<
build/app: main.c
\tcc main.c
$(STAMP): x
\ttrue
"""


@pytest.fixture
def project(tmp_path: Path, shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    (folder / "a.txt").write_text("one two\n")
    (folder / "b.txt").write_text("three\n")
    return folder


def test_a_makefile_is_read_and_never_evaluated(project: Path) -> None:
    (project / "Makefile").write_text(MAKEFILE)
    found = read_build_file(project / "Makefile")
    assert {one.name: one.says for one in found.targets} == {
        "all": "",
        "words": "Join the chapters into one book.",
        "count": "Count the words of the book",
        "clean": "",
    }
    assert [one.argv for one in found.targets][1] == ("make", "-f", "Makefile", "words")
    assert [one.runs for one in found.targets][3] == "rm -f book.txt"
    assert found.left == {
        "hidden": "it is there under a condition",
        "%.o": "its name is none that a command can have",
        "build/app": "its name is none that a command can have",
        "$(STAMP)": "its name is none that a command can have",
        "include $(shell touch evil-include).mk": "it is not read, and may change what the others do",
        "include other.mk": "it is not read, and may change what the others do",
    }
    assert sorted(one.name for one in project.iterdir()) == ["Makefile", "a.txt", "b.txt"]


def test_without_phony_targets_all_plain_ones_are_offered() -> None:
    rules = read_makefile("a:\n\ttrue\nb := c:d\nc::\n\ttrue\nd ?= e: f\nexport X: y\n")
    assert [one.name for one in rules] == ["a", "c"]


def test_other_build_files_are_read_too(project: Path) -> None:
    (project / "justfile").write_text(
        "set shell := ['sh']\nalias t := test\n# Run the tests\ntest *args:\n  pytest {{args}}\n"
        "deploy target env='dev':\n  ./go {{target}}\n[private]\nhelper:\n  true\n_x:\n  true\n"
    )
    found = read_build_file(project / "justfile")
    assert [(one.name, one.arguments) for one in found.targets] == [("test", ()), ("deploy", ("target",))]
    assert found.targets[1].argv == ("just", "--justfile", "justfile", "deploy", "{target}")
    assert set(found.left) == {"helper", "_x"}
    scripts = {"test": "jest", "pretest": "tsc", "build:all": "webpack", "odd": 3, "a b": "x"}
    (project / "package.json").write_text(json.dumps({"scripts": scripts, "version": "1"}))
    found = read_build_file(project / "package.json")
    assert [(one.name, one.runs) for one in found.targets] == [("test", "jest"), ("build:all", "webpack")]
    assert set(found.left) == {"pretest", "odd", "a b"}
    (project / "pyproject.toml").write_text(
        '[project.scripts]\nserve = "app.main:run"\n[tool.poe.tasks]\nlint = "ruff check"\n'
        '[tool.poe.tasks.docs]\ncmd = "mkdocs build"\nhelp = "Build the pages"\n'
    )
    found = read_build_file(project / "pyproject.toml")
    assert [one.argv for one in found.targets] == [("serve",), ("poe", "lint"), ("poe", "docs")]
    assert found.targets[2].says == "Build the pages"


@pytest.mark.parametrize(
    ("name", "data", "code"),
    [
        ("notes.txt", b"x", "NOT_A_BUILD_FILE"),
        ("Makefile", b"\xff\xfe", "BUILD_FILE_UNREADABLE"),
        ("Makefile", b"x" * (1 << 20) + b"x", "BUILD_FILE_UNREADABLE"),
        ("package.json", b"[1]", "BUILD_FILE_UNREADABLE"),
        ("package.json", b"{" * 100_000, "BUILD_FILE_UNREADABLE"),
        ("pyproject.toml", b"[project]\nname = 'x'", "BUILD_FILE_UNREADABLE"),
        ("justfile", None, "BUILD_FILE_UNREADABLE"),
    ],
)
def test_what_is_no_build_file_is_told(project: Path, name: str, data: bytes | None, code: str) -> None:
    if data is not None:
        (project / name).write_bytes(data)
    with pytest.raises(InputError) as caught:
        read_build_file(project / name)
    assert caught.value.code == code


SAFE = "\n".join(line for line in MAKEFILE.splitlines() if "evil" not in line)


@pytest.mark.parametrize("changing", ["Makefile", "other.mk"])
def test_a_target_is_agreed_to_asked_for_run_and_asked_again_when_it_changes(
    project: Path,
    shelf: Shelf,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    changing: str,
) -> None:
    (project / "Makefile").write_text(SAFE)
    (project / "other.mk").write_text("SAID := first\n")
    commands = shelf.home.path / "commands.toml"
    commands.write_text('# mine\n[own]\ndescription = "Mine."\nargv = ["true"]\n')
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert main(["skill", "import", "Makefile", "words"]) == 4  # nobody agreed
    assert "cat a.txt b.txt > book.txt" in capsys.readouterr().out
    assert "make-words" not in commands.read_text()
    assert main(["skill", "import", "Makefile", "words", "count", "--yes"]) == 0
    assert commands.read_text().startswith("# mine\n[own]")
    assert sorted(one.name for one in project.iterdir()) == ["Makefile", "a.txt", "b.txt", "other.mk"]
    assert "mcl grant add shell" in capsys.readouterr().err
    assert main(["grant", "add", "shell"]) == 0
    derived = shelf.skills_at(project).derived
    assert {"command.make-words", "command.make-count", "command.own"} == set(derived.by_id)
    made = shelf.compile("join the chapters of the book")
    assert made.intent.compile_metadata.skill_id == "command.make-words"
    made = shelf.compile_kept("x", skill="command.make-words", at=AT)
    accept.accept(made.intent.id, home=shelf.home)
    ended = run.run(made.intent.id, workspace=project, home=shelf.home)
    assert ended.failure is None
    assert (project / "book.txt").read_text() == "one two\nthree\n"
    # What the file says now was agreed to by nobody.
    signed = shelf.compile_kept("x", skill="command.make-words", at=AT)
    accept.accept(signed.intent.id, home=shelf.home)
    changed = project / changing
    changed.write_text(f"{changed.read_text()}\nwords: evil\nevil:\n\ttouch evil\n")
    ended = run.run(signed.intent.id, workspace=project, home=shelf.home)
    assert ended.failure is not None
    assert ended.failure.code == "COMMAND_CHANGED"
    assert not (project / "evil").exists()
    assert "not what it was" in shelf.skills_at(project).derived.flaws["command.make-words"]
    capsys.readouterr()
    assert main(["skill", "import", "Makefile", "words"]) == 4
    assert "changed" in capsys.readouterr().out
    assert main(["skill", "import", "Makefile", "words", "--yes"]) == 0
    assert "command.make-words" in shelf.skills_at(project).derived.by_id
    elsewhere = project.parent / "elsewhere"
    elsewhere.mkdir()
    assert set(shelf.skills_at(elsewhere).derived.by_id) == {"command.own"}


def test_a_file_outside_of_the_folder_and_a_target_that_is_not_there_are_refused(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project.parent / "Makefile").write_text(MAKEFILE)
    assert main(["skill", "import", "../Makefile"]) != 0
    assert "OUT_OF_WORKSPACE" in capsys.readouterr().err
    (project / "Makefile").write_text(MAKEFILE)
    assert main(["skill", "import", "Makefile", "hidden"]) != 0
    told = capsys.readouterr().err
    assert "TARGET_UNKNOWN" in told
    assert "under a condition" in told
