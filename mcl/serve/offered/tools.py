"""All tools that are offered, in the order in which clients list them; those of plug-ins are among them.

There is none that accepts an intent, approves a call or a tool, or grants anything: a person does that
elsewhere.
"""

from __future__ import annotations

from typing import Final

from mcl.plugins.hooks import load_named, plugins
from mcl.serve.offered import (
    call_tools,
    compile_intent,
    describe_tool,
    get_intent,
    read_activity,
    retrieve_tools,
    run_intent,
)
from mcl.serve.offered.offered import Offered

OFFERED: Final[tuple[Offered, ...]] = (
    retrieve_tools.OFFERED,
    describe_tool.OFFERED,
    call_tools.READ,
    call_tools.WRITE,
    call_tools.DESTRUCTIVE,
    compile_intent.OFFERED,
    get_intent.OFFERED,
    run_intent.OFFERED,
    *(load_named(named) for plugin in plugins() for named in plugin.offered),
    read_activity.OFFERED,
)
