"""Before any guard: is this a call at all? What is no JSON can be neither hashed, recorded nor signed."""

from __future__ import annotations

from typing import Final

from executor.call import Call
from executor.core.hashing import is_json
from executor.gate.examples import EXAMPLES
from executor.gate.verdict import Deny

MAX_ARGS: Final = 32 << 20  # bytes of JSON; the largest argument of a tool of ours takes 24 MB at most


def unreadable(call: Call) -> Deny | None:
    """INVALID_ARGS for what no plan could hold: half characters, NaN, sets, values without end."""
    said = call.declaration.to_json() if call.declaration else None
    if is_json([call.tool_ref, call.declared, call.node_id, call.approval, said, call.known_args], MAX_ARGS):
        return None
    return Deny(
        "INVALID_ARGS",
        f"the call is no JSON of at most {MAX_ARGS >> 20} MB",
        "give texts, numbers, booleans, lists and objects; all text must be valid Unicode",
        guard="arguments",
        example=EXAMPLES["INVALID_ARGS"],
    )


def described(call: Call, refusal: Deny) -> dict[str, object]:
    """The refusal as it is recorded, with as much of the call as can be written."""
    named = {"node": call.node_id, "tool": call.tool_ref}
    kept = {name: text if is_json(text, 1000) else "" for name, text in named.items()}
    return {**kept, "args_hash": "", **refusal.to_json()}
