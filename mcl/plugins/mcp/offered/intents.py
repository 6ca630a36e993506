"""compile_intent and get_intent: a goal in plain words becomes an Intent with a plan, questions, or a
refusal, and an intent is looked at. Nothing runs, and nothing is accepted: a person does that.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from executor.core.hashing import json_size
from ir import IntentAttestBody, IntentFailBody
from mcl.core.errors import McpError
from mcl.serve.exchange import Caller, Json, Reply
from mcl.serve.offered import offered
from mcl.usecases.documents import of_result, of_shown, of_unanswerable

if TYPE_CHECKING:
    from executor.store.home import Home
    from ir import PlanTree
    from mcl.compiler.outcome import Outcome
    from mcl.plugins.mcp.service import Service
    from mcl.usecases.intents import Shown


# ---- What is told of an intent.


MOST: Final = 256 << 10  # bytes of outputs of nodes that are told


def of_compile(session: Service, result: Outcome) -> dict[str, object]:
    """What came of a compile, as `mcl compile --json` has it, and how it goes on."""
    unanswerable = _unanswerable(session, getattr(result, "plan", None))
    told = of_result(result, stored=True, unanswerable=unanswerable)
    if told["status"] == "compiled":
        told["how_to_go_on"] = how_to_accept(str(told["id"]))
    if told["status"] == "clarify":
        told["how_to_go_on"] = "call compile_intent again with intent (this id) and answers"
    return told


def _unanswerable(session: Service, plan: PlanTree | None) -> list[dict[str, object]]:
    """The steps that none of the models can answer that run_intent would ask."""
    made = session.compiler
    return of_unanswerable(session.home, plan, made.model, ai=made.ai)


def how_to_accept(id: str) -> str:
    """What a person does, and what comes then."""
    return f"a person reads it (mcl show {id}) and signs it (mcl accept {id}); then run_intent runs it"


def how_it_goes_on(home: Home, found: Shown) -> str:
    """What brings an intent further, as it is now; "" where nothing does."""
    from mcl.usecases.corrections import waits_for_words

    match found.state:
        case "proposed":
            return how_to_accept(found.id)
        case "clarifying":
            return "call compile_intent with intent (this id) and answers"
        case "accepted":
            return "call run_intent"
        case "executing":
            return "it runs, or a run was interrupted: run_intent with resume"
        case "failed" if waits_for_words(home, found):
            return (
                f'a person says what is to be otherwise (mcl correct {found.id} "…", or in the form that'
                f" run_intent shows) and signs it (mcl accept {found.id}); then run_intent goes on from where"
                " it failed"
            )
    return ""


def of_intent(home: Home, found: Shown) -> dict[str, object]:
    """An intent as it is now, with what its run left: outputs, evidence, questions that wait."""
    told = of_shown(found)
    outputs, evidence = _left(home, found.id)
    told["outputs"], told["said"] = bounded(outputs), bounded(found.said)
    told["evidence"] = evidence
    told["gates"] = [
        {"id": id, "node": gate.node_id, "expires_at": gate.expires_at, "decide": f"mcl gate show {id}"}
        for id, gate in found.view.gates.items()
        if not gate.decision and not found.view.terminal
    ]
    told["how_to_go_on"] = how_it_goes_on(home, found)
    return told


def bounded(outputs: Mapping[str, object]) -> dict[str, object]:
    """Outputs of nodes, where they are not too large to be told; of the others how large they are."""
    told: dict[str, object] = {}
    left = MOST
    for node, output in outputs.items():
        size = json_size(output) or 0
        told[node] = output if size <= left else {"left_out": f"{size} bytes; mcl show tells them"}
        left -= size if size <= left else 0
    return told


def _left(home: Home, id: str) -> tuple[dict[str, object], object]:
    """The outputs of nodes that completed, and the evidence that the run ended with (None before that)."""
    from executor.walker.history import read_run_history

    envelopes = tuple(home.journal.envelopes(id))
    outputs = dict(read_run_history(envelopes, home.journal.view(id)).outputs)
    for envelope in reversed(envelopes):
        body: Any = envelope.body
        if isinstance(body, IntentAttestBody | IntentFailBody):
            said = json.loads(body.evidence_json) if body.evidence_json else None
            return outputs, {"kind": envelope.kind, "envelope": envelope.id, "evidence": said}
    return outputs, None


# ---- compile_intent


_GOAL: Final = 'goal = "which files in notes mention invoice"'
_ANSWERS: Final = 'intent = "01K…", answers = {"u1": "notes"}'


async def _compile(session: Service, arguments: Json, caller: Caller) -> Reply:
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
        result = await session.compiler.answer(str(intent), texts)
    else:
        fixed = {name: str(arguments[name]) for name in ("skill", "verb", "zone") if name in arguments}
        result = await session.compiler.compile(str(goal), **fixed)
    await caller.channel.progress(1, 1, "compiled")
    return Reply(of_compile(session, result))


COMPILE_INTENT: Final = offered(__file__, "compile_intent", _compile)


# ---- get_intent


async def _get(session: Service, arguments: Json, caller: Caller) -> Reply:
    from mcl.usecases.intents import show

    found = show(str(arguments["intent"]), home=session.home)
    told = of_intent(session.home, found)
    if found.state in ("proposed", "accepted"):  # before anybody signs it, or runs it
        told["unanswerable"] = _unanswerable(session, found.plan)
    return Reply(cast(Json, session.redactor.value(told)))


GET_INTENT: Final = offered(__file__, "get_intent", _get)
