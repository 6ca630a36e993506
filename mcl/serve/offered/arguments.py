"""What a caller gives, compared with what an offered tool takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from executor.tools.schemas import SchemaChecker
from mcl.serve.exchange import Reply, refused
from mcl.serve.offered.offered import Offered

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
