"""The page of everyday work: each line that its transcripts show is printed at a terminal, in that order."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from tests.cli.test_cli_terminal import Terminal
from tests.conftest import make_home
from tests.docs.test_readme import plain

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "everyday.md").read_text()
SHOWN = (  # commands of the page that are played, in its order, with what is typed after which words
    ('do "which files in notes mention invoice"', ()),
    ('do "remember that Anna is allergic to nuts"', (("hy > ", "y\n"),)),
    ("list", ()),
    ("why @last", ()),
)
CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
AGES = re.compile(r"\b\d+ (?:min|h|d) ago\b|\bjust now\b|@\d|\b[0-9A-Z]{8}\b|\b\d+ bytes\b")


def said(text: str) -> str:
    """A line without what varies: ids, hashes, times, shares, ages and sizes."""
    return plain(AGES.sub("<>", CODES.sub("", text)))


def shown(command: str) -> list[str]:
    """The lines that the page shows below a command, as far as it shows all."""
    found = re.search(rf"^\$ mcl {re.escape(command)}\n(.*?)(?=^\$ |^```)", PAGE, re.DOTALL | re.MULTILINE)
    assert found is not None, command
    return [line for line in found[1].splitlines() if line.strip() and line != "…"]


def test_each_line_that_the_page_shows_is_printed_in_its_order(mcl):
    (mcl.folder / "notes" / "tuesday.md").write_text("Invoice 4712\n")
    make_home(mcl.home)
    for command, typed in SHOWN:
        terminal = Terminal(mcl, *shlex.split(command), NO_COLOR="1")
        for after, words in typed:
            terminal.until(after)
            terminal.type(words)
        assert terminal.end() == 0
        printed = [said(line) for line in re.split(r"[\r\n]+", terminal.seen)]
        place = 0
        for line in map(said, shown(command)):
            fits = re.compile(".*".join(map(re.escape, line.split("…")))).fullmatch
            found = next((at for at, text in enumerate(printed[place:], place) if fits(text)), None)
            assert found is not None, f"{command}: {line!r} is not among {printed[place:]}"
            place = found
