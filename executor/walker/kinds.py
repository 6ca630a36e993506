"""The kinds of terminal nodes, and what each does with its turn."""

from __future__ import annotations

from typing import Final

from executor.walker.doubt import settle
from executor.walker.nodes import gate, handed, step, sub_dispatch, tool_call
from executor.walker.run import Kinds

KINDS: Final = Kinds(
    attempts={
        "tool_call": tool_call.attempt,
        "step": step.attempt,
        "gate": gate.attempt,
        "sub_dispatch": handed.attempt,  # to another agent; one within this process is a branch
    },
    settle=settle,
    open_plan=sub_dispatch.open_plan,
    close_plan=sub_dispatch.close_plan,
)
