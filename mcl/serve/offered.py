"""What a tool is that we offer to other programs, and how its arguments are checked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from executor.core.tables import table_beside
from executor.sandbox.paths import Workspace
from executor.sandbox.redaction import Redactor
from executor.store.home import Home
from executor.tools.schemas import SchemaChecker
from mcl.serve.exchange import Caller, Json, Reply, refused
from mcl.serve.folders import Folders


class ServedPlace(Protocol):
    """What a tool of a plug-in knows of the session that it is called in."""

    home: Home
    workspace: Workspace
    folders: Folders
    redactor: Redactor


@dataclass(frozen=True, slots=True)
class Offered:
    """A tool that we offer.

    input_schema, output_schema: JSON Schemas whose root is an object; the latter describes an answer that is
    no error, None where another server's tool decides. annotations: MCP's hints, true ones. run: does the
    work in a session (`ServedPlace`); MclErrors that it raises go out as `refused`. example: arguments that
    would do, told where others do not. checked: are arguments compared with input_schema before run is asked?
    Where not, run does it. kept: does a record of activity tell of each call? Where not, run keeps one.
    """

    name: str
    description: str
    input_schema: Json
    annotations: Json
    run: Callable[[Any, Json, Caller], Awaitable[Reply]] = field(repr=False)
    output_schema: Json | None = None
    title: str = ""
    example: object = ""
    checked: bool = True
    kept: bool = True


def offered(module: str, name: str, run: Callable[[Any, Json, Caller], Awaitable[Reply]]) -> Offered:
    """The tool of this name, of which the table `offered.toml` beside a module says all else."""
    return Offered(name, run=run, **table_beside(module, "offered")[name])


_TOLD: Final = 5  # findings
_SAID: Final = 200  # characters of one


class Arguments:
    """Tells what is wrong with the arguments of one tool."""

    def __init__(self, tool: Offered) -> None:
        self._tool = tool
        self._checker = SchemaChecker(tool.input_schema)

    def refusal(self, arguments: Mapping[str, object]) -> Reply | None:
        """INVALID_ARGS with all that is wrong, None where nothing is."""
        errors = [
            f"{'.'.join(map(str, one.absolute_path)) or 'arguments'}: {one.message[:_SAID]}"
            for one in self._checker.iter_errors(dict(arguments))
        ]
        if not errors:
            return None
        return refused(
            "INVALID_ARGS",
            f"{self._tool.name} cannot take these arguments: {'; '.join(sorted(errors)[:_TOLD])}",
            fix="give what the tool's input schema asks for",
            example=self._tool.example,
            data={"errors": sorted(errors)[:_TOLD], "input_schema": dict(self._tool.input_schema)},
        )
