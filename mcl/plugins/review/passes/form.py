"""The form of an answer: the rules that a question adds to the grammar, so that whatever is written is read.

Tokens are counted in the worst way for what the grammar spells out (a token has at least one byte), and by
the grammar itself for what a model says in its own words; so an answer is whole within its budget.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from mcl.model.writing import literal
from mcl.plugins.review.contracts import Contract
from mcl.plugins.review.contracts.contract import GRAMMAR as GRAMMAR
from mcl.plugins.review.findings import Finding, write_finding

_LINES = 4  # of a body, at most
_LEAST_BODY = 32  # tokens: with fewer nothing can be said
_NOTES = ("Responsibility: ", "\nPatterns: ", "\nHotspots: ")


@dataclass(frozen=True)
class Form:
    """rules: of the request, beside the grammar. most: tokens of the longest answer."""

    rules: str
    most: int


def findings_form(contract: Contract, path: str, lines: Sequence[int], tokens: int) -> Form:
    """Findings of a file on some of its lines, in at most so many tokens.

    Where the contract's most findings leave no room for what they say, fewer are asked for.
    """
    label, path = max(map(len, contract.labels)), named(path)
    head = len(f"[] {path}:\n\n\n\n\n\n".encode()) + label + len(str(max(lines)))
    count = max(1, min(contract.max_findings, tokens // (head + _LEAST_BODY)))
    body = max(_LEAST_BODY, tokens // count - head)
    later = body // (_LINES + 1)  # of a line behind the first, which has twice as many or more
    more = f" (NEXT finding){{0,{count - 1}}}" if count > 1 else ""
    rules = [
        f"start: nothing | finding{more}",
        f"first[max_tokens={body - (_LINES - 1) * later}]: TEXT",
        f"more[max_tokens={later}]: TEXT",
        f"LABEL: {_one_of(contract.labels)}",
        f"PATH: {literal(path)}",
        f"LINE: {_one_of([str(line) for line in lines])}",
        "note: NOTE",
    ]
    return Form("".join(f"{rule}\n" for rule in rules), count * (head + body))


def structure_form(tokens: int) -> Form:
    """The description of a file in three parts, in at most so many tokens."""
    heads = len("".join(_NOTES))
    note = (tokens - heads) // len(_NOTES)
    rules = [
        "start: structure",
        f"note[max_tokens={note}]: NOTE",
        'LABEL: "NOTE"',
        'PATH: "-"',
        'LINE: "1"',
        "first: TEXT",
        "more: TEXT",
    ]
    return Form("".join(f"{rule}\n" for rule in rules), heads + len(_NOTES) * note)


def named(path: str) -> str:
    """A file's name as it stands in a finding: one that could be read otherwise is in quotes and escapes."""
    return write_finding(Finding("NOTE", path, 1, "")).removeprefix("[NOTE] ").removesuffix(":1")


def _one_of(texts: Sequence[str]) -> str:
    return " | ".join(map(literal, texts))
