"""Looking at the address of an external success criterion, through the gate like any call."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio

from executor.engine.protocol import Failure
from executor.errors import ToolError, UnresolvedError
from executor.gate.call import Call
from executor.references import typed_args
from executor.sandbox.redaction import visible
from executor.walker.check import GRAMMAR, parse_check
from executor.walker.leave import get_leave
from executor.walker.predicates import Criterion
from ir import ExternalPredicate, MclError

if TYPE_CHECKING:
    from executor.gate.context import Context
    from executor.walker.run import Run


async def external(predicate: ExternalPredicate, id: str, context: Context, run: Run) -> Criterion:
    """Does the check hold at the address? A host that was not granted is asked about.

    id: what the criterion is called (``Mandate.criterion_id``). What was found is kept as a record too.
    """
    evidence: dict[str, object] = {"url": predicate.url, "check": predicate.check}
    check = parse_check(predicate.check)
    if not predicate.url:
        return Criterion(predicate, False, "it names no address (url) that could be looked at", evidence)
    if check is None:
        why = f"its check {visible(predicate.check)[:200]!r} is not understood; write {GRAMMAR}"
        return Criterion(predicate, False, why, evidence)
    found = await _look(id, context, run)
    if isinstance(found, Failure):
        return Criterion(predicate, False, f"{found.code}: {found.message}", evidence)
    status, answer = found
    evidence |= {"status": status, **({"sha256": answer["sha256"]} if answer else {})}
    flaw = check.flaw(status, answer)
    run.ledger.note("looked", {"node": id, "holds": not flaw, **evidence})
    return Criterion(predicate, not flaw, flaw, evidence)


async def _look(id: str, context: Context, run: Run) -> tuple[int, dict[str, object]] | Failure:
    """Status and answer (empty for an error) of the address, else why it could not be looked at."""
    assert context.mandate is not None, "criteria are those of a mandate"
    planned = context.mandate.criteria[id]
    manifest = run.registry.find(planned.tool_ref)
    try:
        args = typed_args(planned.args, manifest, run.outputs)
    except UnresolvedError as problem:
        return Failure(problem.code, problem.message, problem.fix, id)
    allowed = await get_leave(
        Call(planned.tool_ref, args, planned.side_effect_class, id), context, run.asking
    )
    if isinstance(allowed, Failure):
        return allowed
    call, leave = allowed
    assert manifest is not None, "the gate allowed an unknown tool"
    limit = manifest.timeout_ms / 1000
    if context.spending is not None:
        context.spending.begin(manifest.cost)
        left = context.spending.seconds_left()
        limit = limit if left is None else min(limit, left)
    try:
        with anyio.fail_after(limit):
            answer = await run.registry.invoke(
                leave,
                call,
                workspace=context.workspace,
                clock=context.clock,
                redactor=run.redactor,
                credentials=context.credentials,
                intent=run.ledger.intent_id,
            )
    except TimeoutError:
        return Failure("TIMEOUT", f"no answer within {limit:g} s", "", id)
    except ToolError as problem:
        if problem.code == "HTTP_STATUS":
            return int(str(problem.data["status"])), {}
        return _refused(problem, id, run)
    except MclError as problem:
        return _refused(problem, id, run)
    return int(str(answer["status"])), answer


def _refused(problem: MclError, id: str, run: Run) -> Failure:
    return Failure(problem.code, visible(run.redactor.text(problem.message)), problem.fix, id)
