"""Remembers a text that reviews of this workspace are told."""

from collections.abc import Mapping
from typing import Any

from executor.sandbox.redaction import visible
from executor.store.home import Home
from executor.tools.tool import Bench
from mcl.plugins.review.memory.history import ReviewMemories


def run(args: Mapping[str, Any], bench: Bench, home: Home) -> dict[str, object]:
    """Remember it, from this intent and node; answer with the address of the version that says it."""
    told = ReviewMemories(home, bench.workspace.root).meanings.remember(
        str(args["text"]),
        kind=args["kind"],
        tags=args.get("tags", ()),
        source=str(args.get("source", ""))
        or visible(f"matrix://intent/{bench.intent}#{bench.node_id}")[:500],
        keep=True,
    )
    return {"id": told.id, "uri": told.uri, "kind": told.kind, "text": f"{told.uri} {told.text}"}
