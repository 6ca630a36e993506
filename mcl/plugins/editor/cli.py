"""`mcl skill lsp`: help for editors."""

import sys

import typer

from mcl.cli.arguments import verb
from mcl.cli.output import note


def register(skills: typer.Typer) -> None:
    verb(skills, "lsp")(serve_editor)


def serve_editor() -> int:
    """Help an editor with .mtx files: a language server on standard input and output.

    An editor starts it; docs/editor.md says how. It ends when the editor leaves or closes its end.
    """
    from pathlib import Path

    from mcl.core.distribution import VERSION
    from mcl.core.home import locate
    from mcl.plugins.editor.server import serve

    if sys.stdin and sys.stdin.isatty():
        note("waiting for an editor; docs/editor.md says how to set one up (Ctrl-C ends this)")
    return serve(VERSION, locate(), Path.cwd())
