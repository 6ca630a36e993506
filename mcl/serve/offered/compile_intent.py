"""compile_intent: a goal in plain words becomes an Intent with a plan, questions, or a refusal. Nothing runs,
and nothing is accepted: a person does that."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from mcl.core.errors import McpError
from mcl.serve.exchange import Caller, Json, Reply
from mcl.serve.offered.offered import KEEPS, Offered
from mcl.serve.offered.telling import ACCEPT_FIRST, of_compile

if TYPE_CHECKING:
    from mcl.serve.service.service import Service

_EXAMPLE: Final = {"goal": "which files in notes mention invoice"}
_GOAL: Final = 'goal = "which files in notes mention invoice"'
_ANSWERS: Final = 'intent = "01K…", answers = {"u1": "notes"}'


async def _run(session: Service, arguments: Json, caller: Caller) -> Reply:
    """Compile a goal, or compile an intent again with answers to its questions."""
    goal, intent, answers = (arguments.get(name) for name in ("goal", "intent", "answers"))
    if (goal is None) == (intent is None):
        raise McpError(
            "GOAL_OR_INTENT",
            "give a goal, or the id of an intent with answers to its questions",
            place="goal",
            fix="a new goal: goal alone; answers: intent and answers",
            example=_GOAL if goal is None else _ANSWERS,
        )
    if (intent is None) != (answers is None):
        raise McpError(
            "ANSWERS_WITHOUT_INTENT" if intent is None else "ANSWER_MISSING",
            "answers go with the id of the intent that asked" if intent is None else "no answers are given",
            place="answers",
            fix="give intent and answers together",
            example=_ANSWERS,
        )
    await caller.channel.progress(0, 1, "compiling")
    if intent is not None:
        assert isinstance(answers, Mapping)
        texts = {str(name): str(text) for name, text in answers.items()}
        result = await session.compiling.answer(str(intent), texts)
    else:
        fixed = {name: str(arguments[name]) for name in ("skill", "verb", "zone") if name in arguments}
        result = await session.compiling.compile(str(goal), **fixed)
    await caller.channel.progress(1, 1, "compiled")
    return Reply(of_compile(result))


OFFERED: Final = Offered(
    name="compile_intent",
    title="Compile a goal",
    description="Turn a goal in plain words into an Intent with a plan, signed and kept. The answer has"
    " status compiled (then a person accepts it on a terminal: mcl accept ID, and run_intent runs it),"
    " clarify (call again with intent and answers, one for each question id) or refused. Nothing runs,"
    f" and this tool accepts nothing. {ACCEPT_FIRST}",
    input_schema={
        "type": "object",
        "properties": {
            "goal": {
                "type": "string",
                "minLength": 1,
                "description": "What is wanted, in plain words, at most 8192 characters.",
            },
            "intent": {
                "type": "string",
                "minLength": 1,
                "description": "Instead of goal: the id of an intent that asked questions.",
            },
            "answers": {
                "type": "object",
                "additionalProperties": {"type": "string"},
                "minProperties": 1,
                "description": "With intent: an answer for each question id; an empty text drops its field.",
            },
            "skill": {"type": "string", "minLength": 1, "description": "Use this skill; choose none."},
            "verb": {"type": "string", "minLength": 1, "description": "Use this verb; choose none."},
            "zone": {
                "type": "string",
                "minLength": 1,
                "description": "IANA time zone that dates in the goal are read in; left out, the person's.",
            },
        },
        "additionalProperties": False,
    },
    output_schema={
        "type": "object",
        "properties": {
            "status": {"enum": ["compiled", "clarify", "refused"]},
            "id": {"type": "string"},
            "intent": {"type": "object"},
            "plan": {"type": ["object", "null"]},
            "questions": {"type": "array", "items": {"type": "object"}},
            "reason": {"type": "string"},
            "message": {"type": "string"},
            "next": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["status", "id"],
    },
    annotations=KEEPS,
    run=_run,
    example=_EXAMPLE,
)
