"""Variant x declared operation x annotations x trust: every cell with its verdict, through the gate."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import pytest
from declaring import Declaring

from executor import Allow, Ask, Deny, Home, decide
from executor.core.globs import Scope
from executor.gate.checkout import Checkout
from mcl.catalog.manifests import call_with

# What a server says of its tool: RO readOnlyHint, D destructiveHint, I idempotentHint, O openWorldHint; small
# letters: the hint is false. none: no annotations at all; empty: an object without hints.
#
# What the tool then counts as: operation, effects, safety class, whether its server's word decides it, and
# whether it may be called again.
#
# What becomes of a call: through call_tool_read, call_tool_write and call_tool_destructive, each declared as
# read, write, destructive, - (absent) and ? (no operation type). ok: allowed at once. as: a person is asked.
# im: INTENT_MISMATCH. sm: SERVER_MISMATCH. io: INVALID_OPERATION_TYPE.
MATRIX: Final = """
         |trust|                                           |   read call    |   write call   |  destructive
hints    | ed  | operation   effects   class            | r  w  d  -  ?  | r  w  d  -  ?  | r  w  d  -  ?
none     | yes | write       network    E hints once  | sm im im sm io | im as im as io | im im as as io
none     | no  | destructive network    E none  once  | sm im im sm io | im sm im sm io | im im as as io
empty    | yes | write       network    E hints once  | sm im im sm io | im as im as io | im im as as io
empty    | no  | destructive network    E none  once  | sm im im sm io | im sm im sm io | im im as as io
RO       | yes | read        network    B hints again | ok im im ok io | im ok im ok io | im im ok ok io
RO       | no  | destructive network    E none  once  | sm im im sm io | im sm im sm io | im im as as io
ro       | yes | write       network    E hints once  | sm im im sm io | im as im as io | im im as as io
ro       | no  | destructive network    E none  once  | sm im im sm io | im sm im sm io | im im as as io
D        | yes | destructive network    E hints once  | sm im im sm io | im sm im sm io | im im as as io
D        | no  | destructive network    E hints once  | sm im im sm io | im sm im sm io | im im as as io
d        | yes | write       network    E hints once  | sm im im sm io | im as im as io | im im as as io
d        | no  | destructive network    E none  once  | sm im im sm io | im sm im sm io | im im as as io
RO D     | yes | destructive network    E hints once  | sm im im sm io | im sm im sm io | im im as as io
RO D     | no  | destructive network    E hints once  | sm im im sm io | im sm im sm io | im im as as io
RO d     | yes | read        network    B hints again | ok im im ok io | im ok im ok io | im im ok ok io
RO d     | no  | destructive network    E none  once  | sm im im sm io | im sm im sm io | im im as as io
ro D     | yes | destructive network    E hints once  | sm im im sm io | im sm im sm io | im im as as io
ro D     | no  | destructive network    E hints once  | sm im im sm io | im sm im sm io | im im as as io
ro d     | yes | write       network    E hints once  | sm im im sm io | im as im as io | im im as as io
ro d     | no  | destructive network    E none  once  | sm im im sm io | im sm im sm io | im im as as io
I        | yes | write       network    E hints again | sm im im sm io | im as im as io | im im as as io
I        | no  | destructive network    E none  once  | sm im im sm io | im sm im sm io | im im as as io
i        | yes | write       network    E hints once  | sm im im sm io | im as im as io | im im as as io
i        | no  | destructive network    E none  once  | sm im im sm io | im sm im sm io | im im as as io
O        | yes | write       network    E hints once  | sm im im sm io | im as im as io | im im as as io
O        | no  | destructive network    E none  once  | sm im im sm io | im sm im sm io | im im as as io
o        | yes | write       read+write C hints once  | sm im im sm io | im as im as io | im im as as io
o        | no  | destructive network    E none  once  | sm im im sm io | im sm im sm io | im im as as io
RO O     | yes | read        network    B hints again | ok im im ok io | im ok im ok io | im im ok ok io
RO O     | no  | destructive network    E none  once  | sm im im sm io | im sm im sm io | im im as as io
RO o     | yes | read        read       A hints again | ok im im ok io | im ok im ok io | im im ok ok io
RO o     | no  | destructive network    E none  once  | sm im im sm io | im sm im sm io | im im as as io
RO I     | yes | read        network    B hints again | ok im im ok io | im ok im ok io | im im ok ok io
RO I     | no  | destructive network    E none  once  | sm im im sm io | im sm im sm io | im im as as io
RO i     | yes | read        network    B hints once  | ok im im ok io | im ok im ok io | im im ok ok io
RO i     | no  | destructive network    E none  once  | sm im im sm io | im sm im sm io | im im as as io
D O      | yes | destructive network    E hints once  | sm im im sm io | im sm im sm io | im im as as io
D O      | no  | destructive network    E hints once  | sm im im sm io | im sm im sm io | im im as as io
D o      | yes | destructive read+write C hints once  | sm im im sm io | im sm im sm io | im im as as io
D o      | no  | destructive network    E hints once  | sm im im sm io | im sm im sm io | im im as as io
D I      | yes | destructive network    E hints again | sm im im sm io | im sm im sm io | im im as as io
D I      | no  | destructive network    E hints once  | sm im im sm io | im sm im sm io | im im as as io
D I o    | yes | destructive read+write C hints again | sm im im sm io | im sm im sm io | im im as as io
D I o    | no  | destructive network    E hints once  | sm im im sm io | im sm im sm io | im im as as io
d o      | yes | write       read+write C hints once  | sm im im sm io | im as im as io | im im as as io
d o      | no  | destructive network    E none  once  | sm im im sm io | im sm im sm io | im im as as io
I o      | yes | write       read+write C hints again | sm im im sm io | im as im as io | im im as as io
I o      | no  | destructive network    E none  once  | sm im im sm io | im sm im sm io | im im as as io
RO D o   | yes | destructive read+write C hints once  | sm im im sm io | im sm im sm io | im im as as io
RO D o   | no  | destructive network    E hints once  | sm im im sm io | im sm im sm io | im im as as io
RO D I o | yes | destructive read+write C hints again | sm im im sm io | im sm im sm io | im im as as io
RO D I o | no  | destructive network    E hints once  | sm im im sm io | im sm im sm io | im im as as io
RO d I o | yes | read        read       A hints again | ok im im ok io | im ok im ok io | im im ok ok io
RO d I o | no  | destructive network    E none  once  | sm im im sm io | im sm im sm io | im im as as io
ro d i o | yes | write       read+write C hints once  | sm im im sm io | im as im as io | im im as as io
ro d i o | no  | destructive network    E none  once  | sm im im sm io | im sm im sm io | im im as as io
"""

# The same with strict_server_validation = false. sw: a person is asked, with SERVER_MISMATCH as a warning.
LENIENT: Final = """
RO       | yes | ok im im ok io | im ok im ok io | im im ok ok io
none     | yes | sw im im sw io | im as im as io | im im as as io
o        | yes | sw im im sw io | im as im as io | im im as as io
D        | yes | sw im im sw io | im sw im sw io | im im as as io
RO       | no  | sw im im sw io | im sw im sw io | im im as as io
D        | no  | sw im im sw io | im sw im sw io | im im as as io
none     | no  | sw im im sw io | im sw im sw io | im im as as io
"""

CODES: Final = {
    "im": ("INTENT_MISMATCH", "three_keys"),
    "sm": ("SERVER_MISMATCH", "three_keys"),
    "io": ("INVALID_OPERATION_TYPE", "three_keys"),
}
VARIANTS: Final = ("call_tool_read", "call_tool_write", "call_tool_destructive")
DECLARED: Final = ("read", "write", "destructive", None, "unknown")
NAMES: Final = {"r": "readOnlyHint", "d": "destructiveHint", "i": "idempotentHint", "o": "openWorldHint"}


def annotations(hints: str) -> dict[str, bool] | None:
    """The annotations that a row's first column stands for."""
    if hints == "none":
        return None
    if hints == "empty":
        return {}
    return {NAMES[hint[0].lower()]: hint.isupper() for hint in hints.split()}


def rows(table: str) -> Iterator[list[str]]:
    for line in table.strip().splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if cells[1] in ("yes", "no"):
            yield cells


def verdicts(columns: list[str]) -> list[tuple[str, str | None, str]]:
    """Variant, declared operation, expected verdict of each cell of a row."""
    return [
        (variant, declared, verdict)
        for variant, cells in zip(VARIANTS, columns, strict=True)
        for declared, verdict in zip(DECLARED, cells.split(), strict=True)
    ]


def said(reply: Allow | Ask | Deny) -> str:
    if isinstance(reply, Deny):
        return next((short for short, code in CODES.items() if code == (reply.code, reply.guard)), reply.code)
    warned = {one.code for one in reply.warnings}
    return f"{'sw' if warned == {'SERVER_MISMATCH'} else 'as'}" if isinstance(reply, Ask) else "ok"


@pytest.fixture
def desk(home: Home, tmp_path: Any) -> Declaring:
    return Declaring(home, tmp_path / "work")


def test_every_cell_of_variant_declared_operation_annotations_and_trust(desk: Declaring) -> None:
    desk.grant("network")
    table = list(rows(MATRIX))
    tools = [
        desk.add(f"tool-{n}", annotations(row[0]), trusted=row[1] == "yes") for n, row in enumerate(table)
    ]
    context = desk.context()
    wrong = []
    for manifest, (hints, trust, counts, *columns) in zip(tools, table, strict=True):
        operation, effects, safety, word, again = counts.split()
        found = (manifest.operation, "+".join(manifest.effects), manifest.safety)
        if found != (operation, effects, safety):
            wrong.append((hints, trust, "counts as", found))
        if (manifest.annotated, manifest.idempotent) != (word == "hints", again == "again"):
            wrong.append((hints, trust, "believed", (manifest.annotated, manifest.idempotent)))
        for variant, declared, expected in verdicts(columns):
            reply = decide(desk.call(manifest, variant, declared), context)
            if said(reply) != expected:
                wrong.append((hints, trust, f"{variant} {declared}", f"{said(reply)}, not {expected}"))
    assert wrong == []
    assert len(table) * 15 == 840


class Governed:
    """A folder whose files change only under intents, with this one checked out, or none."""

    def __init__(self, *patterns: str) -> None:
        self._scope = Scope.of(patterns)

    def governed(self) -> bool:
        return True

    def held(self) -> Checkout | None:
        if not self._scope.globs:
            return None
        return Checkout("01M7ZYTDXC181SZJRTQSVQHQBM", "INT-001", self._scope, "ada", "2026-11-23")

    def owners(self, path: str) -> tuple[str, ...]:
        return ()

    def labels(self) -> tuple[str, ...]:
        return ("INT-001",)


def test_every_cell_in_a_folder_that_is_governed_by_intents(desk: Declaring) -> None:
    """Without a checkout what only reads is allowed as ever, and nothing else is even asked about; one of all
    files lets no tool of another server do more than before."""
    desk.grant("network")
    table = list(rows(MATRIX))
    tools = [
        desk.add(f"tool-{n}", annotations(row[0]), trusted=row[1] == "yes") for n, row in enumerate(table)
    ]
    without, everything = desk.context(checkouts=Governed()), desk.context(checkouts=Governed("**"))
    wrong = []
    for manifest, (hints, trust, _, *columns) in zip(tools, table, strict=True):
        for variant, declared, before in verdicts(columns):
            call = desk.call(manifest, variant, declared)
            looks = manifest.operation == "read" or before not in ("ok", "as")
            expected = before if looks else "NO_INTENT_DECLARED"
            found = (said(decide(call, without)), said(decide(call, everything)))
            if found != (expected, before):
                wrong.append((hints, trust, variant, declared, found))
    assert wrong == []


def test_every_cell_where_the_operator_made_a_warning_of_a_mismatch_with_the_server(desk: Declaring) -> None:
    desk.grant("network")
    desk.policy("[intent_declaration]\nstrict_server_validation = false\n")
    table = list(rows(LENIENT))
    tools = [
        desk.add(f"tool-{n}", annotations(row[0]), trusted=row[1] == "yes") for n, row in enumerate(table)
    ]
    context = desk.context()
    for manifest, (hints, trust, *columns) in zip(tools, table, strict=True):
        for variant, declared, expected in verdicts(columns):
            reply = decide(desk.call(manifest, variant, declared), context)
            assert said(reply) == expected, (hints, trust, variant, declared)


def test_the_call_that_is_recommended_is_never_a_mismatch(desk: Declaring) -> None:
    desk.grant("network")
    table = list(rows(MATRIX))
    for n, row in enumerate(table):
        manifest = desk.add(f"tool-{n}", annotations(row[0]), trusted=row[1] == "yes")
        reply = decide(desk.call(manifest, call_with(manifest.operation), None), desk.context())
        assert said(reply) in ("ok", "as"), row


def test_without_a_grant_of_the_network_what_goes_there_is_refused_whatever_is_declared(
    desk: Declaring,
) -> None:
    for hints, trusted, expected in [
        ("RO", True, "CAPABILITY_DENIED"),
        ("RO o", True, "ok"),
        ("o", True, "as"),
        ("D o", True, "as"),
        ("none", False, "CAPABILITY_DENIED"),
    ]:
        manifest = desk.add(
            f"t{hints.replace(' ', '-').lower()}{trusted}", annotations(hints), trusted=trusted
        )
        reply = decide(desk.call(manifest, call_with(manifest.operation), None), desk.context())
        assert said(reply) == expected, hints
