"""select_active_intent: an agent checks out work that a person signed, and is told what holds for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from anyio import to_thread

from executor.gate.checkout import intent_already_active
from mcl.plugins.agents.governed.here import here_of
from mcl.plugins.agents.work.selecting import SelectResult, select
from mcl.plugins.agents.work.store import find_root
from mcl.serve.exchange import Caller, Json, Reply, refused
from mcl.serve.offered.tool import KEEPS, Offered

if TYPE_CHECKING:
    from mcl.serve.service import Service

_EXAMPLE: Final = {"intent_id": "INT-001"}
_LIST: Final = "list_active_intents says what there is"


async def _run(session: Service, arguments: Json, caller: Caller) -> Reply:
    label, agent = str(arguments["intent_id"]), here_of(session.folders).name_of(caller)
    here = here_of(session.folders)
    root = find_root(here.work, session.workspace.root)
    result = await to_thread.run_sync(select, here.home, here.work, here.leases, root, label, agent)
    if not result.success:
        held = here.leases.held(root, agent)
        return _refused(result, label, held.label if held else "")
    text = [f"Intent {label} is active until {result.expires_at}, and longer while you work.", result.context]
    text += [f"Note: {warning}" for warning in result.warnings]
    told = cast(Json, session.redactor.value(result.to_json()))
    return Reply(told, [{"type": "text", "text": session.redactor.text("\n\n".join(text))}])


def _refused(result: SelectResult, label: str, held: str) -> Reply:
    said: dict[str, object] = {"success": False, "error": result.error}
    if result.code != "INTENT_ALREADY_ACTIVE" or not held:
        blocked = result.code not in ("NOT_FOUND", "INVALID_ID_FORMAT", "NOT_IMPORTED")
        return refused(result.code, result.error, fix=_LIST, example=_EXAMPLE, data=said, blocked=blocked)
    violation = intent_already_active(held, label)
    data = {**said, **violation.parts, "active": held}
    return refused(
        result.code,
        result.error,
        fix=violation.action,
        example=violation.example,
        data=data,
        blocked=True,
    )


OFFERED: Final = Offered(
    name="select_active_intent",
    title="Check out an intent",
    description="Select the intent that you work on, before you change files in a folder for which a person"
    " signed work; without one such calls are refused. The answer has its scope (the files that you may"
    " change), its constraints and its acceptance criteria. One at a time: complete_intent or"
    " release_active_intent ends it, and so do some minutes without a call.",
    input_schema={
        "type": "object",
        "properties": {
            "intent_id": {
                "type": "string",
                "maxLength": 200,
                "description": "Its id, such as INT-001, as list_active_intents tells it.",
            }
        },
        "required": ["intent_id"],
        "additionalProperties": False,
    },
    output_schema={
        "type": "object",
        "properties": {
            "success": {"type": "boolean"},
            "context": {"type": "string"},
            "intent": {"type": "object"},
            "warnings": {"type": "array", "items": {"type": "string"}},
            "expires_at": {"type": "string"},
        },
        "required": ["success"],
    },
    annotations=KEEPS,
    run=_run,
    example=_EXAMPLE,
)
