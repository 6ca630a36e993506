"""Telling what came of a compile: people get a view, programs a document, shells an exit code."""

from typing import TYPE_CHECKING

from mcl.cli.output import Output

if TYPE_CHECKING:
    from mcl.compiler.outcome import Clarify, Compiled, Refused


def tell_result(result: "Compiled | Clarify | Refused", out: Output, *, stored: bool) -> int:
    """Show a result, or write it as a document; the exit code that goes with it."""
    from ir.errors import CLARIFY, REFUSED
    from mcl.usecases.documents import of_result

    document = of_result(result, stored=stored)
    out.document(document)
    if not out.as_json:
        from mcl.cli.views.intent import result_view

        out.tell(result_view(result, out.people, stored=stored))
    return {"compiled": 0, "clarify": CLARIFY, "refused": REFUSED}[str(document["status"])]
