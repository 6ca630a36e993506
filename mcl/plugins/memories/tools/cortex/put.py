"""Remembers something."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from executor.core.errors import ToolError
from executor.sandbox.redaction import visible
from executor.store.home import Home
from executor.tools.tool import Bench
from mcl.memory import Memory, MemoryStore, new_memory
from mcl.memory.lessons import PINNED, TAG

# What mcl itself goes by (answers that were learned, settings, what comes first in every prompt) is a
# person's to say.
_OWN_TAGS: Final = (PINNED, TAG)
_OWN: Final = "mcl."  # how ids and tags begin that mcl itself gives


def run(args: Mapping[str, Any], bench: Bench, home: Home) -> dict[str, object]:
    """Remember the text, from this intent and node; answer with the address of the version that says it."""
    store, base = MemoryStore(home), args.get("base", "")
    with home.db.write():  # what was looked at is what is followed by the next version
        memory = _made(args, bench, home)
        current = store.memories().resolve(memory.address)
        if current is not None and _same(current, memory):
            return _told(current, written=False)
        if current is not None and current.uri != base:
            raise ToolError(
                "STALE_MEMORY" if base else "EXISTS",
                f"{current.uri} says something else" if base else f"{current.uri} is remembered already",
                place=memory.address,
                fix=f"read it, then put with base = {current.uri}, or choose another id",
            )
        if current is None and base:
            raise ToolError(
                "STALE_MEMORY",
                f"nothing is remembered at {memory.address}",
                place=memory.address,
                fix="put it without base",
            )
        return _told(store.write([memory])[0], written=True)


def _made(args: Mapping[str, Any], bench: Bench, home: Home) -> Memory:
    """The memory of a call. Raises MemoryStoreError MEMORY_SHAPE; ToolError RESERVED_MEMORY."""
    tags = args.get("tags", [])
    about = [["about", uri] for uri in args.get("about", [])]
    made = new_memory(
        {
            "type": args["type"],
            "text": visible(args["text"]),
            "id": args.get("id", ""),
            "tags": tags,
            "edges": [["of", f"matrix://intent/{bench.intent}"], *about],
            "importance": args["importance"],
            "confidence": args["confidence"],
            "source": f"matrix://intent/{bench.intent}#{bench.node_id}",
            "data": {"intent": bench.intent, "node": visible(bench.node_id)[:200]},
        },
        at=home.clock.now(),
    )
    own = {*_OWN_TAGS, *(tag for tag in made.tags if tag.startswith(_OWN))}
    if made.id.startswith((f"{TAG}-", _OWN)) or own & set(made.tags):
        raise ToolError(
            "RESERVED_MEMORY",
            "ids that begin with learned- or mcl., and the tags learned, pinned and mcl.…, are for people",
            place=made.address,
            fix="choose another id or tag; a person pins a memory with mcl memory add",
        )
    return made


def _same(current: Memory, memory: Memory) -> bool:
    """Does the current version say this, whoever said it?"""
    said = replace(
        memory, version=current.version, at=current.at, seq=current.seq,
        source=current.source, data=current.data, edges=current.edges,
    )  # fmt: skip
    return said == current and set(memory.edges[1:]) <= set(current.edges)


def _told(memory: Memory, *, written: bool) -> dict[str, object]:
    return {
        "text": f"{memory.uri} {'remembered' if written else 'was remembered already'}",
        "uri": memory.uri,
        "type": memory.type,
        "id": memory.id,
        "version": memory.version,
        "written": written,
        "source": visible(memory.source),
    }
