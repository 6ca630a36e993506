"""Looking at the typed criteria of a piece of work: each is looked at, and what was found is evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import anyio

from executor.call import Allow, Call, Declaration
from executor.gate.approvals import Approvals
from executor.gate.context import Context
from executor.gate.decide import decide
from executor.gate.grants import Grants
from executor.gate.locks import Locks
from executor.gate.page import GRAMMAR, parse_check
from executor.gate.pins import Pins
from executor.gate.policy import PolicyFile
from executor.gate.verdict import Ask
from executor.sandbox.paths import Workspace
from executor.sandbox.reach import allowed_roots
from executor.sandbox.redaction import Redactor, visible
from executor.store.home import Home
from executor.tools.registry import Registry
from executor.walker.criteria import Criterion, attestations, attested, delivered, unsupported
from ir import (
    AttestationPredicate,
    DeliveredPredicate,
    ExternalPredicate,
    Intent,
    MclError,
    Predicate,
)
from mcl.catalog.tools.foreign import all_tools
from mcl.core.event_loop import at_once

_REQUEST: Final = "matrix://tool/http/request@1.0.0"


def look(home: Home, root: Path, intent: Intent, place: int, predicate: Predicate) -> Criterion:
    """Does a criterion that needs no person hold now?

    place: which of the Intent's it is. An address is looked at through the gate, as any call: only on hosts
    that were granted. Raises HomeError, ScopeError where the folder cannot be opened.
    """
    if isinstance(predicate, AttestationPredicate):
        return attested(predicate, attestations(home))
    if not isinstance(predicate, DeliveredPredicate | ExternalPredicate):
        return unsupported(predicate)
    workspace = Workspace(root, forbidden=[home.path])
    try:
        if isinstance(predicate, DeliveredPredicate):
            return delivered(predicate, intent, workspace)
        return _external(home, workspace, intent, place, predicate)
    finally:
        workspace.close()


@dataclass(frozen=True)
class _Seen:
    """What an address answered, or why it was not looked at."""

    status: int = 0
    answer: Mapping[str, object] | None = None
    reason: str = ""


def _external(
    home: Home, workspace: Workspace, intent: Intent, place: int, predicate: ExternalPredicate
) -> Criterion:
    evidence: dict[str, object] = {"url": predicate.url, "check": predicate.check}
    check = parse_check(predicate.check)
    if check is None:
        why = f"its check {visible(predicate.check)[:200]!r} is not understood; write {GRAMMAR}"
        return Criterion(predicate, False, why, evidence)
    seen = _seen(home, workspace, intent, place, predicate.url)
    if seen.reason:
        return Criterion(predicate, False, seen.reason, evidence)
    flaw = check.flaw(seen.status, seen.answer or {})
    hashed = {"sha256": seen.answer["sha256"]} if seen.answer else {}
    return Criterion(predicate, not flaw, flaw, {**evidence, "status": seen.status, **hashed})


def _seen(home: Home, workspace: Workspace, intent: Intent, place: int, url: str) -> _Seen:
    registry, redactor = all_tools(home), Redactor()
    said = Declaration("read", "internal", "a success criterion names this address")
    call = Call(_REQUEST, {"method": "GET", "url": url}, "", f"success[{place}]", declaration=said)
    leave = decide(call, _context(home, workspace, registry))
    if isinstance(leave, Ask):
        return _Seen(reason=f"nobody allowed to look there: {' '.join(leave.why)}")
    if not isinstance(leave, Allow):
        return _Seen(reason=f"{leave.code}: {leave.reason}; {leave.fix}")

    async def fetch() -> dict[str, object]:
        manifest = registry.find(_REQUEST)
        assert manifest is not None, "the gate allowed an unknown tool"
        with anyio.fail_after(manifest.timeout_ms / 1000):
            return await registry.invoke(
                leave, call, workspace=workspace, clock=home.clock, redactor=redactor, intent=intent.id
            )

    try:
        answer = at_once(fetch)
    except TimeoutError:
        return _Seen(reason="TIMEOUT: no answer in time")
    except MclError as problem:
        if problem.code == "HTTP_STATUS":
            return _Seen(int(str(problem.data["status"])))
        return _Seen(reason=visible(redactor.text(f"{problem.code}: {problem.message}")))
    return _Seen(int(str(answer["status"])), answer)


def _context(home: Home, workspace: Workspace, registry: Registry) -> Context:
    agent, pins, grants = home.keyring.agent.did, Pins(home), Grants(home)
    pins.meet(registry.own)
    return Context(
        agent=agent,
        tools=registry,
        workspace=workspace,
        policy=PolicyFile(home, registry),
        pins=pins,
        grants=grants,
        approvals=Approvals(home),
        clock=home.clock,
        record=lambda kind, body: None,  # what was found, or why not, stands in the proposal's record
        locks=Locks(),
        moment=home.db.moment,
        allowed=allowed_roots(home.allowed, home.path),
    )
