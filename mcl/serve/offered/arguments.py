"""What a caller gives, compared with what an offered tool takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from jsonschema import Draft202012Validator

from executor.tools.plain import plainly
from mcl.serve.exchange import Reply, refused
from mcl.serve.offered.offered import Offered

_TOLD: Final = 5  # findings
_SAID: Final = 200  # characters of one


class Arguments:
    """Tells what is wrong with the arguments of one tool."""

    def __init__(self, tool: Offered) -> None:
        self._tool = tool
        schema: dict[str, Any] = dict(tool.input_schema)
        self._plainly = plainly(schema)
        self._exact = Draft202012Validator(schema)

    def refusal(self, arguments: Mapping[str, object]) -> Reply | None:
        """INVALID_ARGS with all that is wrong, None where nothing is."""
        given = dict(arguments)
        if self._plainly is not None and self._plainly(given):
            return None
        errors = [
            f"{'.'.join(map(str, one.absolute_path)) or 'arguments'}: {one.message[:_SAID]}"
            for one in self._exact.iter_errors(given)
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
