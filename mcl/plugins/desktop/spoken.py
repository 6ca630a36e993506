"""What a goal says of a notice: the one text in quotes is what it says, and no title of it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from executor.core.tables import table_beside
from mcl.compiler.stages.clauses import quotes_of
from mcl.compiler.stages.file_names import FileNames
from mcl.compiler.stages.filled import FilledInput, SaidClause


def read_notice(prose: str, clauses: Sequence[SaidClause], names: FileNames) -> Sequence[FilledInput]:
    """What stands in quotes, where that is one text."""
    quotes = list(quotes_of(prose))
    if len(quotes) != 1 or re.search(rf"\b(?:{table_beside(__file__)['title']})", prose, re.IGNORECASE):
        return ()
    whole, inner = quotes[0]
    return (
        FilledInput("message", inner, (prose[slice(*inner)],)),
        FilledInput("title", whole),
        FilledInput("", whole),
    )
