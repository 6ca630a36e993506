"""`mcl mcp install`: how programs are told to use mcl as a server."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mcl.cli.arguments import AsJson, folder, option, verb
from mcl.cli.output import Output, note, write_text
from mcl.cli.views.layout import DIM, GOOD, STRONG, joined, listing, plain

if TYPE_CHECKING:
    from rich.console import RenderableType

    from mcl.plugins.agents.install import ConfigChange, Host


def register(mcp: typer.Typer) -> None:
    verb(mcp, "install")(install_command)


def install_command(
    host: Annotated[str, option("--host NAME", "The program to configure; left out: all are listed.")] = "",
    workspace: Annotated[
        Path | None,
        option(
            "--workspace DIR",
            "The folder that tools may work in (default: that of the program, else this one).",
            parser=folder,
        ),
    ] = None,
    name: Annotated[str, option("--name NAME", "What the server is called there.")] = "mcl",
    write: Annotated[
        bool, option("--write", "Write it where the file is plain JSON; shows the change.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Print the configuration that makes a program use mcl as a server.

    Nothing is written without --write. No secret is in it.
    """
    from mcl.plugins.agents.install import HOSTS, change_of, entry_for, host_named
    from mcl.plugins.agents.install import write as write_change

    out, user = Output(as_json), Path.home()
    if not host:
        if write:
            raise typer.BadParameter("--write goes with --host")
        listed = [(one, one.place(user, os.environ)) for one in HOSTS]
        out.show(
            {"hosts": [{"name": one.name, "title": one.title, "file": str(place)} for one, place in listed]},
            hosts_view(listed),
        )
        return 0
    program = host_named(host)
    entry = entry_for(program, name, workspace=workspace, environment=os.environ)
    place = program.place(user, os.environ)
    told: dict[str, object] = {
        "host": program.name,
        "file": str(place),
        "format": program.format,
        "key": program.key,
        "name": entry.name,
        "entry": entry.value,
        "snippet": entry.snippet,
        "command": entry.by_command,
        "docs": program.docs,
        "written": False,
    }
    if not write:
        out.document(told)
        if not as_json:
            write_text(entry.snippet)
            out_of_file(f"# {program.title}: goes into {place}", entry.by_command, program.docs)
        return 0
    change = change_of(entry, place)
    if change.needed:
        write_change(change)
    out.show(
        {**told, "written": change.needed, "diff": change.diff},
        written_view(program.title, program.docs, change),
    )
    return 0


def out_of_file(head: str, command: str, docs: str) -> None:
    """What a person must know besides; standard output stays the file's own text."""
    note(head)
    if command:
        note(f"# or: {command}")
    note(f"# see {docs}")


def hosts_view(hosts: Sequence[tuple[Host, Path]]) -> Iterator[RenderableType]:
    """The programs, and where each keeps its servers."""
    lines = [((host.name, STRONG), (host.title, ""), (str(place), DIM)) for host, place in hosts]
    yield listing(("name", "program", "file"), lines)


def written_view(title: str, docs: str, change: ConfigChange) -> Iterator[RenderableType]:
    """What was written into a program's file. docs: where its form is described."""
    if not change.needed:
        yield joined(((title, STRONG), ("it is there already", DIM)))
        return
    for line in change.diff.splitlines():
        yield plain(line, GOOD if line.startswith("+") else "")
    yield joined(((title, STRONG), ("written", GOOD), (f"start it anew; see {docs}", DIM)))
