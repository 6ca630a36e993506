"""complete_intent: an agent proposes that its work is done. What can be looked at is looked at, and what was
put in words waits for a person, who signs it off elsewhere."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final, cast

from anyio import to_thread

from mcl.plugins.agents.governed.here import here_of
from mcl.plugins.agents.work.completing import MAX_NOTES, complete
from mcl.plugins.agents.work.store import find_root
from mcl.serve.exchange import Caller, Json, Reply, refused
from mcl.serve.offered.tool import KEEPS, Offered

if TYPE_CHECKING:
    from mcl.serve.service import Service

_EXAMPLE: Final = {"verification_notes": "all tests in tests/auth pass"}


async def _run(session: Service, arguments: Json, caller: Caller) -> Reply:
    here = here_of(session.folders)
    agent, root = here.name_of(caller), find_root(here.work, session.workspace.root)
    label, notes = (str(arguments.get(name) or "") for name in ("intent_id", "verification_notes"))
    proposed = partial(complete, here.home, here.work, here.leases, root, label, agent, notes=notes)
    result = await to_thread.run_sync(proposed)
    told = cast(Json, session.redactor.value(result.to_json()))
    if result.success:
        return Reply(told)
    fix = "see to what is left, and call it again"
    if result.code == "SIGN_OFF_PENDING":
        fix = f"ask a person to sign off what is left, which ends it: mcl work complete {result.label}"
    return refused(result.code, result.error, fix=fix, example=_EXAMPLE, data=told, blocked=True)


OFFERED: Final = Offered(
    name="complete_intent",
    title="Propose that an intent is done",
    description="Say that the intent which you selected is done, and how you saw to it. Criteria that can be"
    " looked at are looked at; those in words wait for a person (SIGN_OFF_PENDING), who signs them off on a"
    " terminal: ask for that. When all of them hold the intent is DONE, and you hold it no more.",
    input_schema={
        "type": "object",
        "properties": {
            "intent_id": {
                "type": "string",
                "maxLength": 200,
                "description": "Its id, such as INT-001; what you selected where it is left out.",
            },
            "verification_notes": {
                "type": "string",
                "maxLength": MAX_NOTES,
                "description": "What shows that the criteria are met; for the person who signs off.",
            },
        },
        "additionalProperties": False,
    },
    output_schema={
        "type": "object",
        "properties": {
            "success": {"type": "boolean"},
            "id": {"type": "string"},
            "status": {"type": "string"},
            "criteria": {"type": "array", "items": {"type": "object"}},
            "left": {"type": "array", "items": {"type": "string"}},
            "warnings": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["success", "id", "status"],
    },
    annotations=KEEPS,
    run=_run,
    example=_EXAMPLE,
)
