"""get_intent: an intent as it is now. It reads, and changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from mcl.serve.exchange import Caller, Json, Reply
from mcl.serve.offered.offered import LOOKS, Offered
from mcl.serve.offered.telling import ACCEPT_FIRST, of_intent

if TYPE_CHECKING:
    from mcl.serve.service.service import Service


async def _run(session: Service, arguments: Json, caller: Caller) -> Reply:
    from mcl.usecases.intents import show

    found = show(str(arguments["intent"]), home=session.home)
    return Reply(cast(Json, session.redactor.value(of_intent(session.home, found))))


OFFERED: Final = Offered(
    name="get_intent",
    title="Look at an intent",
    description="The Intent, its plan, its state (clarifying, proposed, accepted, executing, completed,"
    " failed, cancelled), what its nodes gave, the evidence it ended with, questions that wait for a"
    f" person, and how it goes on. {ACCEPT_FIRST}",
    input_schema={
        "type": "object",
        "properties": {
            "intent": {
                "type": "string",
                "minLength": 1,
                "description": "Its id, a unique beginning of one, or @last.",
            }
        },
        "required": ["intent"],
        "additionalProperties": False,
    },
    output_schema={
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "state": {"type": "string"},
            "prose": {"type": "string"},
            "intent": {"type": ["object", "null"]},
            "plan": {"type": ["object", "null"]},
            "questions": {"type": "array", "items": {"type": "object"}},
            "nodes": {"type": "object"},
            "outputs": {"type": "object"},
            "evidence": {"type": ["object", "null"]},
            "gates": {"type": "array", "items": {"type": "object"}},
            "how_to_go_on": {"type": "string"},
        },
        "required": ["id", "state"],
    },
    annotations=LOOKS,
    run=_run,
    example={"intent": "@last"},
)
