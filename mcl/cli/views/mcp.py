"""Programs that mcl can be entered in, and what entering it changes."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import RenderableType

from mcl.cli.views.layout import DIM, GOOD, STRONG, joined, listing, plain

if TYPE_CHECKING:
    from mcl.serve.install import ConfigChange, Host


def hosts_view(hosts: "Sequence[tuple[Host, Path]]") -> Iterator[RenderableType]:
    """The programs, and where each keeps its servers."""
    lines = [((host.name, STRONG), (host.title, ""), (str(place), DIM)) for host, place in hosts]
    yield listing(("name", "program", "file"), lines)


def changed_view(host: "Host", change: "ConfigChange") -> Iterator[RenderableType]:
    """What was written for a host."""
    return written_view(host.title, host.docs, change)


def written_view(title: str, docs: str, change: "ConfigChange") -> Iterator[RenderableType]:
    """What was written into a program's file. docs: where its form is described."""
    if not change.needed:
        yield joined(((title, STRONG), ("it is there already", DIM)))
        return
    for line in change.diff.splitlines():
        yield plain(line, GOOD if line.startswith("+") else "")
    yield joined(((title, STRONG), ("written", GOOD), (f"start it anew; see {docs}", DIM)))
