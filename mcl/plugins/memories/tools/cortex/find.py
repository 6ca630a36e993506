"""Finds memories."""

from collections.abc import Mapping
from typing import Any, Final

from executor.sandbox.redaction import visible
from executor.store.home import Home
from executor.tools.tool import Bench
from mcl.memory import MemoryStore

_TOLD: Final = ("uri", "type", "id", "version", "at", "text", "tags", "importance", "confidence", "source")
_MOST: Final = 200_000  # characters of all texts together: as JSON they fit into max_output


def run(args: Mapping[str, Any], bench: Bench, home: Home) -> dict[str, object]:
    """Answer with the memories, best first, and the snapshot they are from."""
    store = MemoryStore(home)
    snapshot = store.snapshot()
    found = store.memories(snapshot).find(
        near=args.get("near", ""), types=args.get("types", ()), tags=args.get("tags", ()), limit=args["limit"]
    )
    told: list[dict[str, object]] = []
    left = _MOST
    for memory in found:
        if (left := left - len(memory.text)) < 0:
            break
        fields = {name: getattr(memory, name) for name in _TOLD}
        texts = {"text": visible(memory.text), "source": visible(memory.source), "tags": list(memory.tags)}
        told.append(fields | texts)
    return {
        "text": "\n".join(f"{one['uri']}  {one['text']}" for one in told) or "nothing is remembered of it",
        "memories": told,
        "count": len(told),
        "size": snapshot.size,
        "root": snapshot.root,
    }
