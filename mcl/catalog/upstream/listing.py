"""Everything that a server lists of a kind, page by page: bounded, and no page twice."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final, Literal, TypeAlias

from executor.core.hashing import json_size
from mcl.catalog.upstream.faults import FaultError, lied, too_large

Kind: TypeAlias = Literal["tools", "resources", "templates", "prompts"]
KINDS: Final[tuple[Kind, ...]] = ("tools", "resources", "templates", "prompts")
MOST_PAGES: Final = 200
MOST_ITEMS: Final = 10_000
MOST_BYTES: Final = 32 << 20
MOST_CURSOR: Final = 4096  # characters

# Where each is asked for; under which name it comes; what tells two of them apart.
METHODS: Final[dict[Kind, str]] = {
    "tools": "tools/list",
    "resources": "resources/list",
    "templates": "resources/templates/list",
    "prompts": "prompts/list",
}
_MEMBERS: Final[dict[Kind, str]] = {
    "tools": "tools",
    "resources": "resources",
    "templates": "resourceTemplates",
    "prompts": "prompts",
}
_KEYS: Final[dict[Kind, str]] = {
    "tools": "name",
    "resources": "uri",
    "templates": "uriTemplate",
    "prompts": "name",
}


async def all_pages(
    kind: Kind, page: Callable[[str | None], Awaitable[dict[str, Any]]]
) -> tuple[dict[str, Any], ...]:
    """All items, in the order they came; of two resources or prompts of one name the first.

    Two tools of one name both come: which of them is meant nobody knows, and neither is used (definitions).

    Args:
        page: asks for the page behind a cursor (None: the first) and gives the answer.

    Raises:
        FaultError: SERVER_LIED, RESULT_TOO_LARGE; and what ``page`` raises.
    """
    items: list[dict[str, Any]] = []
    names: set[object] = set()
    cursors: set[str] = set()
    cursor: str | None = None
    size = 0
    for _ in range(MOST_PAGES):
        answer = await page(cursor)
        size += json_size(answer) or MOST_BYTES + 1
        for item in answer.get(_MEMBERS[kind], []):
            name = item.get(_KEYS[kind])
            if kind == "tools" or name not in names:
                items.append(item)
            names.add(name)
        if len(items) > MOST_ITEMS or size > MOST_BYTES:
            raise FaultError(
                too_large(f"lists more than {MOST_ITEMS} {kind}, or {MOST_BYTES >> 20} MiB of them")
            )
        cursor = answer.get("nextCursor")
        if cursor is None:
            return tuple(items)
        if not isinstance(cursor, str) or len(cursor) > MOST_CURSOR or cursor in cursors:
            raise FaultError(lied(f"lists its {kind} in pages that lead back to one another"))
        cursors.add(cursor)
    raise FaultError(too_large(f"lists its {kind} in more than {MOST_PAGES} pages"))
