"""The tour: what its page shows happens, command by command, in one folder."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcl.cli.main import main

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "tour.md").read_text()


def commands() -> Iterator[tuple[str, list[str]]]:
    """Each command of the page, with the lines that are shown below it."""
    for block in re.findall(r"^```console\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            line, *shown = part.splitlines()
            yield line, shown


def pattern(shown: list[str]) -> re.Pattern[str]:
    """The output that the lines stand for: `…` alone is any number of lines, within a line any text."""
    lines = []
    for line in shown:
        said = ".*".join(map(re.escape, line.split("…")))
        lines.append(r"(?:.*\n)*?" if line == "…" else rf"{said}\s*\n")
    return re.compile("".join(lines))


def test_what_the_tour_shows_happens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in (("MCL_HOME", str(tmp_path / ".mcl")), ("NO_COLOR", "1"), ("COLUMNS", "120")):
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    setup = re.search(r"^```sh\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    assert setup is not None
    subprocess.run(["sh", "-eu", "-c", setup[1]], check=True)
    with Path("/dev/null").open() as nobody_types:
        monkeypatch.setattr("sys.stdin", nobody_types)
        for line, shown in commands():
            main(shlex.split(line)[1:])
            out, err = capsys.readouterr()
            said = "\n".join(text.rstrip() for text in (out + err).splitlines()) + "\n"
            assert pattern(shown).fullmatch(said), f"$ {line}\n{said}"


def test_the_tour_has_twenty_stops() -> None:
    assert re.findall(r"^\*\*(\d+)\.", PAGE, re.MULTILINE) == [str(number) for number in range(1, 21)]
