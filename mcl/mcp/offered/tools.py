"""All tools that are offered, in the order in which clients list them. There is none that accepts an intent,
approves a call or a tool, or grants anything: a person does that, elsewhere."""

from __future__ import annotations

from typing import Final

from mcl.mcp.offered import (
    call_tools,
    compile_intent,
    complete_intent,
    describe_tool,
    get_intent,
    list_active_intents,
    read_activity,
    release_active_intent,
    retrieve_tools,
    run_intent,
    select_active_intent,
)
from mcl.mcp.offered.offered import Offered

OFFERED: Final[tuple[Offered, ...]] = (
    retrieve_tools.OFFERED,
    describe_tool.OFFERED,
    call_tools.READ,
    call_tools.WRITE,
    call_tools.DESTRUCTIVE,
    compile_intent.OFFERED,
    get_intent.OFFERED,
    run_intent.OFFERED,
    list_active_intents.OFFERED,
    select_active_intent.OFFERED,
    complete_intent.OFFERED,
    release_active_intent.OFFERED,
    read_activity.OFFERED,
)
