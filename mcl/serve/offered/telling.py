"""Intents as the tools that are offered tell them: what `--json` writes on a terminal, and what follows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from executor.core.hashing import json_size
from ir import IntentAttestBody, IntentFailBody
from mcl.usecases.documents import of_result, of_shown

if TYPE_CHECKING:
    from executor.store.home import Home
    from mcl.compiler.outcome import Outcome
    from mcl.usecases.intents import Shown

ACCEPT_FIRST: Final = (
    "Only a person accepts an intent, on a terminal; ask them to read it and to run the command."
)
MOST: Final = 256 << 10  # bytes of outputs of nodes that are told


def of_compile(result: Outcome) -> dict[str, object]:
    """What came of a compile, as `mcl compile --json` has it, and how it goes on."""
    told = of_result(result, stored=True)
    if told["status"] == "compiled":
        told["how_to_go_on"] = how_to_accept(str(told["id"]))
    if told["status"] == "clarify":
        told["how_to_go_on"] = "call compile_intent again with intent (this id) and answers"
    return told


def how_to_accept(id: str) -> str:
    """What a person does, and what comes then."""
    return f"a person reads it (mcl show {id}) and signs it (mcl accept {id}); then run_intent runs it"


def of_intent(home: Home, found: Shown) -> dict[str, object]:
    """An intent as it is now, with what its run left: outputs, evidence, questions that wait."""
    told = of_shown(found)
    outputs, evidence = _left(home, found.id)
    told["outputs"] = bounded(outputs)
    told["evidence"] = evidence
    told["gates"] = [
        {"id": id, "node": gate.node_id, "expires_at": gate.expires_at, "decide": f"mcl gate show {id}"}
        for id, gate in found.view.gates.items()
        if not gate.decision and not found.view.terminal
    ]
    match found.state:
        case "proposed":
            told["how_to_go_on"] = how_to_accept(found.id)
        case "clarifying":
            told["how_to_go_on"] = "call compile_intent with intent (this id) and answers"
        case "accepted":
            told["how_to_go_on"] = "call run_intent"
        case "executing":
            told["how_to_go_on"] = "it runs, or a run was interrupted: run_intent with resume"
        case _:
            told["how_to_go_on"] = ""
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
    from executor.walker.earlier import read_earlier

    envelopes = tuple(home.journal.envelopes(id))
    outputs = dict(read_earlier(envelopes, home.journal.view(id)).outputs)
    for envelope in reversed(envelopes):
        body: Any = envelope.body
        if isinstance(body, IntentAttestBody | IntentFailBody):
            said = json.loads(body.evidence_json) if body.evidence_json else None
            return outputs, {"kind": envelope.kind, "envelope": envelope.id, "evidence": said}
    return outputs, None
