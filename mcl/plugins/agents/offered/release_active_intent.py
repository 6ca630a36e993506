"""release_active_intent: an agent gives up the work that it has checked out, done or not."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from anyio import to_thread

from mcl.plugins.agents.governed.here import here_of
from mcl.serve.exchange import Caller, Json, Reply
from mcl.serve.offered.tool import KEEPS, Offered

if TYPE_CHECKING:
    from mcl.serve.service import Service


async def _run(session: Service, arguments: Json, caller: Caller) -> Reply:
    from mcl.plugins.agents.usecases import release_work

    agent, root = here_of(session.folders).name_of(caller), session.workspace.root
    lease = await to_thread.run_sync(partial(release_work, agent=agent, root=root, home=session.home))
    return Reply({"released": lease.label, "intent_id": lease.intent_id, "agent": lease.agent})


OFFERED: Final = Offered(
    name="release_active_intent",
    title="Give up an intent",
    description="Give up the intent that you selected, to switch to another or because you cannot go on. What"
    " you changed stays, the intent stays IN_PROGRESS, and another agent may select it.",
    input_schema={"type": "object", "properties": {}, "additionalProperties": False},
    output_schema={
        "type": "object",
        "properties": {
            "released": {"type": "string"},
            "intent_id": {"type": "string"},
            "agent": {"type": "string"},
        },
        "required": ["released"],
    },
    annotations=KEEPS,
    run=_run,
    example={},
)
