"""What a plan's steps may name of their skill: its prompts and its outputs.

| code | what is wrong |
|---|---|
| PROMPT_UNKNOWN | prompt_name is no `on verb=` block of §PROCEDURE that holds a prompt |
| OUTPUT_UNDECLARED | §OUTPUTS says what the skill gives, and an expected output is not among it |
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from ir import Finding, PlanTree
from mcl.language.mtx.ast import File
from mcl.language.mtx.finding import nearest
from mcl.language.mtx.prompts import prompt_names


class HasFile(Protocol):
    """A skill."""

    @property
    def file(self) -> File: ...


def check_steps(plan: PlanTree, skill: HasFile) -> Iterator[Finding]:
    """The flaws of a plan's steps, in walk order; in the form of ir.check_plan."""
    prompts = prompt_names(skill.file)
    outputs = [slot.name for slot in skill.file.slots("OUTPUTS")]
    for node, _ in plan.root.walk():
        if node.step is None:
            continue
        name = node.step.prompt_name
        if name and name not in prompts:
            legal = ", ".join(prompts) or "none; write on verb=x:<name> and a prompt in it"
            fix = nearest(name, prompts) or f"prompts: {legal}"
            yield Finding("PROMPT_UNKNOWN", node.id, f"the skill has no prompt {name!r}", fix)
        for output in node.step.expected_outputs:
            if outputs and output not in outputs:
                fix = nearest(output, outputs) or f"outputs: {', '.join(outputs)}"
                yield Finding("OUTPUT_UNDECLARED", node.id, f"§OUTPUTS has no slot {output!r}", fix)
