"""Groups of commands whose first word may also be what one of them is about."""

from typing import ClassVar

import typer
from typer.core import TyperGroup


class ShowsByDefault(TyperGroup):
    """`mcl log @last` is `mcl log show @last`: what names no command is shown."""

    does: ClassVar[str] = "show"

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]  # Typer's Context is its own
        if not args or (args[0] not in self.commands and args[0] not in ("-h", "--help")):
            args = [self.does, *args]
        return super().parse_args(ctx, args)


class ReviewsByDefault(ShowsByDefault):
    """`mcl review app.py` is `mcl review file app.py`, and `--diff=main` is `--diff main`."""

    does: ClassVar[str] = "file"

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        end = args.index("--") if "--" in args else len(args)
        given: list[str] = []
        for word in args[:end]:
            given += word.split("=", 1) if word.startswith("--diff=") else [word]
        return super().parse_args(ctx, given + args[end:])
