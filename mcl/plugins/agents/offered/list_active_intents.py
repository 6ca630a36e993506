"""list_active_intents: the work that a person signed for this folder, and who holds it. Changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from anyio import to_thread

from mcl.plugins.agents.file.rules import STATUSES
from mcl.plugins.agents.governed.here import here_of
from mcl.plugins.agents.work.selecting import intent_json
from mcl.plugins.agents.work.store import find_root
from mcl.serve.exchange import Caller, Json, Reply
from mcl.serve.offered.tool import LOOKS, Offered

if TYPE_CHECKING:
    from mcl.serve.service import Service

_NONE: Final = (
    "no person signed work for this folder: files are changed as everywhere else; a person signs what"
    " .orchestration/active_intents.yaml says with mcl work import"
)


async def _run(session: Service, arguments: Json, caller: Caller) -> Reply:
    status = str(arguments.get("status_filter") or "")
    told = await to_thread.run_sync(_listed, session, status, here_of(session.folders).name_of(caller))
    return Reply(cast(Json, session.redactor.value(told)))


def _listed(session: Service, status: str, agent: str) -> dict[str, object]:
    here = here_of(session.folders)
    root = find_root(here.work, session.workspace.root)
    held = {lease.label: lease for lease in here.leases.all(root)}
    intents: list[dict[str, object]] = []
    for item in here.work.items(root):
        if status and item.status != status:
            continue
        lease = held.get(item.label)
        about: dict[str, object] = {"held_by": lease.agent, "held_until": lease.expires_at} if lease else {}
        if item.blocked_reason:
            about["blocked_reason"] = item.blocked_reason
        intents.append({**intent_json(item), "dependencies": list(item.dependencies), **about})
    own = next((lease.label for lease in held.values() if lease.agent == agent), "")
    answer: dict[str, object] = {"root": str(root), "agent": agent, "active": own, "intents": intents}
    if not here.work.governed(root):
        answer["note"] = _NONE
    return answer


OFFERED: Final = Offered(
    name="list_active_intents",
    title="List the work that may be done here",
    description="The intents that a person signed for this folder: what each is for, its status, the files"
    " that may be changed under it (owned_scope), its constraints and acceptance criteria, and which agent"
    " holds it. Where there are any, you change files only under one that you selected.",
    input_schema={
        "type": "object",
        "properties": {
            "status_filter": {
                "type": "string",
                "enum": list(STATUSES),
                "description": "Only those with this status; all where it is left out.",
            }
        },
        "additionalProperties": False,
    },
    output_schema={
        "type": "object",
        "properties": {
            "root": {"type": "string"},
            "agent": {"type": "string"},
            "active": {"type": "string"},
            "intents": {"type": "array", "items": {"type": "object"}},
            "note": {"type": "string"},
        },
        "required": ["root", "agent", "active", "intents"],
    },
    annotations=LOOKS,
    run=_run,
    example={},
)
