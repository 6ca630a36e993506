"""What was done of an intent before, and who may go on with it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from executor.core.errors import WalkError
from executor.core.files import locked
from executor.gate.budget import Used
from executor.store.database import explain_os
from executor.store.journal.journal import Journal
from executor.store.lifecycle.view import View
from ir import Envelope, IntentDispatchBody, PlanStepBody, PolicyGateBody
from ir.scalars import ULID_PATTERN

# ---- One process at a time runs an intent. The operating system frees the lock when that process dies.


@contextmanager
def run_lock(home: Path, intent_id: str) -> Iterator[None]:
    """Hold the run of an intent.

    Args:
        home: folder of the home. intent_id: a ULID; it becomes a file name.

    Raises:
        WalkError: UNKNOWN_INTENT, that is no ULID; ALREADY_RUNNING, another process (or task) holds it.
        HomeError: the home cannot be written to.
    """
    if not re.fullmatch(ULID_PATTERN, intent_id):
        raise WalkError(
            "UNKNOWN_INTENT", "this is no id of an intent", place=intent_id, fix="mcl list shows them"
        )
    folder = home / "leases"
    busy = WalkError(
        "ALREADY_RUNNING",
        "another process runs this intent",
        place=intent_id,
        fix="let it finish, or end it and run again with --resume",
    )
    with ExitStack() as held:
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            held.enter_context(locked(folder / intent_id, busy=busy))
        except OSError as problem:
            raise explain_os(problem, folder) from problem
        yield


# ---- What the journal says of earlier runs of the same plan.


@dataclass(frozen=True, slots=True)
class Begun:
    """The last time that a node began: id and time of the record, and what it says (attempt, key, …).
    asked: the gates of this node that stand behind it in the journal, in that order."""

    id: str
    at: str
    told: dict[str, Any]
    asked: list[str] = field(default_factory=list)


@dataclass(slots=True)
class RunHistory:
    """By node id: last state, number of attempts, outputs of completed nodes, the first and the last start,
    and what was used of the budget. dispatched: the bytes of the Intents that were handed on. restarts: how
    often corrections had nodes run again by then."""

    states: dict[str, str] = field(default_factory=dict)
    attempts: dict[str, int] = field(default_factory=dict)
    outputs: dict[str, object] = field(default_factory=dict)
    began: dict[str, str] = field(default_factory=dict)
    begun: dict[str, Begun] = field(default_factory=dict)
    used: dict[str, Used] = field(default_factory=dict)
    dispatched: set[bytes] = field(default_factory=set)
    started_at: str = ""
    restarts: int = 0

    def in_doubt(self, node_id: str) -> bool:
        """Was the node begun, and nobody knows how far it came? What failed may have had effects too."""
        settled = (None, "pending", "completed")
        return bool(self.attempts.get(node_id)) and self.states.get(node_id) not in settled

    def used_below(self, prefix: str = "") -> Used:
        """What the nodes whose ids begin like this used."""
        return sum((used for id, used in self.used.items() if id.startswith(prefix)), Used())


def run_history(journal: Journal, intent: str, view: View) -> RunHistory:
    """What was done of an intent before, whose view is this."""
    if view.state in ("executing", "completed") or view.corrections:
        return read_run_history(journal.envelopes(intent), view)
    return RunHistory(restarts=view.restarts)


def read_run_history(envelopes: Iterable[Envelope], view: View) -> RunHistory:
    """Read the plan.step envelopes of an intent; view: what they add up to.

    Attempts, and what was used of the budget, count for ever; time since the last accept. A node that runs
    again after a correction has no state in the view: it is as new.
    """
    earlier = RunHistory(restarts=view.restarts)
    for envelope in envelopes:
        body = envelope.body
        if envelope.kind == "intent.accept":
            earlier.started_at = ""
        if isinstance(body, IntentDispatchBody):
            earlier.dispatched.add(body.sub_intent_json)
        if isinstance(body, PolicyGateBody) and body.node_id in earlier.begun:
            earlier.begun[body.node_id].asked.append(envelope.id)
        if not isinstance(body, PlanStepBody):
            continue
        node = body.node_id
        earlier.started_at = earlier.started_at or envelope.at
        if body.status == "running":
            told = json.loads(body.result) if body.result else {}
            earlier.attempts[node] = told.get("attempt", earlier.attempts.get(node, 0) + 1)
            earlier.used[node] = earlier.used.get(node, Used()) + _used(told)
            earlier.began.setdefault(node, envelope.at)
            earlier.begun[node] = Begun(envelope.id, envelope.at, told)
        elif body.status == "completed" and body.result:
            earlier.outputs[node] = json.loads(body.result)
    earlier.states = dict(view.nodes)
    for told in (earlier.began, earlier.begun, earlier.outputs):
        for node in [node for node in told if node not in view.nodes]:
            del told[node]
    return earlier


def _used(told: dict[str, Any]) -> Used:
    cost = told.get("cost")
    costs = {cost["asset"]: Decimal(str(cost["amount"]))} if cost else {}
    return Used(told.get("calls", 0), told.get("agents", 0), costs, frozenset(told.get("files", ())))
