"""Writes a decision of architecture down."""

from collections.abc import Mapping
from typing import Any

from anyio import from_thread, to_thread

from executor.store.home import Home
from executor.tools.tool import Bench
from mcl.plugins.review.memory.history import ReviewMemories


async def run(args: Mapping[str, Any], bench: Bench, home: Home) -> dict[str, object]:
    """Remember it under the next id and put its file in place; what stands already is not decided twice."""
    return await to_thread.run_sync(_decide, args, bench, home)


def _decide(args: Mapping[str, Any], bench: Bench, home: Home) -> dict[str, object]:
    made, written = ReviewMemories(home, bench.workspace.root).decisions.decide(
        str(args["title"]),
        context=str(args.get("context", "")),
        decision=str(args["decision"]),
        consequences=str(args.get("consequences", "")),
        files=args.get("files", ()),
        status=args["status"],
        kind=args["folder"].rpartition("/")[2],
        intent=bench.intent,
        node=bench.node_id,
        workspace=bench.workspace,
        check=from_thread.check_cancelled,
    )
    said = "decided" if written else "was decided already"
    return {
        "id": made.id,
        "path": made.path,
        "uri": made.uri,
        "written": written,
        "text": f"{made.id} {said}: {made.path}",
    }
