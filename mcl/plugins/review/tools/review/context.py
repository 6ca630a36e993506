"""Tells a review what is remembered and known of its files."""

from collections.abc import Mapping
from typing import Any

from executor.store.home import Home
from executor.tools.tool import Bench
from ir.errors import MclError
from mcl.plugins.review.context import context_for
from mcl.plugins.review.maps.documents import load
from mcl.plugins.review.maps.maps import AgedMaps, Maps
from mcl.plugins.review.memory.history import ReviewMemories


def run(args: Mapping[str, Any], bench: Bench, home: Home) -> dict[str, object]:
    """Answer with the context, and what it is made of. Maps that cannot be read are as none, and said; of a
    file that changed since they were made its symbols are left out."""
    maps, state = _maps(bench)
    memories = ReviewMemories(home, bench.workspace.root)
    now = {str(one["path"]): str(one["sha256"]) for one in args.get("looked", ()) if "sha256" in one}
    known = AgedMaps(maps, now) if maps else None
    told = context_for(memories, known, list(args["files"]), str(args["mode"]), budget=int(args["budget"]))
    return {**told.to_json(), "maps": state}


def _maps(bench: Bench) -> tuple[Maps | None, str]:
    try:
        maps = load(bench.workspace)
    except MclError as error:
        return None, f"unreadable: {error.message}; {error.fix}"
    return maps, "none" if maps is None else "read"
