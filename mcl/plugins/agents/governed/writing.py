"""What a call in a governed folder reads and leaves: kept before it is made, traced when it has ended."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Final

from anyio import CancelScope, to_thread

from executor.core.errors import ScopeError
from executor.tools.manifest import Manifest
from executor.walker.undo.images import NO_FILE, OUTSIDE
from ir import MclError
from mcl.plugins.agents.governed.here import Governed
from mcl.plugins.agents.writes.images import Caller, keep, left
from mcl.plugins.agents.writes.tracing import trace_writes
from mcl.serve.governed import Judged, Watch

_READS: Final = "matrix://tool/fs/read@"  # answers with the sha256 of the file that it read


@asynccontextmanager
async def watched(
    governed: Governed, judged: Judged, manifest: Manifest, warn: Callable[[str, str], None]
) -> AsyncIterator[Watch]:
    """While this lasts the call is made.

    Files that it may change are kept first, so that `mcl undo` of the intent puts them back. However it ends,
    what it changed is traced then, and what its agent saw is noted. warn: takes code and words of what could
    not be, once the call was made.

    Raises:
        ScopeError, HomeError: a file could not be kept; the call must not be made.
    """
    watch = Watch()
    writes, gone = bool(judged.intent_id), False
    node = f"call-{governed.here.home.clock.new_id()}"
    if writes:
        await to_thread.run_sync(_kept, governed, judged, manifest, node)
    try:
        yield watch
    except ScopeError as problem:
        gone = problem.code == "NOT_FOUND"
        raise
    finally:
        with CancelScope(shield=True):
            try:
                if writes:
                    await to_thread.run_sync(_traced, governed, manifest, node, watch.answer)
                elif manifest.uri.startswith(_READS) and (watch.answer is not None or gone):
                    said = watch.answer["sha256"] if watch.answer is not None else None
                    await to_thread.run_sync(_see, governed, judged.call.args.get("path"), said)
            except MclError as problem:  # what was done is done, and its answer goes out
                warn(problem.code, problem.message)


def _kept(governed: Governed, judged: Judged, manifest: Manifest, node: str) -> None:
    here, context = governed.here, judged.context
    classes, paths = context.effect(judged.call, manifest).classes, context.paths(judged.call, manifest)
    why = next((OUTSIDE[name] for name in sorted(classes & OUTSIDE.keys())), "")
    why = why or ("" if any(mode not in ("read", "list") for _, mode in paths) else NO_FILE)
    intent, tool, held = judged.intent_id, manifest.uri, governed.held()
    assert held is not None, "what writes holds something"
    here.recover(governed.root)
    caller = Caller(here.callers.name, held.label, manifest.name, governed.agent)
    keep(
        *(here.home, here.workspace, paths),
        intent=intent,
        node=node,
        tool=tool,
        why_not=why,
        root=governed.root,
        caller=caller,
    )


def _traced(governed: Governed, manifest: Manifest, node: str, answer: Mapping[str, object] | None) -> None:
    here, held = governed.here, governed.held()
    assert held is not None, "what writes holds something"
    changed = left(here.home, here.workspace, intent=held.intent_id, node=node, answer=answer)
    if not changed and answer is not None and "path" in answer and "sha256" in answer:
        _see(governed, answer["path"], answer["sha256"])  # what was there already, it knows now
    trace_writes(
        here.home,
        governed.root,
        here.workspace,
        changed,
        label=held.label,
        intent_id=held.intent_id,
        tool=manifest.name,
        agent=governed.agent,
        node=node,
    )


def _see(governed: Governed, path: object, sha256: object) -> None:
    file = governed.file(str(path))
    if file is not None:
        known = sha256 if isinstance(sha256, str) else None
        governed.here.seen.note(governed.root, governed.agent, file, known)
